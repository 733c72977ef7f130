/*
 * Files of /proc that describe what a process or a thread of it does now, in the form of Linux. A
 * process that has ended, but was not waited for, is a zombie; one that is gone has empty files.
 */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/jobs.h"
#include "kernel/proc/procfs.h"
#include <linux/sched.h>
#include <linux/signal.h>

#define TICK_NS      (10 * NS_PER_MS) /* of the times that Linux tells: 1 / USER_HZ */
#define NAME_BYTES   16               /* of a thread, the NUL included */
#define PRIORITY_MID 20               /* of a thread that has asked for nothing */

struct now {
    char state; /* Linux's letter */
    char name[PROCESS_NAME_MAX];
    uint32_t parent, group, session, terminal, front;
    unsigned threads, cpu;
    uint64_t mapped, resident, locked; /* pages */
    uint64_t faults, major_faults;     /* since its program began */
    struct cpu_time time, children;
    uint64_t started_ns;
    struct thread_asked asked;
    uint64_t blocked, ignored, caught; /* signals: bit 0 is signal 1 */
};

static struct process *reader(void)
{
    return thread_current()->process;
}

static void fill_kin(const struct process *p, struct now *out)
{
    out->parent = proctree_parent(p);
    out->group = proctree_group(p);
    out->session = proctree_session(p);
    out->terminal = jobs_terminal(out->session, &out->front);
    out->started_ns = p->started_ns;
    memcpy(out->name, p->name, sizeof(out->name));
}

/* Tells which signals a process ignores, and for which it has handlers. Lock of p held. */
static void tell_signals_locked(const struct process *p, struct now *out)
{
    for (int number = 1; number <= SIGNALS; number++) {
        vaddr_t handler = p->signals.action[number - 1].handler;
        if (handler == (vaddr_t)SIG_IGN)
            out->ignored |= SIGNAL_BIT(number);
        else if (handler != (vaddr_t)SIG_DFL)
            out->caught |= SIGNAL_BIT(number);
    }
}

/* Tells what one thread does; of a process it is the first. Lock of p held. */
static void tell_thread_locked(const struct process *p, struct thread *t, struct now *out)
{
    struct sched_figures f;
    bool stopped = __atomic_load_n(&p->signals.stopped, __ATOMIC_ACQUIRE);

    sched_figures(t, &f);
    bool runs = f.state == THREAD_RUNNING || f.state == THREAD_READY;
    out->state = runs ? 'R' : stopped ? 'T' : 'S';
    out->cpu = f.cpu;
    out->blocked = t->signals->mask;
    out->asked = t->asked;
    memcpy(out->name, t->name, NAME_BYTES);
    out->name[NAME_BYTES - 1] = '\0';
}

/* Looks at all threads, or at the one with this tid. Returns whether there is one. */
static bool fill_threads(struct process *p, uint32_t tid, struct now *out)
{
    bool found = false, irq = spin_lock(&p->lock);

    out->threads = p->thread_count;
    tell_signals_locked(p, out);
    list_for_each (it, &p->threads) {
        struct thread *t = container_of(it, struct thread, siblings);
        if (tid && t->tid != tid)
            continue;
        out->time = cpu_time_add(out->time, sched_time(t));
        if (tid || t->tid == p->pid || !found)
            tell_thread_locked(p, t, out);
        found = true;
    }
    if (!tid)
        out->time = process_time_locked(p);
    spin_unlock(&p->lock, irq);
    return found;
}

/* Reads what is left of a process that has ended. */
static bool find_zombie(uint32_t pid, struct now *out)
{
    struct process *p = proctree_find(pid);
    /* Or it is on its way there: it can no longer be looked at. */
    bool is =
        p && (proctree_is_zombie(p) || !proctree_has_ended(p)) && visible_process(reader(), p);

    if (is) {
        fill_kin(p, out);
        out->state = 'Z';
        out->threads = 1;
        out->time = p->tree.time; /* fixed since it has ended */
    }
    if (p)
        process_put(p);
    return is;
}

