/*
 * The quantum tracer (telemetry=quanta): who ran when, why each left its CPU, how long it had
 * waited for one, who woke it, and what was counted meanwhile (policy/quantum.h, hpm/exact.c).
 *
 * A thread's quanta change under the lock of its run queue, on the CPU that switches it. Its list
 * of threads is for the end of the recording: first each CPU tells the quantum that runs there, and
 * from then on closes every thread that it begins to run; then the rest are told, which do not run.
 * A closed thread's total is told once, behind its last quantum, read from the thread's own
 * accounts: so a reader can check that quanta add up to it.
 */
#include "hpm/hpm.h"
#include "kernel/core/call.h"
#include "kernel/core/printf.h"
#include "sched/quanta.h"

#define CALL_NS NS_PER_S
_Static_assert(QUANTUM_COUNTS_MAX == HPM_EXACT_MAX && TRACE_COUNTS == HPM_EXACT_MAX,
               "a quantum has all exact counts");

static struct spinlock traced_lock = SPINLOCK(LOCK_THREAD, "traced threads");
static struct list traced = {&traced, &traced};
static struct quantum_rule rule;
static bool apart;               /* wake-ups have events of their own: quanta are told as sums */
static bool over[CPU_MAX];       /* this CPU has told the quantum that ran at the end */
static uint64_t late, lost;      /* atomic: tellings that failed; quanta that no later one had */
static uint64_t threads, quanta; /* atomic: closed threads, their quanta that were told */

