/*
 * The page-access tracker of one hardware thread ([A] 4.2.1, Figure 4.3): page access buffer (PAB),
 * associative filter, log. Its specification is in kernel/dev/model/machine.h (struct
 * machine_path). This file knows neither registers nor QEMU.
 *
 * A PAB's set is chosen by the page's low bits, mixed with the three fields above them and with the
 * space. So a walk in strides of a power of two, such as the columns of a matrix, uses all sets
 * (Gonzalez, Valero, Topham and Parcerisa 1997, XOR-based placement), and processes with the same
 * layout do not compete for the same sets. A row of as many pages as there are entries fits. The
 * ways of a set are in order of recency, and so is the filter.
 */
#pragma once
#include "kernel/dev/model/machine.h"

struct path_sizes {
    uint32_t pab, filter, log; /* numbers of entries; pab 0: off */
};

struct path {
    uint64_t *pab; /* [sets][MACHINE_PATH_WAYS] keys; NULL: it is off */
    uint32_t sets, set_bits;
    struct path_sizes size;
    uint32_t filtered, logged; /* entries in use */
    uint32_t space;            /* space that runs; 0: nothing is tracked */
    uint32_t sample_shift;     /* one page in 2^this is logged */
    uint64_t filter[MACHINE_PATH_FILTER_MAX];
    uint64_t log[MACHINE_PATH_LOG_MAX];
    uint64_t walks, pab_hits, filter_hits, lost;
};

/* Empties it and sets its sizes. Returns 0, -EINVAL (an impossible size; nothing has changed) or
 * -ENOMEM. */
int path_configure(struct path *p, struct path_sizes size);
void path_free(struct path *p);

static inline uint64_t path_key(uint32_t space, vaddr_t va)
{
    return (uint64_t)space << MACHINE_PATH_SPACE_SHIFT | (va >> PAGE_SHIFT & MACHINE_PATH_PAGE);
}

/* Records that the running space has missed the TLB for va, in the lower half. Returns whether it
 * was logged. */
bool path_walk(struct path *p, vaddr_t va, bool store);
/* Returns MACHINE_PATH_IS_*, of the PAB alone. The page counts as unused from then on. */
unsigned path_probe(struct path *p, uint64_t key);
void path_forget_page(struct path *p, uint64_t key);
void path_forget_space(struct path *p, uint32_t space);

/* Returns the invariant that is broken, or NULL. */
const char *path_check(const struct path *p);
