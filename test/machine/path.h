/*
 * The page-access tracker of one hardware thread ([A] 4.2.1, Figure 4.3): page access buffer,
 * associative filter, log. What it promises is in kernel/dev/model/machine.h (struct
 * machine_path); this file knows neither registers nor QEMU.
 *
 * The PAB's sets are chosen by the page's low bits, mixed with those of the three fields above
 * them, so that a walk in strides of a power of two, the columns of a matrix, has all sets
 * (Gonzalez, Valero, Topham and Parcerisa 1997, XOR-based placement), and with the space's, so that
 * processes laid out alike do not compete for the same ones. Pages in a row, as many as there are
 * entries, all have room. The order of a set's ways is their recency, and so is the filter's.
 */
#pragma once
#include "kernel/dev/model/machine.h"

struct path_sizes {
    uint32_t pab, filter, log; /* entries; pab 0: off */
};

struct path {
    uint64_t *pab; /* [sets][MACHINE_PATH_WAYS] keys; NULL while it is off */
    uint32_t sets, set_bits;
    struct path_sizes size;
    uint32_t filtered, logged; /* entries in use */
    uint32_t space;            /* that runs; 0: nothing is tracked */
    uint32_t sample_shift;     /* one page of 2^this is logged */
    uint64_t filter[MACHINE_PATH_FILTER_MAX];
    uint64_t log[MACHINE_PATH_LOG_MAX];
    uint64_t walks, pab_hits, filter_hits, lost;
};

/* Empty, with these sizes. 0; -EINVAL: a size that cannot be, and nothing has changed; -ENOMEM. */
int path_configure(struct path *p, struct path_sizes size);
void path_free(struct path *p);

static inline uint64_t path_key(uint32_t space, vaddr_t va)
{
    return (uint64_t)space << MACHINE_PATH_SPACE_SHIFT | (va >> PAGE_SHIFT & MACHINE_PATH_PAGE);
}

/* The running space has missed the TLB for va, in the lower half. True: it was logged. */
bool path_walk(struct path *p, vaddr_t va, bool store);
/* MACHINE_PATH_IS_*, of the PAB alone; it counts as unused from then on. */
unsigned path_probe(struct path *p, uint64_t key);
void path_forget_page(struct path *p, uint64_t key);
void path_forget_space(struct path *p, uint32_t space);

/* NULL, or what is wrong. */
const char *path_check(const struct path *p);
