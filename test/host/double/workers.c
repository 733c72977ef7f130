#include "test/host/double/workers.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"

bool host_irqs_on = true;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;
uint64_t host_ticks = 1;
unsigned frames_left;
static void *frame_blocks[4]; /* those handed out */

/* A thread starts at its entry each time it runs: the block devices' threads keep nothing from one
 * sleep to the next. */
static struct worker {
    void (*entry)(void *);
    jmp_buf asleep;
    bool woken;
    uint64_t until_ns;
    struct list wait;
} workers[4];
static unsigned worker_count;
static struct worker *current; /* NULL: the test */
static struct worker *tester = &workers[3];

uint64_t arch_clock_ns(void)
{
    return host_ticks;
}
void *kmalloc(size_t size)
{
    return calloc(1, size);
}
void kfree(void *p)
{
    free(p);
}
int frame_alloc(unsigned order, paddr_t *out)
{
    if (!frames_left)
        return -ENOMEM;
    void *p = frame_blocks[--frames_left] = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
    assert_non_null(p);
    memset(p, 0x55, PAGE_SIZE << order);
    *out = virt_to_phys(p);
    return 0;
}
void frame_free(paddr_t pa, unsigned order)
{
    (void)order;
    frames_left++;
    free(phys_to_virt(pa));
}

void frames_release(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(frame_blocks); i++)
        free(frame_blocks[i]);
}

int thread_create_kernel(const char *name, void (*entry)(void *), void *arg,
                         const struct cpuset *cpus)
{
    (void)name, (void)arg, (void)cpus;
    assert_true(worker_count < 3);
    struct worker *w = &workers[worker_count++];
    *w = (struct worker){.entry = entry, .woken = true};
    list_init(&w->wait);
    return 0;
}
void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}
unsigned wait_wake(struct wait_queue *q, unsigned max)
{
    unsigned n = 0;

    for (struct list *l; n < max && (l = list_pop_front(&q->waiters)); n++)
        container_of(l, struct worker, wait)->woken = true;
    return n;
}

static bool run_worker(struct worker *w)
{
    if (!w->entry || (!w->woken && w->until_ns > host_ticks))
        return false;
    list_remove(&w->wait);
    w->woken = false;
    current = w;
    if (!setjmp(w->asleep))
        w->entry(NULL);
    current = NULL;
    assert_true(host_irqs_on);
    assert_int_equal(this_cpu()->spin_depth, 0);
    return true;
}

bool workers_run(void)
{
    bool any = false;

    for (unsigned again = 1; again;) {
        again = 0;
        for (unsigned i = 0; i < worker_count; i++)
            again += run_worker(&workers[i]);
        any |= again != 0;
    }
    return any;
}

void workers_pass_time(void)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < worker_count; i++)
        next = MIN(next, workers[i].until_ns);
    assert_true(next != UINT64_MAX && next > host_ticks);
    host_ticks = next;
}

int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    struct worker *w = current ? current : tester;

    assert_true(spin_held(guard));
    list_push_back(&q->waiters, &w->wait);
    w->until_ns = deadline_ns;
    spin_unlock(guard, *irq);
    if (current)
        longjmp(w->asleep, 1);
    for (w->woken = false; !w->woken;)
        if (!workers_run())
            workers_pass_time();
    *irq = spin_lock(guard);
    return 0;
}
void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq)
{
    wait_sleep(q, guard, irq, UINT64_MAX);
}
/* The sanitizers call it, too. */
void sched_yield(void)
{
}
