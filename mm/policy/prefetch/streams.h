/*
 * Streams of pages: arithmetic progressions among the faults and first uses of a region, forwards
 * or backwards, by any stride, several at a time. Three events at equal distances begin a stream:
 * all of them among the last STREAMS_HISTORY of the region, so that others may come between. A
 * stream goes on when a page up to STREAMS_SKIP strides on is wanted: the pages between were in
 * memory.
 */
#pragma once
#include "mm/policy/prefetch/prefetch.h"

enum {
    STREAMS = 32,
    STREAMS_HISTORY = 16,
    STREAMS_SKIP = 8,
};

/* Page numbers are modulo 2^32. */
struct stream {
    uint32_t last;  /* page wanted last */
    int32_t stride; /* 0: there is no such stream */
    uint32_t used;  /* event at which that was */
    uint16_t ahead; /* pages behind the last one that have been listed */
    uint16_t sure;  /* pages wanted since it began, up to PREFETCH_FETCH_MAX */
    uint8_t region;
};

struct streams {
    uint32_t events;
    struct stream stream[STREAMS];
    uint32_t history[REPLACE_REGIONS_MAX][STREAMS_HISTORY]; /* a ring of page numbers */
    uint32_t seen[REPLACE_REGIONS_MAX];                     /* ever put in */
};

/* Notes a page that was wanted, by a fault or a first use. Returns its stream, or NULL. */
struct stream *streams_event(struct streams *s, const struct prefetch_use *use, bool fault);
/* Lists the pages behind use's that are up to `window` strides on and were not listed before; none
 * if half of the window has been listed, so that pages are read together. */
void streams_list(struct stream *s, const struct prefetch_use *use, unsigned window,
                  struct prefetch_list *list);
/* Returns NULL, or the broken invariant. */
const char *streams_check(const struct streams *s);
