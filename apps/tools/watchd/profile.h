/* A profile of the machine by samples, as pprof reads it (profile.proto, not compressed). One at a
 * time. */
#pragma once
#include "apps/tools/watchd/text.h"

/* Starts to sample cycles, or time where they are not counted. Returns 0; -EBUSY: one is being
 * taken; or an error with the reason in `why`. */
int profile_begin(char *why, size_t size);
/* Takes the samples that wait. */
void profile_take(void);
/* Ends it and writes the profile. */
void profile_end(struct text *out);
