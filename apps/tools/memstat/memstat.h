/* What memstat prints: as text, as records for programs, and for tools/plot_mrc.sh. */
#pragma once
#include "apps/libc/memory.h"
#include "apps/tools/measuring/record.h"

/* Prints a process's memory and the machine's: pool, faults, prefetching, replacement, tracker. */
void show_memory(const char *program, double ms, const struct sys_memory *m);
/* Prints the pool of files, if their memory is limited. */
void show_files(void);
/* Prints the pools of all processes, and what each would gain. as: NULL: as text; else as
 * records. */
struct memstat_as;
void show_pools(const struct memstat_as *as);
/* Prints the first `room` of `count` regions. */
void show_regions(const struct sys_memory_region *region, int count, int room);
/* Prints the curve of misses as a table with bars. `m` is of the same process. */
void show_curve(const struct sys_curve *c, const struct sys_memory *m);
/* Prints lines for plotting: faults so far, and the curve if there is one. */
void show_series(const char *program, int pid, double ms, const struct sys_memory *m,
                 const struct sys_curve *c);

/* records.c: what all records of a reading have in common. */
struct memstat_as {
    enum record_format format;
    const char *of; /* name of the process, or "files" */
    uint32_t pid;   /* as of memory_read() */
    double ms;      /* since the program began */
};
/* The same as above of one process, or of files: kinds memory, pool, prefetching, expert, division,
 * swap and tracker; region; curve, a record for each size of memory; process. */
void record_memory(const struct memstat_as *as, const struct sys_memory *m);
void record_regions(const struct memstat_as *as, const struct sys_memory_region *region, int count,
                    int room);
void record_curve(const struct memstat_as *as, const struct sys_curve *c);
void record_process(const struct memstat_as *as, uint32_t pid, const char *name,
                    const struct sys_memory *m);
/* show.c: writes "rwx", with `-` for each right that is not there. */
const char *memstat_rights(uint32_t prot, char out[4]);
