/*
 * A memory of some frames under a replacement policy, or under the optimal one, on a trace of page
 * accesses. The policy sees each access, or only those that pass a page access buffer: these are
 * TLB misses, and memory asks the buffer before it evicts, as the kernel does.
 */
#pragma once
#include "mm/policy/replace/replace.h"
#include "test/machine/path.h"

/* pages: above all page numbers of the trace. buffer: entries of the page access buffer, as
 * path_configure() takes them; 0: there is none. */
struct access_trace {
    const uint32_t *page;
    size_t length;
    uint32_t pages, buffer;
};

struct simulation {
    void *state;
    const struct replace_ops *ops;
    uint32_t pages, frames;
    uint32_t resident;
    uint64_t accesses, misses;
    struct path unit; /* has the page access buffer; space 0: there is none */
    bool *fresh;      /* by page: it was brought in, and has not been logged since */
};

/* Starts a simulation. config->answers is ignored. s must not move until its end. Returns 0,
 * -EINVAL (from the policy's init() or path_configure()) or -ENOMEM. */
int simulation_start(struct simulation *s, const struct replace_ops *ops,
                     const struct replace_config *config, uint32_t buffer);
void simulation_access(struct simulation *s, uint32_t page);
void simulation_prefetch(struct simulation *s, uint32_t page);
void simulation_unmap(struct simulation *s, uint32_t page);
void simulation_end(struct simulation *s);

/* Counts the misses of a whole trace, first uses included. Returns 0 or simulation_start()'s
 * error. */
int simulate(const struct replace_ops *ops, const struct replace_config *config,
             const struct access_trace *t, uint64_t *misses);

/* Counts the accesses that the buffer logs if every page is resident; all accesses without a
 * buffer. Returns 0 or -ENOMEM. */
int simulate_log(const struct access_trace *t, uint64_t *logged);

/* Counts the misses of OPT, which evicts the page with the farthest next use [Belady 1966]. Returns
 * 0 or -ENOMEM. */
int belady(const struct access_trace *t, uint32_t frames, uint64_t *misses);
