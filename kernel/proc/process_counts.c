/* Counts and time of a process: sums over its threads, present and past. */
#include "kernel/proc/internal.h"
#include "hpm/count.h"

static void sum_threads(const struct list *threads, uint64_t counts, bool alone,
                        struct hpm_sums *sums)
{
    list_for_each (it, threads) {
        const struct hpm_thread *t = &container_of(it, struct thread, siblings)->hpm;
        if (alone)
            hpm_sum_ended(t, counts, sums);
        else
            hpm_sum_thread(t, counts, sums);
    }
}

void process_sum_threads(const struct process *p, uint64_t counts, bool alone,
                         struct hpm_sums *sums)
{
    sum_threads(&p->threads, counts, alone, sums);
    sum_threads(&p->leaving, counts, alone, sums);
}

void process_sum(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums)
{
    bool irq = spin_lock(&p->lock);

    hpm_sums_copy(sums, &p->past);
    process_sum_threads(p, counts, alone, sums);
    spin_unlock(&p->lock, irq);
}

static void add_times(const struct list *threads, struct cpu_time *sum)
{
    list_for_each (it, threads)
        *sum = cpu_time_add(*sum, sched_time(container_of(it, struct thread, siblings)));
}

struct cpu_time process_time_locked(const struct process *p)
{
    struct cpu_time sum = p->past_time;

    add_times(&p->threads, &sum);
    add_times(&p->leaving, &sum);
    return sum;
}

struct cpu_time process_time(struct process *p)
{
    bool irq = spin_lock(&p->lock);
    struct cpu_time time = process_time_locked(p);

    spin_unlock(&p->lock, irq);
    return time;
}

int process_sum_thread(struct process *p, uint32_t tid, uint64_t counts, struct hpm_sums *sums)
{
    bool irq = spin_lock(&p->lock);
    const struct thread *t = uthread_find_locked(p, tid);

    if (t)
        hpm_sum_thread(&t->hpm, counts, sums);
    spin_unlock(&p->lock, irq);
    return t ? 0 : -ESRCH;
}

void process_hpm(struct process *p, struct hpm_breakdown *out)
{
    bool irq = spin_lock(&p->lock);
    struct hpm_sums *sums = hpm_sums_here();

    hpm_sums_copy(sums, &p->past);
    process_sum_threads(p, hpm_figures(), false, sums);
    hpm_sums_breakdown(sums, out);
    spin_unlock(&p->lock, irq);
}

/* The list of threads is in the order of their tids. */
unsigned process_hpm_threads(struct process *p, uint32_t tid, struct process_thread_counts *out,
                             unsigned max)
{
    unsigned n = 0;
    bool irq = spin_lock(&p->lock);

    list_for_each (it, &p->threads) {
        struct thread *t = container_of(it, struct thread, siblings);
        if (n == max)
            break;
        if (t->tid <= tid)
            continue;
        out[n].tid = t->tid;
        out[n].news = hpm_read_news(&t->hpm, &out[n].counts);
        n++;
    }
    spin_unlock(&p->lock, irq);
    return n;
}

int process_hpm_thread(struct process *p, uint32_t tid, struct hpm_breakdown *out)
{
    bool irq = spin_lock(&p->lock);
    const struct thread *t = uthread_find_locked(p, tid);

    if (t)
        hpm_read_thread(&t->hpm, out);
    spin_unlock(&p->lock, irq);
    return t ? 0 : -ESRCH;
}
