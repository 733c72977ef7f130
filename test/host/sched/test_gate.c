/* Gates: one thread at a time, first come, first served; the owner runs at the kernel's priority
 * while others wait. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/fibers.h"
#include "test/host/double/mm_double.h"
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"

enum { THREADS = 12, TURNS = 20, SEEDS = 200 };

static struct gate outer = GATE(outer, GATE_SESSIONS, "outer"),
                   inner = GATE(inner, GATE_DELIVERY, "inner");
static struct thread *thread[THREADS];
static unsigned came[THREADS * TURNS], entered[THREADS * TURNS], comers, entrants, inside;

uint64_t arch_clock_ns(void)
{
    return host_ticks;
}
void path_switch(uint32_t tid, uint16_t space)
{
    (void)tid, (void)space;
}
bool fibers_event(void)
{
    return false;
}

static bool others_wait(const struct gate *g)
{
    return !list_empty(&g->mutex.waiters.waiters);
}

static void stay(struct gate *g)
{
    INSIST(inside++ == 0);
    INSIST(mutex_held(&g->mutex));
    INSIST(thread_current()->gate == g);
    sched_yield();
    sched_yield();
    INSIST(thread_current()->lent || !others_wait(g));
    INSIST(--inside == 0);
}

static void come_and_go(void *arg)
{
    unsigned self = (unsigned)(uintptr_t)arg;

    for (unsigned i = 0; i < TURNS; i++) {
        came[comers++] = self;
        gate_enter(&outer);
        entered[entrants++] = self;
        stay(&outer);
        gate_leave(&outer);
        INSIST(thread_current()->lent == 0);
        if (i % 3 == 0)
            sched_yield();
    }
}

static void play(void (*entry)(void *), uint64_t seed, unsigned preempt)
{
    comers = entrants = 0;
    fibers_begin(seed, preempt);
    for (unsigned i = 0; i < THREADS; i++)
        thread[i] = fiber_start(entry, (void *)(uintptr_t)i, 0);
    fibers_run();
    assert_int_equal(outer.mutex.word, 0);
    assert_false(others_wait(&outer));
    fibers_end();
}

/* Threads here give way only by calls, so none comes between the note and the queue. */
static void waiters_enter_in_the_order_they_came(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        play(come_and_go, seed, 0);
        assert_int_equal(entrants, THREADS * TURNS);
        assert_memory_equal(came, entered, sizeof came);
    }
}

static void one_is_inside_at_a_time(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        play(come_and_go, seed, 3);
        assert_int_equal(entrants, THREADS * TURNS);
    }
}

/* The process of the last thread ends while that thread waits. */
static void end_amid(void *arg)
{
    for (unsigned i = 0; arg == NULL && i < THREADS; i++)
        fiber_interrupt(thread[i]);
    come_and_go(arg);
}

static void the_end_of_a_process_ends_no_wait(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        play(end_amid, seed, 3);
        assert_int_equal(entrants, THREADS * TURNS);
    }
}

static void enter_both(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < TURNS; i++) {
        gate_enter(&outer);
        sched_yield();
        gate_enter(&inner);
        INSIST(thread_current()->gate == &inner);
        stay(&inner);
        gate_leave(&inner);
        INSIST(thread_current()->gate == &outer);
        gate_leave(&outer);
        INSIST(!thread_current()->gate);
        INSIST(thread_current()->lent == 0);
    }
}

static void enter_the_inner_one(void *arg)
{
    for (unsigned i = 0; i < TURNS; i++) {
        if ((uintptr_t)arg % 2) {
            gate_enter(&inner);
        } else if (!gate_try_enter(&inner)) {
            sched_yield();
            continue;
        }
        stay(&inner);
        gate_leave(&inner);
    }
}

static void either(void *arg)
{
    ((uintptr_t)arg < THREADS / 2 ? enter_both : enter_the_inner_one)(arg);
}

static void a_gate_is_entered_inside_another(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play(either, seed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiters_enter_in_the_order_they_came),
        cmocka_unit_test(one_is_inside_at_a_time),
        cmocka_unit_test(the_end_of_a_process_ends_no_wait),
        cmocka_unit_test(a_gate_is_entered_inside_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
