/*
 * Named regions of memory.  What an array is called is what the kernel's memory policies, its samples' accounts and its messages know
 * it by.
 */
#pragma once
#include <stddef.h>

/* Zeroed memory in whole pages, under a name of up to 15 characters (a longer one is cut).  NULL: there is none. */
void *memory_map(const char *name, size_t bytes);

/* Gives it back, whole. */
void memory_unmap(void *at, size_t bytes);
