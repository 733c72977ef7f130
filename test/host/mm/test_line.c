/* The line of threads that wait for memory: which are called when frames become free, against a
 * model; and that the time of a call does not grow with the line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "mm/pool/reclaim_line.h"
#include "test/host/double/random.h"

enum { TICKETS = 12, STEPS = 100000, CROWD = 200000, CROWD_SECONDS = 20 };

bool host_irqs_on = true;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;

uint64_t arch_clock_ns(void)
{
    return 0;
}
void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}
static unsigned woken;
unsigned wait_wake(struct wait_queue *q, unsigned max)
{
    (void)q;
    assert_int_equal(max, 1);
    woken++;
    return 0;
}
/* No thread calls meanwhile. */
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    (void)q, (void)guard, (void)irq, (void)deadline_ns;
    return -ETIMEDOUT;
}

/* ---- The model: places in the order of coming ------------------------------------------------ */

static struct line_ticket ticket[TICKETS];
static struct model {
    unsigned ticket;
    bool called;
} line[TICKETS];
static unsigned length;

static void model_call(unsigned frames)
{
    for (unsigned i = 0; i < length && frames; i++) {
        frames -= !line[i].called;
        line[i].called = true;
    }
}

static void model_leave(unsigned at)
{
    length--;
    for (unsigned i = at; i < length; i++)
        line[i] = line[i + 1];
}

static void check(void)
{
    assert_int_equal(line_length(), length);
    for (unsigned i = 0; i < length; i++) {
        assert_int_equal(ticket[line[i].ticket].called, line[i].called);
        assert_true(line_before(&ticket[line[i].ticket]) >= i);
    }
    if (length)
        assert_int_equal(line_before(&ticket[line[0].ticket]), 0);
}

static void step(uint64_t *seed)
{
    unsigned which = (unsigned)(test_random(seed) % TICKETS), at = 0;

    while (at < length && line[at].ticket != which)
        at++;
    switch (test_random(seed) % 4) {
    case 0:
        if (at < length)
            return;
        line_join(&ticket[which]);
        line[length++] = (struct model){.ticket = which};
        break;
    case 1:
        if (at == length)
            return;
        line_leave(&ticket[which]);
        model_leave(at);
        model_call(1);
        break;
    case 2:
        if (at == length)
            return;
        assert_int_equal(line_wait(&ticket[which], 1), line[at].called ? 0 : -ETIMEDOUT);
        line[at].called = false;
        break;
    default:
        line_call((uint32_t)(at % 4));
        model_call(at % 4);
    }
}

static void the_first_not_yet_called_are_called(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t random = seed;
        for (unsigned i = 0; i < STEPS; i++) {
            step(&random);
            check();
        }
        while (length) {
            line_leave(&ticket[line[0].ticket]);
            model_leave(0);
            model_call(1);
            check();
        }
    }
}

/* All tickets are called before any thread looks; then threads look in the worst of orders, and are
 * called anew. */
static void the_time_of_a_call_does_not_grow_with_the_line(void **state)
{
    struct line_ticket *crowd = calloc(CROWD, sizeof(*crowd));

    (void)state;
    alarm(CROWD_SECONDS);
    for (unsigned i = 0; i < CROWD; i++)
        line_join(&crowd[i]);
    for (unsigned round = 0; round < 3; round++) {
        woken = 0;
        for (unsigned i = 0; i < CROWD; i++)
            line_call(1);
        assert_int_equal(woken, CROWD);
        line_call(1); /* there is no one left to call */
        assert_int_equal(woken, CROWD);
        for (unsigned i = 0; i < CROWD; i++)
            assert_int_equal(line_wait(&crowd[round < 1 ? i : (i * 7919u + 1) % CROWD], 1), 0);
    }
    /* The first ticket is called first, whatever the others' order. */
    for (unsigned i = 0; i < CROWD; i++)
        assert_false(crowd[i].called);
    line_call(1);
    assert_true(crowd[0].called);
    for (unsigned i = 0; i < CROWD; i++)
        line_leave(&crowd[i]);
    assert_int_equal(line_length(), 0);
    alarm(0);
    free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_not_yet_called_are_called),
        cmocka_unit_test(the_time_of_a_call_does_not_grow_with_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
