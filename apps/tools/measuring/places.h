/*
 * Names for samples: programs by pid, code by address, memory by address. A name that was looked up
 * once is remembered after its process has ended, so the first look-up should come soon; further
 * ones are cheap. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "apps/tools/measuring/table.h"

/* A place in code. No pointer but `region` is NULL; "?" is unknown, "kernel" the kernel's
 * program. */
struct place {
    struct table_key key;
    const char *program, *function, *file;
    const char *region; /* of memory; NULL: unknown */
    uint64_t offset;    /* into the function */
    uint32_t line;      /* of file, from 1; 0: unknown */
};

/* Returns the place of an address. Equal names are equal pointers. Never NULL. */
const struct place *places_code(uint32_t pid, uint64_t pc);
/* Asks `find` for the function or variable at addresses of which the kernel knows none, from now
 * on (images.h). */
struct images_found;
void places_ask(bool (*find)(uint32_t pid, uint64_t address, struct images_found *out));
/* places_region() returns the name of the region of memory at an address, or "?". Regions come and
 * go: each is looked up again in every turn, and keeps its old name only where it cannot be looked
 * up any more. places_turn() begins a turn. */
const char *places_region(uint32_t pid, uint64_t address);
/* Memory as its contents: two addresses, of one process or two, are of the same byte if both
 * members are equal. */
struct places_memory {
    uint64_t space; /* of a process, or memory that several map (MAP_SHARED); 0 is the kernel's */
    uint64_t place; /* in it; as far into its page as the address is */
};
/* Returns what is at an address, by the same look-ups as places_region(). */
struct places_memory places_memory(uint32_t pid, uint64_t address);
void places_turn(void);
/* Calls `each` for all regions that places_region() has looked up, in no order. */
void places_regions(void (*each)(uint32_t pid, uint64_t start, uint64_t bytes, const char *name));
/* Returns a program's name; "kernel" for 0, "?" if it ended before the first look-up. */
const char *places_program(uint32_t pid);
/* Names a program that the caller is going to start. */
void places_name(uint32_t pid, const char *program);
