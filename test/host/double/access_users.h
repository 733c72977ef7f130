/* Several users of a PMU's records of accesses at a time, on any double: what their samples stand
 * for is compared with what happened. */
#pragma once
#include "test/host/double/hpm_kernel.h"

enum { USERS_MAX = ACCESS_HANDLES };

/* Opens a handle for each and starts it. Any CPU executes. */
void users_begin(const struct hpm_sampling *wants, unsigned count);
/* Notes that n accesses happened that a record of one would describe as `is`. */
void users_note(const struct hpm_sample *is, uint64_t n);
/* Takes the users' samples, each of which must be of an access that the user wants. */
void users_take(void);
/* Checks that the sums of the samples' periods are what was noted, within three standard deviations
 * and two periods for each CPU; that each user had enough samples to tell; and the accounts. Closes
 * the handles. */
void users_end(unsigned samples_least);
