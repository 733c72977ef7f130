/* Checks of hpm on any processor's own PMU, for the tests of each driver, against that PMU's
 * double, which knows the truth. After kernel_start_hpm and threads_begin, unless stated
 * otherwise. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/host/double/hpm_threads.h"

enum { SLICE = 1000000, CYCLES_PER_TICK = 3 };
/* Cycles of an access before hpm is started, so that comparing the clocks does not take millions of
 * accesses. */
enum { PROBE_CYCLES = 3000 };

/* What a double knows of a CPU. */
struct truth {
    const uint64_t *happened; /* increments made to each counter */
    /* Increments when it was last read, less those between reading and setting it back. */
    const uint64_t *at_read;
    uint64_t set_back;             /* increments of the cycle counter lost by setting it back */
    unsigned cycles, instructions; /* numbers of these counters */
    unsigned accesses;             /* to registers */
};

/* A double of a processor's own PMU. It acts on the CPU that executes. */
struct pmu_double {
    unsigned access_cycles;        /* cycles of an access to a register */
    uint64_t cycles, instructions; /* their events, for `count` */
    void (*count)(uint64_t event, uint64_t n, bool user);
    /* Also takes interrupts that are due. */
    void (*execute)(uint64_t instructions, uint64_t cycles, bool user);
    /* Makes a fresh machine of the same kind of CPU, without anything of hpm. */
    void (*again)(void);
    struct truth (*truth)(unsigned cpu);
    /* User mode on the executing CPU: reads a register by its index in struct hpm_user_register;
     * whether that is allowed. */
    uint64_t (*user_read)(uint32_t index);
    bool (*user_open)(unsigned cpu);
};
extern const struct pmu_double pmu_double; /* the double that a test is linked with */

/* Called before each access to a register; may be NULL. */
extern void (*double_on_access)(void);

/* Returns an event of this PMU by its text, as event_parse reads it. */
struct event event_named(const char *text);

/* Checks that the driver's last reading has every increment, except those between reading and
 * setting back the cycle counter. */
void assert_last_exact(unsigned cpu);
/* Checks the same for a reading made now. */
void assert_exact(unsigned cpu);

/* Lets thread 0 execute in user mode on CPU 0. Returns its counts. */
struct hpm_breakdown executed(uint64_t instructions, uint64_t cycles);
/* Checks that hpm uses no more counters than it has room for. */
void check_room_for_counters(void);
/* Checks that a CPU that is not counted does not disturb the counts of the others. */
void check_left_out(unsigned cpu);

/* Random work of random threads on all CPUs, of which nothing may be lost or counted twice. live
 * returns the machine's counts. */
struct life {
    unsigned steps;
    uint64_t seed, events_max, instructions_max; /* largest amounts of one piece of work */
    /* Done with each piece, on the executing CPU; may be NULL. */
    void (*also)(uint64_t *seed);
};
struct hpm_breakdown live(const struct life *l);

/* Checks wraps: all counters wrap first_wrap events after they began, at each of the driver's
 * register accesses in turn. */
void check_wraps_during_a_reading(uint64_t first_wrap);
/* Checks that interrupts end slices, without ticks. */
void check_turns_by_interrupt(void);
/* Checks that slices can be of retired instructions: cycles alone end none, and only a few
 * instructions of the driver are lost. */
void check_slices_by_instructions(void);
/* Checks that setting back the cycle counter costs the cycles between two accesses, once a turn. */
void check_cycles_lost_by_turns(void);
/* Runs thread 0 until ticks have ended a slice, with its interrupt due as well. Interrupts are off
 * then. */
void end_turn_by_ticks(void);
/* Lets thread 0 execute 1000000 instructions in 2000000 cycles of user mode and 30000 in 50000 of
 * kernel mode, with 700 and 50 of the event, `times` times. Returns its counts. */
struct hpm_breakdown count_both_modes(unsigned times, uint64_t event);
/* Checks the inputs of policy cluster: records of accesses that remote caches serve, their exact
 * number, and, once their latency is known, an estimate of the stalls. */
void check_remote_inputs(void);
/* Checks that idle time is in cycles of a CPU that runs. */
void check_idle_time(void);
/* Checks that the rate is right though the CPU stops for a while when it is measured. After the
 * double's machine was made. */
void check_stops_while_measured(void);

/* A driver's machines, for the tests that all drivers have in common. Each `make` makes a fresh
 * machine without anything of hpm. */
struct driver_machine {
    unsigned kinds;
    void (*make)(unsigned kind);
    void (*make_large)(void); /* it has more counters than hpm uses */
    void (*make_stuck)(void); /* its cycle counter stands still */
    uint64_t first_wrap;      /* events from the start of a counter to its first wrap */
    unsigned switch_accesses; /* largest number of accesses to registers in a switch */
};
/* Runs the common tests on all kinds, then `count` other tests. Returns the exit status. */
int driver_tests(const struct driver_machine *machine, const struct CMUnitTest *others,
                 unsigned count);