static void add(uint64_t *sum, uint64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* Writes a quantum that is told alone. Returns false if there is no room, or, *fits is false then,
 * if its figures need more than 32 bits. */
static bool tell_one(const struct thread *t, uint32_t next, enum trace_left left,
                     const uint64_t *count, uint64_t now_ns, bool *fits)
{
    const struct quantum *q = &t->quantum;
    uint64_t all = q->ran_ns | q->waited_ns;

    quantum_each_count (i)
        all |= count[i] - q->told[i];
    *fits = !(all >> 32);
    struct trace_quantum *to = *fits ? telemetry_place(TRACE_QUANTUM, sizeof *to, now_ns) : NULL;
    if (!to)
        return false;
    to->tid = t->tid;
    to->next_tid = next;
    to->waker = q->waker;
    to->left = (uint8_t)left;
    to->woken = q->woken;
    to->start_ns = q->start_ns;
    to->ran_ns = (uint32_t)q->ran_ns;
    to->waited_ns = (uint32_t)q->waited_ns;
    quantum_each_count (i)
        to->count[i] = (uint32_t)(count[i] - q->told[i]);
    return true;
}

static bool tell_sum(const struct thread *t, uint32_t next, enum trace_left left,
                     const uint64_t *count, uint64_t now_ns)
{
    const struct quantum *q = &t->quantum;
    struct trace_quantum_sum *to = telemetry_place(TRACE_QUANTUM_SUM, sizeof *to, now_ns);

    if (!to)
        return false;
    to->tid = t->tid;
    to->next_tid = next;
    to->waker = q->waker;
    to->quanta = q->quanta;
    to->on_cpu = q->cpu;
    to->left = (uint8_t)left;
    to->woken = q->woken;
    to->start_ns = q->start_ns;
    to->end_ns = q->end_ns;
    to->ran_ns = q->ran_ns;
    to->waited_ns = q->waited_ns;
    for (unsigned i = 0; i < QUANTUM_COUNTS_MAX; i++)
        to->count[i] = count[i] - q->told[i];
    return true;
}

/* Tells the thread's quanta as one event, or, without room, with the next. elsewhere: the last one
 * was perhaps not on this CPU, as the event of one alone says. */
static void tell(struct thread *t, uint32_t next, enum trace_left left, const uint64_t *count,
                 uint64_t now_ns, bool elsewhere)
{
    bool fits = false;
    bool told =
        t->quantum.quanta == 1 && !elsewhere && tell_one(t, next, left, count, now_ns, &fits);

    if (!told && !fits)
        told = tell_sum(t, next, left, count, now_ns);
    if (told) {
        quantum_told(&t->quantum, count);
    } else {
        quantum_late(&t->quantum);
        add(&late, 1);
    }
}

/* Tells the totals of a thread that is told no more. */
static void close_thread(struct thread *t, const uint64_t *count)
{
    struct quantum *q = &t->quantum;
    uint64_t v[5 + QUANTUM_COUNTS_MAX] = {t->tid, q->told_quanta + q->quanta, q->late, t->run_ns,
                                          t->ready_ns};

    memcpy(v + 5, count, QUANTUM_COUNTS_MAX * sizeof *count);
    q->closed = true;
    telemetry_put(TRACE_QUANTA_TOTAL, v);
    add(&lost, q->quanta);
    add(&threads, 1);
    add(&quanta, q->told_quanta);
}

/* Run queue of `t` locked; `t` does not run. */
static void close_at_rest(struct thread *t)
{
    uint64_t count[QUANTUM_COUNTS_MAX];

    if (t->quantum.closed)
        return;
    hpm_exact_read(&t->hpm, count);
    if (t->quantum.quanta)
        tell(t, 0, t->state == THREAD_READY ? TRACE_PREEMPTED : TRACE_BLOCKED, count,
             arch_clock_ns(), true);
    close_thread(t, count);
}

void quanta_switch(struct thread *out, struct thread *in, uint64_t now_ns, uint64_t ready_ns,
                   enum trace_left left)
{
    uint64_t count[QUANTUM_COUNTS_MAX];

    if (out && !out->quantum.closed) {
        bool last = left == TRACE_EXITED;
        hpm_exact_read(&out->hpm, count);
        if (quantum_end(&out->quantum, &rule, now_ns, count, last))
            tell(out, in ? in->tid : 0, left, count, now_ns, false);
        if (last)
            close_thread(out, count);
    }
    if (!in || in->quantum.closed)
        return;
    if (over[this_cpu()->index]) {
        close_at_rest(in);
        return;
    }
    in->quantum.cpu = (uint16_t)this_cpu()->index;
    quantum_begin(&in->quantum, ready_ns, now_ns);
}

void quanta_woken(struct thread *t, enum trace_wake cause)
{
    const struct cpu *cpu = this_cpu();
    bool by_thread = cause == TRACE_BY_THREAD || cause == TRACE_CREATED || cause == TRACE_BY_SIGNAL;
    uint32_t waker = by_thread && cpu->current != cpu->idle ? cpu->current->tid : 0;

    if (cause == TRACE_BY_THREAD && (cpu->interrupted || !waker)) {
        cause = TRACE_BY_INTERRUPT;
        waker = 0;
    }
    quantum_woken(&t->quantum, waker, (uint8_t)cause);
    if (!apart)
        return; /* the quantum that follows tells it */
    struct trace_wake_up *to = telemetry_place(TRACE_WAKE, sizeof *to, t->since_ns);
    if (to)
        *to = (struct trace_wake_up){t->tid, waker, (uint16_t)t->cpu, (uint8_t)cause, t->since_ns};
}

/* ---- Marks ----------------------------------------------------------------------------------- */

void sched_quanta_cut(void)
{
    uint64_t count[QUANTUM_COUNTS_MAX];

    if (!telemetry_wants(TELEMETRY_QUANTA))
        return;
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_this();
    struct thread *t = rq->cpu->current;
    spin_lock_irqoff(&rq->lock);
    if (!t->quantum.closed) {
        uint64_t now_ns = rq_clock_ns(t);
        hpm_account_here();
        hpm_exact_read(&t->hpm, count);
        rq_account_locked(t, now_ns);
        quantum_end(&t->quantum, &rule, now_ns, count, true);
        tell(t, t->tid, TRACE_MARKED, count, now_ns, false);
        quantum_begin(&t->quantum, now_ns, now_ns);
    }
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
}

/* ---- Start and end --------------------------------------------------------------------------- */

void quanta_started(struct thread *t)
{
    bool irq = spin_lock(&traced_lock);

    list_push_back(&traced, &t->traced);
    spin_unlock(&traced_lock, irq);
}

void quanta_freed(struct thread *t)
{
    bool irq = spin_lock(&traced_lock);

    list_remove(&t->traced);
    spin_unlock(&traced_lock, irq);
}

void sched_quanta_begin(void)
{
    char names[112];

    hpm_exact_names(names, sizeof names);
    rule = (struct quantum_rule){trace_every, names[0] ? trace_cycles : 0};
    apart = rule.every > 1 || rule.cycles;
    if (trace_cycles && !names[0])
        kprintf("telemetry: event=refused argument=trace.cycles reason=no-device: cycles are not "
                "counted here: quanta are recorded by trace.every\n");
    telemetry_quanta(names, rule.every, rule.cycles, hpm_reference_hz());
}

/* Tells the quantum that runs on this CPU. Interrupts off. */
static void close_running(UNUSED void *unused)
{
    struct runqueue *rq = rq_this();
    struct thread *t = rq->cpu->current;
    uint64_t count[QUANTUM_COUNTS_MAX];

    spin_lock_irqoff(&rq->lock);
    if (t != rq->cpu->idle && !t->quantum.closed) {
        uint64_t now_ns = rq_clock_ns(t);
        hpm_account_here();
        hpm_exact_read(&t->hpm, count);
        rq_account_locked(t, now_ns);
        quantum_end(&t->quantum, &rule, now_ns, count, true);
        tell(t, t->tid, TRACE_RUNNING, count, now_ns, false);
        close_thread(t, count);
    }
    over[rq->cpu->index] = true;
    spin_unlock_irqoff(&rq->lock);
}

void sched_quanta_end(void)
{
    cpu_for_each (cpu) {
        int err = call_cpu(cpu, close_running, NULL, CALL_NS);
        if (err)
            kprintf("telemetry: CPU %u does not tell its quantum: error %d\n", cpu->index, -err);
    }
    bool irq = spin_lock(&traced_lock);
    for (struct list *it = traced.next; it != &traced; it = it->next) {
        struct thread *t = container_of(it, struct thread, traced);
        struct runqueue *rq = rq_lock_thread(t);
        if (t->state == THREAD_READY || t->state == THREAD_BLOCKED)
            close_at_rest(t);
        spin_unlock_irqoff(&rq->lock);
    }
    spin_unlock(&traced_lock, irq);
    kprintf("quanta: recorded=%llu threads=%llu late=%llu lost=%llu\n", (unsigned long long)quanta,
            (unsigned long long)threads, (unsigned long long)late, (unsigned long long)lost);
}
