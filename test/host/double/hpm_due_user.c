/* Counts that a thread reads in user mode, against each driver's double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "test/host/double/hpm_due.h"
#include "test/host/double/hpm_due_user.h"
#include "test/host/double/hpm_sessions.h"
#include "test/host/double/random.h"

static struct hpm_user_page page;
static unsigned away; /* number of switches while it reads */
static uint64_t back; /* how far registers have stepped back */

static uint64_t read_counter(uint32_t index)
{
    if (away) {
        away--;
        switch_to(0, 2);
        pmu_double.count(event_named("branch.miss").config, 77, true);
        assert_false(pmu_double.user_open(0));
        switch_to(0, 1);
    }
    return pmu_double.user_read(index) - back;
}

static struct hpm_session *show(unsigned kind, bool breakdown)
{
    due_machine->make(kind);
    hpm_slice_cycles = SLICE;
    with_argument("hpm.breakdown", breakdown);
    kernel_start_hpm();
    with_argument("hpm.breakdown", 1);
    threads_begin(3);
    struct hpm_session *s = open_names("branch.miss:u");
    memset(&page, 0, sizeof page);
    switch_to(0, 1);
    assert_false(pmu_double.user_open(0));
    assert_int_equal(hpm_user_open(&threads[1], s, 1, &page), 0);
    assert_true(pmu_double.user_open(0));
    return s;
}

static uint64_t read_it(void)
{
    uint64_t count = 0;

    assert_true(hpm_user_read(&page, 0, read_counter, &count));
    return count;
}

/* Switches the thread out and in, on other CPUs as well, while turns pass. Returns its CPU. */
static unsigned disturb(unsigned cpu, uint64_t *seed)
{
    unsigned to = test_random(seed) % DOUBLE_CPUS;

    switch (test_random(seed) % 4) {
    case 0:
        tick(cpu);
        return cpu;
    case 1:
        pmu_double.execute(1000, SLICE / 3, true);
        return cpu;
    case 2:
        switch_to(cpu, -1);
        pmu_double.count(event_named("branch.miss").config, 1000, true);
        switch_to(to, 1);
        return to;
    default:
        return cpu;
    }
}

void a_thread_reads_its_counts_in_user_mode(unsigned kind)
{
    struct hpm_session *s = show(kind, false);
    uint64_t event = event_named("branch.miss").config, happened = 0, seed = 1;
    unsigned cpu = 0;

    for (unsigned i = 0; i < 3000; i++) {
        uint64_t n = test_random(&seed) % 100000;
        pmu_double.count(event, n, true);
        double_deliver();
        happened += n;
        away = cpu ? 0 : test_random(&seed) % 3;
        assert_int_equal(read_it(), happened);
        cpu = disturb(cpu, &seed);
    }
    assert_int_equal(read_it(), value_of_thread(s, 0, 1).estimate.count);
    switch_to(cpu, -1);
    assert_false(pmu_double.user_open(cpu));
    switch_to(cpu, 1);
    hpm_session_close(s);
    uint64_t count;
    assert_false(hpm_user_read(&page, 0, read_counter, &count));
    assert_false(pmu_double.user_open(cpu));
    assert_ptr_equal(hpm_user_close(&threads[1]), &page);
}

void a_register_that_steps_back_counts_nothing_in_user_mode(unsigned kind)
{
    struct hpm_session *s = show(kind, false);
    uint64_t count = read_it();

    pmu_double.count(event_named("branch.miss").config, 1000, true);
    assert_int_equal(read_it(), count + 1000);
    back = 5000;
    assert_int_equal(read_it(), count);
    back = 0;
    assert_ptr_equal(hpm_user_close(&threads[1]), &page);
    hpm_session_close(s);
}

/* While its event has no counter, a thread goes by what was counted before. */
void what_takes_turns_is_scaled_in_user_mode(unsigned kind)
{
    struct hpm_session *s = show(kind, true);
    uint64_t event = event_named("branch.miss").config, happened = 0;
    unsigned with = 0, without = 0;

    for (unsigned i = 0; i < 20000; i++) {
        pmu_double.count(event, 50, true);
        pmu_double.execute(100, SLICE / 100, true);
        happened += 50;
        if (i < 10000 || i % 10)
            continue;
        with += page.count[0].now.index != 0;
        without += !page.count[0].now.index;
        assert_in_range(read_it(), happened * 95 / 100, happened * 105 / 100);
    }
    assert_true(with);
    assert_true(without || hpm_state.plan->mux.rounds.groups == 1 || with == 1000);
    assert_ptr_equal(hpm_user_close(&threads[1]), &page);
    hpm_session_close(s);
}
