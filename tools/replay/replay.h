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
    const char *first; /* first expert of the chooser */
    uint32_t buffer;   /* entries of the page access buffer before the policies; 0: none */
    bool prefetch;     /* prefetched entries of the trace are replayed, too */
};

/* misses[size][0]: OPT's; [size][1 + policy]: the policy's. */
struct replay_result {
    uint64_t misses[REPLAY_SIZES_MAX][1 + REPLAY_POLICIES_MAX];
};

/*
 * Sets the sizes of memory from a list such as "1000,20%,5000"; NULL: `points` sizes, evenly up to
 * all pages. Percentages are of t->pages. Returns 0, or -EINVAL with a line in why.
 */
int replay_sizes(struct replay_request *q, const char *list, unsigned points,
                 const struct page_trace *t, char why[TRACE_WHY]);
/* Sets the policies from a list such as "lru,lirs"; NULL: all. Returns 0, or -EINVAL with a line in
 * why. */
int replay_policies(struct replay_request *q, const char *list, char why[TRACE_WHY]);
/* Checks that a chooser among the policies can start with q->first; NULL: no matter which. Returns
 * 0, or -EINVAL with a line in why. */
int replay_first(const struct replay_request *q, char why[TRACE_WHY]);
/* Checks that the trace has the requested space (or TRACE_SPACES: all) and, if requested,
 * prefetched pages. Returns 0, or -EINVAL with a line in why. */
int replay_fits(const struct replay_request *q, const struct page_trace *t, uint32_t space,
                char why[TRACE_WHY]);
/* Returns 0, -ENOMEM, or -EINVAL if a policy refuses its configuration. */
int replay_run(const struct replay_request *q, const struct page_trace *t,
               struct replay_result *out);
/* Prints a line for each size: frames, then misses. */
void replay_print(FILE *out, const struct replay_request *q, const struct page_trace *t,
                  const struct replay_result *result);
/* Checks that the file's name ends in .svg or .png and that it can be created. Returns 0, or
 * -EINVAL with a line in why. */
int replay_plot_to(const char *file, char why[TRACE_WHY]);
/* Draws miss-rate curves by gnuplot into such a file. Returns 0, or -EINVAL with a line in why. */
int replay_plot(const char *file, const struct replay_request *q, const struct page_trace *t,
                const struct replay_result *result, char why[TRACE_WHY]);
