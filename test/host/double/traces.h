/*
 * Page traces for host tests and benches: the shapes that replacement policies are known to differ
 * on. The same kind, pages, length and seed make the same trace on every host with IEEE doubles.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum trace_kind {
    TRACE_LOOP, /* 0 .. pages-1, over and over */
    /* independent draws, the k-th most frequent page with weight k^-0.9, scattered */
    TRACE_ZIPF,
    TRACE_UNIFORM, /* independent draws, all alike */
    /* every second access a zipf draw among a quarter, the others loop over the rest */
    TRACE_SCAN_ZIPF,
    TRACE_SCAN_BURST, /* zipf draws, and now and then one scan of everything */
    TRACE_PHASES,     /* four phases: zipf among a third, loop, zipf among another third, zigzag */
    TRACE_DRIFT,      /* draws near a point that wanders through the pages */
    TRACE_ZIGZAG,     /* 0 .. pages-1 .. 0, over and over */
    /* forward over an eighth of the pages and back again, then over the next eighth */
    TRACE_BACK_FORTH,
    TRACE_LU, /* right-looking blocked LU of a matrix stored by blocks, two pages a block */
    /* two halves in turn: along one, and again the page before, to the same place of the other */
    TRACE_STENCIL,
    TRACE_AGAIN, /* zipf draws, each once more three draws later */
    /* one half read in order, with as many draws among the other, then draws alone, in turns */
    TRACE_JOIN,
    TRACE_KINDS
};
extern const char *const trace_names[]; /* by kind, NULL-terminated */

enum { TRACE_REGIONS_MAX = 8 };
struct trace {
    uint32_t pages; /* every page is below; not every one need occur */
    /* first pages of its regions but the first one, ascending; 0: no more */
    uint32_t region[TRACE_REGIONS_MAX];
    size_t length;
    uint32_t *page;
};

/* Never fails: ends the program where there is no memory. pages >= 16. Freed by trace_free(). */
struct trace trace_make(enum trace_kind kind, uint32_t pages, size_t length, uint64_t seed);
/* A shape on some of the pages: first .. first + pages - 1. */
enum { TRACE_PARTS_MAX = 8 };
struct trace_part {
    enum trace_kind kind;
    uint32_t first, pages;
};
/* The parts in turn, each for `phase` accesses, each going on where it was; at random for each
 * access when phase is 0. */
struct trace trace_turns(const struct trace_part *part, unsigned parts, size_t phase,
                         uint32_t pages, size_t length, uint64_t seed);
/* Each access is followed by another one of a page that one of the last `window` accesses of t was
 * to, as TLB misses come. */
struct trace trace_again(const struct trace *t, unsigned window, uint64_t seed);
/* Returns room for `length` accesses, all of page 0: for traces of a test's own. */
struct trace trace_room(uint32_t pages, size_t length);
void trace_free(struct trace *t);
/* The region that the page is in, from 0. */
unsigned trace_region(const struct trace *t, uint32_t page);

/* Draws 0..n-1, the k-th with weight (k+1)^-alpha. */
struct zipf {
    uint32_t n;
    double *sum;
};
struct zipf zipf_make(uint32_t n, double alpha);
uint32_t zipf_draw(const struct zipf *z, uint64_t *random);
void zipf_free(struct zipf *z);
/* A permutation of 0..n-1. */
uint32_t *trace_shuffled(uint32_t n, uint64_t *random);
