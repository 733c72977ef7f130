/* See fibers.h. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "test/host/double/fibers.h"
#include "test/host/double/random.h"
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"
#include "mm/mm.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { FIBERS = 64, STACK = 256 * 1024, EVENT_EACH = 16 };
#define PATIENCE_NS (100 * NS_PER_S) /* of the fibers' clock */

/* Defined where there are units of the simulated machine. */
void path_double_deliver(void) __attribute__((weak));

enum state { NONE, RUNS, SLEEPS, ENDED };

struct fiber {
    struct thread thread;
    ucontext_t context;
    void *stack, *fake;
    enum state state;
    bool kernel, through; /* a kernel thread; sleeps even if its process ends */
    bool woken, interrupted;
    uint64_t until_ns, since_ns;
    const char *lock;  /* of the lock that guards the wait; NULL: it waits for time only */
    const void *where; /* the code that waits */
    void (*entry)(void *);
    void *arg;
};

struct cpu cpus[CPU_MAX], *host_cpu = cpus;
bool host_irqs_on = true;
uint64_t host_ticks = 1, fibers_points;

static struct fiber fibers[FIBERS], *current;
static struct thread outside; /* the test's, before and after its fibers */
/* the fiber that ran last on the CPU, unless it has moved */
static struct fiber *on_cpu[FIBER_CPUS];
static ucontext_t dispatcher;
static void *dispatcher_fake;
static const void *dispatcher_stack;
static size_t dispatcher_size;
static unsigned count, preempt;
static uint64_t seed;
static uint64_t progress_ns; /* when something other than the passing of time last happened */

static unsigned below(unsigned n)
{
    return (unsigned)(test_random(&seed) % n);
}

/* ---- Taking turns ---------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
static void leave_stack(void **fake, const void *bottom, size_t size)
{
    __sanitizer_start_switch_fiber(fake, bottom, size);
}
static void come_to_stack(void *fake, const void **bottom, size_t *size)
{
    __sanitizer_finish_switch_fiber(fake, bottom, size);
}
#else
static void leave_stack(void **fake, const void *bottom, size_t size)
{
    (void)fake, (void)bottom, (void)size;
}
static void come_to_stack(void *fake, const void **bottom, size_t *size)
{
    (void)fake, (void)bottom, (void)size;
}
#endif

static void give_way(void)
{
    struct fiber *f = current;

    assert(f && host_irqs_on && !host_cpu->spin_depth);
    leave_stack(f->state == ENDED ? NULL : &f->fake, dispatcher_stack, dispatcher_size);
    swapcontext(&f->context, &dispatcher);
    come_to_stack(f->fake, &dispatcher_stack, &dispatcher_size);
}

static void trampoline(void)
{
    struct fiber *f = current;

    come_to_stack(NULL, &dispatcher_stack, &dispatcher_size);
    f->entry(f->arg);
    assert(!f->thread.space_number && !host_cpu->spin_depth && host_irqs_on);
    f->state = ENDED;
    progress_ns = host_ticks;
    give_way();
    abort();
}

static void switch_on_cpu(unsigned cpu, struct fiber *f)
{
    host_cpu = &cpus[cpu];
    host_irqs_on = false;
    on_cpu[cpu] = f;
    host_cpu->current = f ? &f->thread : NULL;
    host_cpu->gate = f && f->thread.gate ? f->thread.gate->mutex.guard.name : NULL;
    path_switch(f ? f->thread.tid : 0, f ? f->thread.space_number : 0);
    host_irqs_on = true;
}

static void dispatch(struct fiber *f)
{
    unsigned cpu = below(8) ? f->thread.cpu : below(FIBER_CPUS);

    if (cpu != f->thread.cpu && on_cpu[f->thread.cpu] == f)
        switch_on_cpu(f->thread.cpu, NULL);
    f->thread.cpu = cpu;
    if (on_cpu[cpu] != f)
        switch_on_cpu(cpu, f);
    host_cpu = &cpus[cpu];
    current = f;
    leave_stack(&dispatcher_fake, f->stack, STACK);
    swapcontext(&dispatcher, &f->context);
    come_to_stack(dispatcher_fake, NULL, NULL);
    current = NULL;
}

void host_interrupt(void)
{
    if (path_double_deliver)
        path_double_deliver();
    if (!current || host_cpu->spin_depth)
        return;
    host_ticks += 1 + below(200);
    if (preempt && below(preempt) == 0)
        give_way();
}

/* ---- The next thread ------------------------------------------------------------------------- */

