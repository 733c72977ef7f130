/*
 * Page traces for judging what was made on those of traces.h: programs' ways through their pages
 * that no constant of a policy was chosen by, and two at a time where one follows the other.
 * The same kind, pages, length and seed make the same trace, as there.
 */
#pragma once
#include "test/host/double/traces.h"

enum unseen_kind {
    UNSEEN_HOT_SCAN,     /* three draws among a tenth, two pages of a loop over the rest */
    UNSEEN_ZIPF_DRIFT,   /* zipf draws; which pages are frequent wanders */
    UNSEEN_TWO_LOOPS,    /* four times over the first 60 %, four times over the last 60 % */
    UNSEEN_SWEEP_LOOP,   /* one half there and back, the other half forward only */
    UNSEEN_LOOP_SWEEP,   /* the other way round */
    UNSEEN_MATMUL,       /* C = A B by blocks, the innermost loop along A's row and B's column */
    UNSEEN_NESTED,       /* an inner loop over a third, for each of a few pages of the rest */
    UNSEEN_ROWS,         /* a five-point stencil with rows of several pages */
    UNSEEN_TREE,         /* lookups in a B-tree by zipf, and range scans */
    UNSEEN_STACK,        /* a stack grows and shrinks */
    UNSEEN_QUICKSORT,    /* from both ends of a range to its middle, then of both parts */
    UNSEEN_RING,         /* a ring buffer is written, an index is looked up by zipf */
    UNSEEN_COLLECTOR,    /* a nursery used round and round, an old part by chance, full traces */
    UNSEEN_REPORT,       /* zipf draws, and now and then two scans of a half */
    UNSEEN_WORKING_SETS, /* draws among a quarter, then among another one */
    UNSEEN_COLUMNS,      /* a few columns at a time of a matrix stored by rows */
    UNSEEN_QUERIES,      /* a range of any length from any place on */
    UNSEEN_KINDS
};
const char *unseen_name(enum unseen_kind kind);

struct trace unseen_make(enum unseen_kind kind, uint32_t pages, size_t length, uint64_t seed);
