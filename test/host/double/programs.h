/*
 * The pages that programs use, one after another, as a page-access tracker would see them: through
 * a filter of the pages used last. For prefetching, where the shape of a program matters more than
 * how often it uses a page.
 */
#pragma once
#include "test/host/double/traces.h"

enum program_kind {
    /* blocked LU of n x n doubles in columns, blocks of 16, one thread (SPLASH-2's non-contiguous
     * one) */
    PROGRAM_LU,
    /* three arrays, one element of each at a time, over and over: as many rounds as length has */
    PROGRAM_STREAM,
    PROGRAM_LOOP,    /* one array, over and over */
    PROGRAM_STENCIL, /* five-point sweeps over a grid, from one array into the other and back */
    PROGRAM_LIST,    /* a linked list whose elements lie in any order, over and over */
    PROGRAM_WALK,    /* a random walk on a graph of four edges a page */
    PROGRAM_RANDOM,  /* any page */
    /* one array, every seventh page of it, from each of the first seven in turn */
    PROGRAM_STRIDED,
    PROGRAM_BACKWARD, /* one array from its end to its beginning, over and over */
    /* eight readers of one array, each of a part of its own, the next one drawn by chance */
    PROGRAM_STREAMS,
    /* a matrix is read by columns, its rows being sixteen pages, and another one is written by
     * rows */
    PROGRAM_TRANSPOSED,
    /* of a tree whose leaves lie in any order lookups, those of some keys more often, and range
     * scans */
    PROGRAM_BTREE,
    /* a table is filled from one array, and what another one has is looked up in it */
    PROGRAM_HASH_JOIN,
    /* a sparse matrix by a vector: near its diagonal, and one element of each row anywhere */
    PROGRAM_SPARSE,
    /* runs of sixteen pages, in the same order each time, which is not that of their places */
    PROGRAM_EXTENTS,
    PROGRAM_KINDS
};
extern const char *const program_names[]; /* by kind, NULL-terminated */

struct program {
    enum program_kind kind;
    uint32_t side;   /* LU: doubles in a row, a multiple of 16; others: ignored */
    uint32_t pages;  /* others: footprint; LU: follows from side */
    size_t length;   /* others: accesses before the filter; LU: follows from side */
    unsigned filter; /* pages the filter holds; 0: none */
    uint64_t seed;
};

/* Freed by trace_free(). */
struct trace program_run(const struct program *p);
