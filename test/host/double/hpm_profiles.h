/* Samples by criteria on the double of the simulated machine: one profile at a time, and what was
 * taken of it. */
#pragma once
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_sessions.h"
#include "test/host/double/hpm_threads.h"

enum { TAKE = 4096, SLICE_CYCLES = 1000000 };

extern struct hpm_sample taken[TAKE];
extern struct hpm_profile *profile;

/* Opens it, a thousand samples a second at most and all of the time; its error, with the cause in
 * why[160]. */
int open_error(const char *criteria, uint32_t pid, char *why);
/* As open_error; an error fails the test. */
void open_profile(const char *criteria, uint32_t pid);
/* A machine whose CPUs keep so many samples. */
void boot(unsigned samples);
/* So many misses, one in 110 cycles, on the CPU that executes. */
void misses(unsigned n);
/* What there is into taken; how many. */
size_t take_all(void);
/* The events that the first n of taken stand for. */
uint64_t stood_for(size_t n);

/* For cmocka: no profile, 2,048 samples. */
int profile_set_up(void **state);
int profile_tear_down(void **state);
#define TEST(name) cmocka_unit_test_setup_teardown(name, profile_set_up, profile_tear_down)
