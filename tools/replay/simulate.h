/*
 * A memory of so many frames under a replacement policy, or under the best there could be, on a
 * trace of page accesses. The policy sees each of them, or what a page access buffer lets through:
 * then these are TLB misses, and memory asks the buffer before it evicts, as the kernel does.
 */
#pragma once
#include "mm/policy/replace/replace.h"
#include "test/machine/path.h"

/* pages: every page of the trace is below. buffer: entries of the page access buffer, as
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
    struct path unit; /* with a page access buffer; space 0: there is none */
    bool *fresh;      /* by page: it has come, and nothing was logged since */
};

/* config->answers is not looked at. -EINVAL: as the policy's init(), or
 * path_configure(); -ENOMEM. s is not to move until its end. */
int simulation_start(struct simulation *s, const struct replace_ops *ops,
                     const struct replace_config *config, uint32_t buffer);
void simulation_access(struct simulation *s, uint32_t page);
void simulation_prefetch(struct simulation *s, uint32_t page);
void simulation_unmap(struct simulation *s, uint32_t page);
void simulation_end(struct simulation *s);

/* Misses of a whole trace, first uses included; 0 or what simulation_start() says. */
int simulate(const struct replace_ops *ops, const struct replace_config *config,
             const struct access_trace *t, uint64_t *misses);

/* So many of the accesses the buffer logs where every page is resident; all of them where there is
 * none. 0 or -ENOMEM. */
int simulate_log(const struct access_trace *t, uint64_t *logged);

/* Misses of OPT: whose next use is farthest goes [Belady 1966]. 0 or -ENOMEM. */
int belady(const struct access_trace *t, uint32_t frames, uint64_t *misses);
