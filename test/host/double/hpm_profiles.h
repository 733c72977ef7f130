/* Samples by criteria on the double of the simulated machine: one profile at a time, and its
 * samples. */
#pragma once
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_sessions.h"
#include "test/host/double/hpm_threads.h"

enum { TAKE = 4096, SLICE_CYCLES = 1000000 };

extern struct hpm_sample taken[TAKE];
extern struct hpm_profile *profile;

/* Opens a profile, with at most a thousand samples a second and no limit of cost. Returns its
 * error, with the cause in why[160]. */
int open_error(const char *criteria, uint32_t pid, char *why);
/* As open_error; an error fails the test. */
void open_profile(const char *criteria, uint32_t pid);
/* Boots a machine with room for `samples` samples on each CPU. */
void boot(unsigned samples);
/* Lets n misses happen on the executing CPU, one in 110 cycles. */
void misses(unsigned n);
/* Takes all samples into `taken`. Returns their number. */
size_t take_all(void);
/* Returns the sum of the periods of the first n samples in `taken`. */
uint64_t stood_for(size_t n);

/* Without a profile, with room for 2,048 samples. For cmocka. */
int profile_set_up(void **state);
int profile_tear_down(void **state);
#define TEST(name) cmocka_unit_test_setup_teardown(name, profile_set_up, profile_tear_down)
