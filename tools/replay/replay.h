/* vigil-replay: a trace through policies, at several sizes of memory. */
#pragma once
#include <stdio.h>
#include "mm/policy/replace/replace.h"
#include "tools/replay/trace.h"

enum { REPLAY_POLICIES_MAX = 16, REPLAY_SIZES_MAX = 1000 };

struct replay_request {
    const struct replace_ops *policy[REPLAY_POLICIES_MAX];
    unsigned policies;
    uint32_t frames[REPLAY_SIZES_MAX]; /* ascending */
    unsigned sizes;
    uint64_t seed;
    const char *first; /* of the chooser */
    uint32_t buffer;   /* entries of the page access buffer before the policies, 0: none */
    bool prefetch;     /* prefetched entries of the trace are made, too */
};

/* misses[size][0]: OPT's; [size][1 + policy]. */
struct replay_result {
    uint64_t misses[REPLAY_SIZES_MAX][1 + REPLAY_POLICIES_MAX];
};

/*
 * "1000,20%,5000" or NULL: so many sizes evenly up to all pages. 0, or -EINVAL with a line in why.
 * Percentages are of t->pages.
 */
int replay_sizes(struct replay_request *q, const char *list, unsigned points,
                 const struct page_trace *t, char why[TRACE_WHY]);
/* "lru,lirs" or NULL: all there are. */
int replay_policies(struct replay_request *q, const char *list, char why[TRACE_WHY]);
/* Whether q->first is one that a chooser among the policies can start with; NULL: it need not. 0,
 * or -EINVAL with a line in why. */
int replay_first(const struct replay_request *q, char why[TRACE_WHY]);
/* Whether the trace has what is asked of it: a space, or TRACE_SPACES; pages that were read ahead.
 * 0, or -EINVAL with a line in why. */
int replay_fits(const struct replay_request *q, const struct page_trace *t, uint32_t space,
                char why[TRACE_WHY]);
/* 0, -ENOMEM, or -EINVAL: a policy refuses its configuration. */
int replay_run(const struct replay_request *q, const struct page_trace *t,
               struct replay_result *out);
/* A line for each size: frames, then misses. */
void replay_print(FILE *out, const struct replay_request *q, const struct page_trace *t,
                  const struct replay_result *result);
/* Whether the file's name ends in .svg or .png, and it can be written to: it is made. 0, or
 * -EINVAL with a line in why. */
int replay_plot_to(const char *file, char why[TRACE_WHY]);
/* Miss-rate curves by gnuplot, to such a file. 0, or -EINVAL with a line in why. */
int replay_plot(const char *file, const struct replay_request *q, const struct page_trace *t,
                const struct replay_result *result, char why[TRACE_WHY]);
