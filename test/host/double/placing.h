/* What the tests of placement share: a machine, threads on it, and questions about where they end
 * up. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sched/sharing/policy/assign.h"

enum { PLACING_THREADS = 256, PLACING_CPUS = 64, PLACING_CHIPS = 8 };

struct placing {
    struct assign_cpu cpu[PLACING_CPUS];
    struct assign_topology topology;
    struct assign_thread thread[PLACING_THREADS];
    uint64_t weight[PLACING_THREADS];
    uint64_t mask[PLACING_THREADS];
    struct assign_input in;
    struct placement placement;
    void *memory;
};

/* cmocka's: *state is a struct placing whose machine has 2 chips x 2 cores x 2 hardware threads. */
int placing_set_up(void **state);
int placing_tear_down(void **state);
/* chips x cores x hardware threads, CPUs numbered in that order. */
void placing_build_machine(struct placing *f, unsigned chips, unsigned cores, unsigned hw);
/* Sets the clusters, given as a letter for each thread: '.' is a thread that shares with no other,
 * '-' one without samples. Thread i is on CPU cpus[i]. */
void placing_plant(struct placing *f, const char *clusters, const unsigned *cpus);
/* Runs the policy and checks the result's invariants. */
void placing_run(struct placing *f, const struct assign_policy *policy);
unsigned placing_chip_of(const struct placing *f, unsigned t);
/* How many threads are on the chip. */
unsigned placing_on_chip(const struct placing *f, unsigned chip);
/* Are all of the cluster's threads on one chip? */
bool placing_is_whole(const struct placing *f, int cluster);
/* How many cores have a thread of the cluster. */
unsigned placing_cores_of(const struct placing *f, int cluster);
/* Within a chip no core, and within a core no CPU, has more than a thread above another. */
void placing_assert_even(const struct placing *f);
