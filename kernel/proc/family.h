/* See family.c. Thread context for all functions. */
#pragma once
#include "kernel/lib/base.h"

struct family;

/* Returns a family without members, or NULL if there is no memory. */
struct family *family_make(void);
/* Adds a member. A process joins before other threads can find it, a thread while its process is a
 * member. */
void family_join(struct family *f);
/* Removes a member when its memory is free; of the type of a thread's `freed`. */
void family_leave(void *family);
/* Keeps anything more from starting in the family. A thread that makes a member known and then
 * calls family_stopped(), and a thread that calls family_stop() and then looks for members, cannot
 * miss each other. */
void family_stop(struct family *f);
bool family_stopped(const struct family *f);
/* Sleeps until there is no member, and frees the family. Called once, by its maker. */
void family_end(struct family *f);
