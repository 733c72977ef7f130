/* Armed counters: checks that are the same for every driver, against its double. */
#pragma once
#include "test/host/double/hpm_driver.h"

struct due_machine {
    unsigned kinds;
    void (*make)(unsigned kind); /* makes a fresh machine without anything of hpm */
    unsigned least;              /* least number of events to an overflow */
    unsigned arm_accesses;       /* accesses to registers for arming */
    /* Kinds (bit k) without flags for the counter that overflowed: each interrupt reads all armed
     * ones. */
    uint32_t unflagged;
};
/* Runs all checks on all kinds, then the other tests. Returns the exit status. */
int due_tests(const struct due_machine *machine, const struct CMUnitTest *others,
              unsigned other_count);

/* ---- For a driver's own tests ---------------------------------------------------------------- */

/* Starts hpm on a machine of that kind, with thread 0 on CPU 0, which counts two events on two
 * counters. */
void due_start(unsigned kind);
struct due_counter {
    struct event event;
    unsigned counter;
};
extern struct due_counter due_counters[2];
/* Lets n of counter i's events happen in user mode; takes interrupts that are due. */
void due_happen(unsigned i, uint64_t n);
/* Arms counter i for `events` events from now. */
void due_arm(unsigned i, uint64_t events);
/* Returns the counters (bit i) that have reported since the last call that they reached their
 * counts. */
unsigned due_heard(void);
/* Returns the count of counter i, as latch reads it. */
uint64_t due_count(unsigned i);
