/*
 * Streams of pages: arithmetic progressions among the faults and first uses of a region, forwards
 * or backwards, by any stride, several at a time. Three events of which each is as far from the one
 * before it begin one: all of them among the last STREAMS_HISTORY of the region, so that others may
 * come between. A stream goes on where the page STREAMS_SKIP strides on or nearer is wanted: those
 * between were in memory.
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
    uint32_t used;  /* when that was, by the count of events */
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

/* A page was wanted, which is a fault or was foreseen: the stream that it is of, or NULL. */
struct stream *streams_event(struct streams *s, const struct prefetch_use *use, bool fault);
/* Lists the pages behind use's that are up to `window` strides on and were not listed before; none
 * if half of the window has been listed, so that pages are read together. */
void streams_list(struct stream *s, const struct prefetch_use *use, unsigned window,
                  struct prefetch_list *list);
/* NULL, or the invariant that does not hold. */
const char *streams_check(const struct streams *s);
