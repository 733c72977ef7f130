/*
 * What hpm does on any processor's own PMU, as checks for the tests of each driver: against that
 * PMU's double, which knows the truth. After kernel_start_hpm and threads_begin, unless it says
 * otherwise.
 */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/host/double/hpm_threads.h"

enum { SLICE = 1000000, CYCLES_PER_TICK = 3 };
/* Cycles of an access before hpm has begun: comparing the clocks takes no million of them. */
enum { PROBE_CYCLES = 3000 };

/* What a double knows of a CPU. */
struct truth {
    const uint64_t *happened; /* increments made to each counter */
    /* the same when it was last read, less those between reading and setting back */
    const uint64_t *at_read;
    uint64_t set_back;             /* those of the cycle counter */
    unsigned cycles, instructions; /* which counters these are */
    unsigned accesses;             /* to registers */
};

/* A double of a processor's own PMU. It acts on the CPU that executes. */
struct pmu_double {
    unsigned access_cycles;        /* what an access to a register takes */
    uint64_t cycles, instructions; /* as events of `count` */
    void (*count)(uint64_t event, uint64_t n, bool user);
    /* And takes interrupts that are due. */
    void (*execute)(uint64_t instructions, uint64_t cycles, bool user);
    /* A fresh machine of the same kind of CPU, and nothing of hpm yet. */
    void (*again)(void);
    struct truth (*truth)(unsigned cpu);
    /* User mode on the CPU that executes: a register as struct hpm_user_register has it; whether it
     * may. */
    uint64_t (*user_read)(uint32_t index);
    bool (*user_open)(unsigned cpu);
};
extern const struct pmu_double pmu_double; /* of the one a test is linked with */

/* Called at each access to a register, before it; NULL: nobody. */
extern void (*double_on_access)(void);

/* An event that this PMU counts, as event_parse reads it. */
struct event event_named(const char *text);

/* At its last reading the driver knew every increment there had been, but for those between reading
 * the cycle counter and setting it back. */
void assert_last_exact(unsigned cpu);
/* The same for a reading made now. */
void assert_exact(unsigned cpu);

/* What is counted for thread 0 when it alone executes that in user mode, on CPU 0. */
struct hpm_breakdown executed(uint64_t instructions, uint64_t cycles);
/* Of more counters than hpm has room for, no more are used. */
void check_room_for_counters(void);
/* A CPU that is not counted does no harm to the counts of the others. */
void check_left_out(unsigned cpu);

/* Random threads do random work on all CPUs, and nothing of it is lost or counted twice; the
 * machine's counts. */
struct life {
    unsigned steps;
    uint64_t seed, events_max, instructions_max; /* of one piece of work */
    /* done with each, on the CPU that executes; NULL: nothing */
    void (*also)(uint64_t *seed);
};
struct hpm_breakdown live(const struct life *l);

/* All counters wrap first_wrap events after they began: whichever register is being accessed when
 * they do. */
void check_wraps_during_a_reading(uint64_t first_wrap);
/* Interrupts end turns, without any tick. */
void check_turns_by_interrupt(void);
/* The same, by retired instructions: cycles alone end none, and nothing but a few instructions of
 * the driver is lost. */
void check_slices_by_instructions(void);
/* Setting the cycle counter back costs as many cycles a turn as pass between two accesses. */
void check_cycles_lost_by_turns(void);
/* Thread 0 runs until ticks have ended a turn whose interrupt is due, too. Interrupts are off
 * then. */
void end_turn_by_ticks(void);
/* What is counted for thread 0 when so many times it executes 1000000 instructions in 2000000
 * cycles of user mode and 30000 in 50000 of kernel mode, and the event happens 700 times and 50
 * times. */
struct hpm_breakdown count_both_modes(unsigned times, uint64_t event);
/* Policy cluster has what it goes by: records of accesses that remote caches serve, how many these
 * are, exactly, and, once it is known how long one takes, an estimate of the stalls. */
void check_remote_inputs(void);
/* Idle time is in cycles of a CPU that runs. */
void check_idle_time(void);
/* The rate is right though the CPU stops for a while when it is measured. After the double's
 * machine was made. */
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
