/* Page traces of several formats, from bytes in memory to dense page numbers.
 * docs/use/page-traces.md describes Vigil's own. */
#pragma once
#include "kernel/lib/base.h"

enum trace_format {
    TRACE_GUESS, /* by the contents, if they are unambiguous */
    TRACE_VIGIL, /* mm/track/page_trace.h */
    TRACE_TEXT,  /* a page a line, decimal or 0x and hexadecimal; blank lines and # comments */
    TRACE_LIRS,  /* the same, with lines of a * between parts, as LIRS's authors publish traces */
    TRACE_U32,   /* page numbers, little-endian */
    TRACE_U64,
    TRACE_ORACLE, /* libCacheSim's oracleGeneral: u32 time, u64 object, u32 size, i64 next access */
    TRACE_FORMATS
};
extern const char *const trace_format_names[]; /* by enum trace_format, NULL-terminated */

enum trace_event { TRACE_ACCESS, TRACE_PREFETCHED, TRACE_UNMAPPED };

/* Owns the memory of the trace; freed by trace_close(). */
struct page_trace {
    enum trace_format format; /* never TRACE_GUESS */
    /* Number of pages, which are numbered by first appearance. A page that is mapped again after it
     * was unmapped gets a new number. */
    uint32_t pages;
    size_t length;
    uint32_t *page;                /* [length] */
    uint8_t *event;                /* [length] enum trace_event */
    uint64_t accesses, prefetched; /* number of uses, and of prefetched pages */
    uint64_t lost;                 /* accesses the recorder reports as lost */
};

enum { TRACE_WHY = 200 };

/*
 * Reads a trace. space: of a TRACE_VIGIL, one address space alone, or TRACE_SPACES: all, with
 * different pages. Returns 0, -ENOMEM, or -EINVAL with one line in why that names the offset and
 * what was expected there.
 */
#define TRACE_SPACES UINT32_MAX
int trace_open(struct page_trace *t, const uint8_t *data, size_t size, enum trace_format format,
               uint32_t space, char why[TRACE_WHY]);
void trace_close(struct page_trace *t);

/* ---- Between the files that read ------------------------------------------------------------- */

/* The trace being read, and the numbers assigned to pages. */
struct trace_reading {
    struct page_trace *t;
    const uint8_t *data;
    size_t size;
    uint32_t space;
    size_t room;           /* allocated length of t->page */
    struct trace_key *key; /* hash table */
    size_t keys;           /* a power of two */
    uint64_t *time;        /* of a TRACE_VIGIL: the latest time, by CPU */
    char *why;
};

int trace_add(struct trace_reading *r, uint32_t space, uint64_t page, enum trace_event event);
int trace_refuse(struct trace_reading *r, size_t offset, const char *fmt, ...) PRINTF(3, 4);
int trace_read_text(struct trace_reading *r);
int trace_read_numbers(struct trace_reading *r);
int trace_read_oracle(struct trace_reading *r);
int trace_read_vigil(struct trace_reading *r);
/* Returns whether the bytes can hardly be of another format. */
bool trace_is_oracle(const uint8_t *data, size_t size);
