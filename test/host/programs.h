/*
 * The pages that programs use, one after another, as a page-access tracker would see them: through a filter of the pages used last.
 * For prefetching, where the shape of a program matters more than how often it uses a page.
 */
#pragma once
#include "test/host/traces.h"

enum program_kind {
    PROGRAM_LU, /* blocked LU of n x n doubles in columns, blocks of 16, one thread (SPLASH-2's non-contiguous one) */
    PROGRAM_STREAM, /* three arrays, one element of each at a time, over and over: as many rounds as length has           */
    PROGRAM_LOOP, /* one array, over and over                                                                          */
    PROGRAM_STENCIL, /* five-point sweeps over a grid, from one array into the other and back                             */
    PROGRAM_LIST, /* a linked list whose elements lie in any order, over and over                                      */
    PROGRAM_WALK, /* a random walk on a graph of four edges a page                                                     */
    PROGRAM_RANDOM, /* any page                                                                                         */
    PROGRAM_KINDS
};
extern const char *const program_names[]; /* by kind, NULL-terminated */

struct program {
    enum program_kind kind;
    uint32_t side;   /* LU: doubles in a row, a multiple of 16; others: ignored     */
    uint32_t pages;  /* others: footprint; LU: follows from side                    */
    size_t length;   /* others: accesses before the filter; LU: follows from side   */
    unsigned filter; /* pages the filter holds; 0: none                             */
    uint64_t seed;
};

/* Freed by trace_free(). */
struct trace program_run(const struct program *p);
