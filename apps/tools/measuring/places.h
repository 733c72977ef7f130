/*
 * Names for what samples show: programs by pid, code by address, memory by address. What was asked
 * for once is remembered, so that it has its name when its process has ended: ask soon, and again
 * for as much as you like. One thread at a time.
 */
#pragma once
#include <stdint.h>
#include "apps/tools/measuring/table.h"

/* Code. No pointer is NULL; "?" is what is not known, "kernel" the kernel's program. */
struct place {
    struct table_key key;
    const char *program, *function, *file;
    const char *region; /* of memory; NULL: not known */
    uint64_t offset;    /* into the function */
    uint32_t line;      /* of file, from 1; 0: not known */
};

/* Equal names are the same pointers. Never NULL. */
const struct place *places_code(uint32_t pid, uint64_t pc);
/* The region of memory that lies there, or "?". Memory comes and goes: it is asked for again in
 * each turn, and only what can not be any more is what it was. */
const char *places_region(uint32_t pid, uint64_t address);
void places_turn(void);
/* Its name; "kernel" for 0, "?" for what had ended before it was asked for. */
const char *places_program(uint32_t pid);
/* Of one that the caller starts. */
void places_name(uint32_t pid, const char *program);
