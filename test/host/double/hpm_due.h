/* Counters that are armed, as checks that are the same for every driver, against its double. */
#pragma once
#include "test/host/double/hpm_driver.h"

struct due_machine {
    unsigned kinds;
    void (*make)(unsigned kind); /* a fresh machine, and nothing of hpm yet */
    unsigned least;              /* a counter overflows after so many events or more */
    unsigned arm_accesses;       /* to registers, that arming takes */
    /* kinds (bit k) without flags that say which counter overflowed: each interrupt reads what is
     * armed */
    uint32_t unflagged;
};
/* All checks on all kinds, and those tests; the exit status. */
int due_tests(const struct due_machine *machine, const struct CMUnitTest *others,
              unsigned other_count);

/* ---- For a driver's own tests ---------------------------------------------------------------- */

/* hpm on a machine of that kind, thread 0 on CPU 0, which counts two events on two counters. */
void due_start(unsigned kind);
struct due_counter {
    struct event event;
    unsigned counter;
};
extern struct due_counter due_counters[2];
/* So many of counter i's events in user mode; what is due comes. */
void due_happen(unsigned i, uint64_t n);
/* Arms counter i for so many events from now. */
void due_arm(unsigned i, uint64_t events);
/* Which counters (bit i) have said since the last call that they got there. */
unsigned due_heard(void);
/* What counter i has counted, as latch gives it. */
uint64_t due_count(unsigned i);