static bool can_run(struct fiber *f)
{
    if (f->state == SLEEPS &&
        (f->woken || f->until_ns <= host_ticks || (f->interrupted && !f->through)))
        f->state = RUNS;
    return f->state == RUNS;
}

static struct fiber *next(void)
{
    unsigned from = below(count);

    for (unsigned i = 0; i < count; i++)
        if (can_run(&fibers[(from + i) % count]))
            return &fibers[(from + i) % count];
    return NULL;
}

static bool event(void)
{
    host_cpu = &cpus[below(FIBER_CPUS)];
    host_irqs_on = false;
    bool any = fibers_event();
    progress_ns = any ? host_ticks : progress_ns;
    host_irqs_on = true;
    return any;
}

static void name_code(const void *where, char *name, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_symbolize_pc((void *)(uintptr_t)where, "%f, %s:%l", name, size);
#else
    snprintf(name, size, "%p", where);
#endif
}

/* Ends the test, because its threads wait for ever, and prints each wait. */
static void deadlock(const char *what)
{
    fprintf(stderr, "deadlock: %s\n", what);
    for (struct fiber *f = fibers; f < fibers + count; f++) {
        char where[128] = "time";
        if (f->state == ENDED || f->state == NONE)
            continue;
        if (f->lock)
            name_code(f->where, where, sizeof where);
        fprintf(stderr, "  thread %u%s: %s since %llu ms for %s%s%s\n", f->thread.tid,
                f->kernel ? " (kernel)" : "", f->state == SLEEPS ? "waits" : "runs",
                (unsigned long long)((host_ticks - f->since_ns) / NS_PER_MS),
                f->lock ? f->lock : "", f->lock ? ": " : "", where);
    }
    abort();
}

/* No thread can run: lets a disk answer, or time pass until a thread wakes, or reports a
 * deadlock. */
static void wait_for_something(void)
{
    uint64_t until = UINT64_MAX;

    for (unsigned i = 0; i < count; i++)
        if (fibers[i].state == SLEEPS)
            until = MIN(until, fibers[i].until_ns);
    /* Disks answer before a wait times out. */
    if (event())
        return;
    if (until == UINT64_MAX)
        deadlock("all threads sleep for ever");
    host_ticks = MAX(host_ticks, until);
    if (host_ticks > progress_ns + PATIENCE_NS)
        deadlock("no disk is at work, and no thread wakes another");
}

static bool any_left(void)
{
    for (unsigned i = 0; i < count; i++)
        if (!fibers[i].kernel && fibers[i].state != ENDED)
            return true;
    return false;
}

void fibers_run(void)
{
    while (any_left()) {
        if (below(EVENT_EACH) == 0)
            event();
        struct fiber *f = next();
        if (f)
            dispatch(f);
        else
            wait_for_something();
    }
    host_cpu = cpus;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void prepare(struct fiber *f)
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, trampoline, 0);
}

static struct fiber *make(void (*entry)(void *), void *arg)
{
    unsigned i = 0;

    while (i < count && fibers[i].state != ENDED)
        i++;
    assert(i < FIBERS);
    struct fiber *f = &fibers[i];
    void *stack = i < count ? f->stack : malloc(STACK);
    count = MAX(count, i + 1);
    static uint32_t tids;
    for (unsigned c = 0; c < FIBER_CPUS; c++)
        if (on_cpu[c] == f)
            switch_on_cpu(c, NULL);
    *f = (struct fiber){.stack = stack, .entry = entry, .arg = arg};
    f->thread.tid = ++tids + 100;
    f->thread.cpu = below(FIBER_CPUS);
    prepare(f);
    return f;
}