/* Reads a process, or, of a thread's tid, that thread of it. Returns false if it is gone. */
static bool find_now(uint32_t pid, uint32_t tid, struct now *out)
{
    struct space_stats s;
    struct process *p = process_look_for(reader(), pid);

    *out = (struct now){.state = 'S'};
    if (!p)
        return find_zombie(pid, out);
    space_stats(p->space, &s);
    out->mapped = s.mapped_pages;
    out->resident = s.resident_pages;
    out->locked = s.locked_pages;
    out->faults = s.faults;
    out->major_faults = s.waits;
    fill_kin(p, out);
    out->children = proctree_descendants_time(p);
    bool found = fill_threads(p, tid, out);
    process_look_end(p);
    return found || !tid;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int priority_of(const struct thread_asked *a)
{
    return a->realtime ? -1 - a->realtime : PRIORITY_MID + a->nice;
}

static void print_stat(struct pseudo_text *t, uint32_t number, const struct now *s)
{
    typedef unsigned long long ull;
    pseudo_print(
        t, "%u (%.15s) %c %u %u %u %u %d 0 %llu 0 %llu 0 %llu %llu %llu %llu %d %d %u 0 %llu ",
        number, s->name, s->state, s->parent, s->group, s->session, s->terminal,
        s->terminal ? (int)s->front : -1, (ull)(s->faults - s->major_faults), (ull)s->major_faults,
        (ull)(cpu_time_user_ns(s->time) / TICK_NS), (ull)(s->time.system_ns / TICK_NS),
        (ull)(cpu_time_user_ns(s->children) / TICK_NS), (ull)(s->children.system_ns / TICK_NS),
        priority_of(&s->asked), s->asked.nice, s->threads, (ull)(s->started_ns / TICK_NS));
    pseudo_print(t,
                 "%llu %llu 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 %u %u %u 0 0 0 0 0 0 0 "
                 "0 0 0 0\n",
                 (ull)(s->mapped * PAGE_SIZE), (ull)s->resident, s->cpu, s->asked.realtime,
                 s->asked.policy);
}

void procfs_process_stat(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], 0, &s))
        print_stat(t, n[0], &s);
}

void procfs_thread_stat(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], n[1], &s))
        print_stat(t, n[1], &s);
}

static const char *state_name(char state)
{
    return state == 'R'   ? "running"
           : state == 'T' ? "stopped"
           : state == 'Z' ? "zombie"
                          : "sleeping";
}

static void print_status(struct pseudo_text *t, uint32_t pid, uint32_t number, const struct now *s)
{
    unsigned long long mapped = s->mapped * (PAGE_SIZE / KIB),
                       resident = s->resident * (PAGE_SIZE / KIB);
    unsigned user = (unsigned)proc_user;

    pseudo_print(t,
                 "Name:\t%.15s\nUmask:\t0022\nState:\t%c (%s)\nTgid:\t%u\nNgid:\t0\nPid:\t%u\n"
                 "PPid:\t%u\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n"
                 "FDSize:\t64\n"
                 "Groups:\t\n",
                 s->name, s->state, state_name(s->state), pid, number, s->parent, user, user, user,
                 user, user, user, user, user);
    if (s->state != 'Z')
        pseudo_print(t,
                     "VmPeak:\t%8llu kB\nVmSize:\t%8llu kB\nVmLck:\t%8llu kB\n"
                     "VmHWM:\t%8llu kB\nVmRSS:\t%8llu kB\n",
                     mapped, mapped, (unsigned long long)(s->locked * (PAGE_SIZE / KIB)), resident,
                     resident);
    pseudo_print(t,
                 "Threads:\t%u\nSigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n"
                 "Cpus_allowed_list:\t0-%u\n",
                 s->threads, (unsigned long long)s->blocked, (unsigned long long)s->ignored,
                 (unsigned long long)s->caught, sched_topology()->cpus - 1);
}

void procfs_status(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], 0, &s))
        print_status(t, n[0], n[0], &s);
}

void procfs_thread_status(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], n[1], &s))
        print_status(t, n[0], n[1], &s);
}

void procfs_statm(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], 0, &s))
        pseudo_print(t, "%llu %llu 0 0 0 %llu 0\n", (unsigned long long)s.mapped,
                     (unsigned long long)s.resident, (unsigned long long)s.mapped);
}

void procfs_comm(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], 0, &s))
        pseudo_print(t, "%.15s\n", s.name);
}

void procfs_thread_comm(struct pseudo_text *t, const uint32_t *n)
{
    struct now s;

    if (find_now(n[0], n[1], &s))
        pseudo_print(t, "%.15s\n", s.name);
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct procfs_threads procfs_count_threads(void)
{
    struct procfs_threads out = {0};
    uint32_t pid = 0;

    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = p->pid;
        bool irq = spin_lock(&p->lock);
        list_for_each (it, &p->threads) {
            struct sched_figures f;
            sched_figures(container_of(it, struct thread, siblings), &f);
            out.all++;
            out.running += f.state == THREAD_RUNNING || f.state == THREAD_READY;
        }
        spin_unlock(&p->lock, irq);
    }
    out.latest = pid;
    return out;
}
