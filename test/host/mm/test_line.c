/* The line of those who wait for memory: who is called when frames become free, against a model,
 * and that a call takes no longer the more wait. */
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

enum { PLACES = 12, STEPS = 100000, CROWD = 200000, CROWD_SECONDS = 20 };

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
/* Nobody calls meanwhile. */
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    (void)q, (void)guard, (void)irq, (void)deadline_ns;
    return -ETIMEDOUT;
}

/* ---- The model: places in the order of coming ------------------------------------------------ */

static struct line_ticket place[PLACES];
static struct model {
    unsigned place;
    bool called;
} line[PLACES];
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
        assert_int_equal(place[line[i].place].called, line[i].called);
        assert_true(line_before(&place[line[i].place]) >= i);
    }
    if (length)
        assert_int_equal(line_before(&place[line[0].place]), 0);
}

static void step(uint64_t *seed)
{
    unsigned which = (unsigned)(test_random(seed) % PLACES), at = 0;

    while (at < length && line[at].place != which)
        at++;
    switch (test_random(seed) % 4) {
    case 0:
        if (at < length)
            return;
        line_join(&place[which]);
        line[length++] = (struct model){.place = which};
        break;
    case 1:
        if (at == length)
            return;
        line_leave(&place[which]);
        model_leave(at);
        model_call(1);
        break;
    case 2:
        if (at == length)
            return;
        assert_int_equal(line_wait(&place[which], 1), line[at].called ? 0 : -ETIMEDOUT);
        line[at].called = false;
        break;
    default:
        line_call((uint32_t)(at % 4));
        model_call(at % 4);
    }
}

static void the_first_who_have_not_been_called_are(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t random = seed;
        for (unsigned i = 0; i < STEPS; i++) {
            step(&random);
            check();
        }
        while (length) {
            line_leave(&place[line[0].place]);
            model_leave(0);
            model_call(1);
            check();
        }
    }
}

/* None of them gets to look before all have been called; when they do, in the worst of orders, they
 * are called anew. */
static void a_call_takes_no_longer_the_more_wait(void **state)
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
        line_call(1); /* for nobody */
        assert_int_equal(woken, CROWD);
        for (unsigned i = 0; i < CROWD; i++)
            assert_int_equal(line_wait(&crowd[round < 1 ? i : (i * 7919u + 1) % CROWD], 1), 0);
    }
    /* Who was first is called first, whatever the others' order. */
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
        cmocka_unit_test(the_first_who_have_not_been_called_are),
        cmocka_unit_test(a_call_takes_no_longer_the_more_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