int thread_create(const struct thread_params *params, struct thread **out)
{
    struct fiber *f = make(params->entry, params->arg);

    f->kernel = true;
    f->state = NONE;
    *out = &f->thread;
    return 0;
}

void thread_start(struct thread *t)
{
    container_of(t, struct fiber, thread)->state = RUNS;
}

void thread_put(struct thread *t)
{
    (void)t;
}

int thread_create_kernel(const char *name, void (*entry)(void *), void *arg,
                         const struct cpuset *cpus)
{
    struct thread *t;

    (void)name, (void)cpus;
    thread_create(&(struct thread_params){.entry = entry, .arg = arg}, &t);
    thread_start(t);
    return 0;
}

struct thread *thread_current(void)
{
    return current ? &current->thread : &outside;
}

void thread_leave_space(void)
{
    unsigned cpu = current->thread.cpu;

    current->thread.space_number = 0;
    switch_on_cpu(cpu, current);
}

struct thread *fiber_start(void (*entry)(void *), void *arg, uint16_t space_number)
{
    struct fiber *f = make(entry, arg);

    f->thread.space_number = space_number;
    f->state = RUNS;
    return &f->thread;
}

void fiber_interrupt(struct thread *t)
{
    container_of(t, struct fiber, thread)->interrupted = true;
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}

static int sleep_on(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t until_ns,
                    bool through, const void *where)
{
    struct fiber *f = current;

    assert(f && host_cpu->spin_depth == 1);
    if (f->interrupted && !through)
        return -EINTR;
    f->woken = false;
    f->through = through;
    f->lock = guard->name;
    f->where = where;
    f->since_ns = host_ticks;
    f->until_ns = until_ns;
    list_push_back(&q->waiters, &f->thread.wait);
    f->state = SLEEPS;
    spin_unlock_irqoff(guard);
    host_irqs_on = true;
    give_way();
    spin_lock(guard);
    *irq = true;
    list_remove(&f->thread.wait);
    if (f->woken && !f->kernel)
        progress_ns = host_ticks;
    return f->woken ? 0 : f->interrupted && !through ? -EINTR : -ETIMEDOUT;
}

int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    return sleep_on(q, guard, irq, deadline_ns, false, __builtin_return_address(0));
}

void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq)
{
    sleep_on(q, guard, irq, UINT64_MAX, true, __builtin_return_address(0));
}

unsigned wait_wake(struct wait_queue *q, unsigned max)
{
    unsigned n = 0;

    while (n < max && !list_empty(&q->waiters)) {
        struct fiber *f = container_of(list_pop_front(&q->waiters), struct fiber, thread.wait);
        list_init(&f->thread.wait);
        f->woken = true;
        n++;
    }
    return n;
}

void sched_sleep_until(uint64_t deadline_ns)
{
    assert(host_irqs_on && !host_cpu->spin_depth);
    current->woken = false;
    current->through = false;
    current->lock = NULL;
    current->since_ns = host_ticks;
    current->until_ns = deadline_ns;
    current->state = SLEEPS;
    give_way();
}

void sched_lend_priority(struct thread *t)
{
    t->lent++;
}
void sched_return_priority(struct thread *t)
{
    t->lent--;
}

void sched_yield(void)
{
    if (current)
        give_way();
}

void sched_point(void)
{
    fibers_points++;
    if (current && host_irqs_on && below(4) == 0)
        give_way();
}

/* ---- Set-up ---- */

void fibers_begin(uint64_t from, unsigned preempt_)
{
    fibers_end();
    memset(cpus, 0, sizeof cpus);
    for (unsigned i = 0; i < FIBER_CPUS; i++)
        cpus[i].index = i;
    host_cpu = cpus;
    host_irqs_on = true;
    seed = from * 2 + 1;
    preempt = preempt_;
    progress_ns = host_ticks;
}

void fibers_end(void)
{
    for (unsigned i = 0; i < count; i++)
        free(fibers[i].stack);
    memset(fibers, 0, sizeof fibers);
    memset(on_cpu, 0, sizeof on_cpu);
    count = 0;
}
