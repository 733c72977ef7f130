/*
 * Contended lines: sums of sampled accesses by line, and what they say of each. Pure, but for
 * memory. One thread at a time.
 *
 * The accesses are those that another chip's cache served, and some that the own chip's lower
 * caches did ("near"), which tell bytes but are no cost. Sides are threads on chips: two accesses
 * are on different sides if their threads differ and their chips too, so a thread that moves does
 * not contend with itself.
 */
#pragma once
#include <stdbool.h>
#include "apps/tools/measuring/table.h"

enum { LINES_BYTES_MIN = 64, LINES_BYTES_MAX = 256, LINES_RECORDS_MIN = 20 };
/* A line is falsely or truly shared if at least this part of its accesses is. */
#define LINES_PART_MIN 0.1
/* Bytes with as many records would show both sides if they were used by both. A line is falsely
 * shared only if at least this part of its accesses is to such bytes. */
enum { LINES_BYTE_RECORDS = 4 };
#define LINES_DENSE_MIN 0.5

enum lines_kind { LINES_READ, LINES_WRITE, LINES_RMW, LINES_KINDS };
/* LINES_UNCLEAR: fewer than LINES_RECORDS_MIN records; different sides do not meet in the line in
 * LINES_PART_MIN of its accesses, one of them writing; or they do not meet in bytes, of which too
 * few are known. */
enum lines_verdict { LINES_UNCLEAR, LINES_FALSE, LINES_TRUE };

struct lines_access {
    uint64_t address; /* in the memory of `pid` */
    uint64_t space;   /* number of the memory that it is in, below 2^40 */
    uint64_t place;   /* in it, as far into the line as the address */
    uint64_t pc;
    uint32_t pid, tid;
    uint32_t of;      /* a process, below 2^24, whose code at `pc` is the same */
    uint32_t period;  /* accesses that it stands for */
    uint16_t chip;    /* less than 4096 */
    uint16_t bytes;   /* from the address on; 0: unknown, one is taken */
    uint16_t latency; /* cycles */
    enum lines_kind kind;
    bool near;     /* served by the own chip */
    bool modified; /* the cache that served it had modified the line */
};

struct lines_sums {
    uint64_t records, accesses, cycles; /* accesses: that the records stand for; their latencies */
    uint64_t modified;                  /* of the records */
};

/* Accesses that are equal but for when they were and what they cost. */
struct lines_cell {
    struct table_key key;
    uint64_t space, line, pc; /* line: its place */
    uint64_t address;         /* of the line, in `pid` */
    uint32_t pid, tid, of;
    uint16_t chip, offset, bytes; /* in the line */
    uint8_t kind;
    struct lines_sums remote, near;
};

struct lines {
    unsigned line_bytes; /* a power of two, LINES_BYTES_MIN..LINES_BYTES_MAX */
    struct table cells;  /* of struct lines_cell */
    struct lines_sums remote, near;
    uint64_t left_out; /* accesses for lack of memory */
};

/* What is known of a line. */
struct lines_line {
    uint64_t address; /* in the process `pid`, one of those that use it */
    uint32_t pid;
    struct lines_cell **cells; /* its cells, by chip, kind, code, thread, bytes */
    size_t count;
    struct lines_sums remote, near;
    uint64_t store_cycles; /* of remote.cycles: of stores, which need not be waited for */
    enum lines_verdict verdict;
    double crossed; /* part of its remote accesses by which sides meet in the line, one writing */
    double met;     /* part by which they meet in a byte, one writing */
    double dense;   /* part that is to bytes with LINES_BYTE_RECORDS, near ones counting */
};

struct lines_found {
    struct lines_line *line; /* with remote accesses, by their cycles, the most first */
    size_t count;
    struct lines_cell **cells;
};

/* The accesses of a line that one instruction makes on one chip. */
struct lines_row {
    uint16_t chip;
    enum lines_kind kind;
    uint64_t pc;
    uint32_t of; /* a process that runs it */
    struct lines_sums remote, near;
    uint64_t used[LINES_BYTES_MAX / 64]; /* a bit for each byte of the line */
    const struct lines_cell *const *cells;
    size_t count; /* of cells, in which a thread can be several times */
};

/* What a change would save, in cycles of all threads together. */
struct lines_saving {
    double cycles;  /* of reads, and of accesses that read and write in one: they are waited for */
    double at_most; /* of stores as well, which a store buffer hides as long as it has room */
};

void lines_begin(struct lines *l, unsigned line_bytes);
/* Adds an access. Without memory it is counted in left_out only. */
void lines_add(struct lines *l, const struct lines_access *a);
/* Finds all lines. Returns false without memory. The result points into `l`. */
bool lines_find(const struct lines *l, struct lines_found *out);
void lines_found_free(struct lines_found *f);
void lines_end(struct lines *l);

/* Sums the line's cells up to rows, the most remote cycles first. Returns their number, NULL in
 * *rows without memory. The caller frees *rows. */
size_t lines_rows(const struct lines_line *line, struct lines_row **rows);
/* Returns the different threads of a row, ascending, up to `room`; their number may be more. */
size_t lines_threads(const struct lines_row *row, uint32_t *tid, size_t room);

/* Returns the mean latency of the near accesses to lines with LINES_RECORDS_MIN remote records, if
 * there are as many; else 0. */
double lines_near_cycles(const struct lines_found *f);
/* Returns how many different threads use a line. */
size_t lines_users(const struct lines_line *line);
/* Returns how many different processes use a line. */
size_t lines_processes(const struct lines_line *line);

/* If what is falsely shared had lines of its own: the line's accesses that do not meet in a byte,
 * near ones too, would hit the first cache. */
struct lines_saving lines_padded(const struct lines_line *line);
/* If all its threads were on one chip: its accesses would take `near` cycles each. */
struct lines_saving lines_together(const struct lines_line *line, double near);
