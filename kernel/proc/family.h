/* See family.c. */
#pragma once
#include "kernel/lib/base.h"

struct family;

/* One without members, or NULL: no memory. Thread context, as all of these. */
struct family *family_make(void);
/* One member more; a process joins before it is known to others, a thread while its process is a
 * member. */
void family_join(struct family *f);
/* One less, whose memory is free; for a thread's `freed`. */
void family_leave(void *family);
/* Lets nothing more start in the family. A thread that makes a member known and then calls
 * family_stopped, and one that calls this and then looks for members, cannot miss each other. */
void family_stop(struct family *f);
bool family_stopped(const struct family *f);
/* Sleeps until there is no member, and frees the family. Once, by its maker. */
void family_end(struct family *f);
