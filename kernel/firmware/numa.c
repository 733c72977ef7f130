#include "kernel/firmware/numa.h"

void numa_begin(struct numa *n, const char *source)
{
    memset(n, 0, sizeof(*n));
    n->source = source;
    n->distances = -ENOENT;
}

int numa_add_cpu(struct numa *n, uint64_t hwid, uint32_t domain)
{
    for (unsigned i = 0; i < n->cpu_count; i++) {
        if (n->cpu[i].hwid == hwid)
            return n->cpu[i].node == domain ? 0 : -EINVAL;
    }
    if (n->cpu_count == NUMA_CPUS_MAX)
        return -ENOSPC;
    n->cpu[n->cpu_count++] = (struct numa_cpu){hwid, domain};
    return 0;
}

int numa_add_memory(struct numa *n, paddr_t base, uint64_t size, uint32_t domain)
{
    if (!size)
        return 0;
    if (base + size < base)
        return -EINVAL;
    for (unsigned i = 0; i < n->range_count; i++) {
        const struct numa_range *r = &n->range[i];
        if (r->node != domain && base < r->base + r->size && r->base < base + size)
            return -EINVAL;
    }
    if (n->range_count == NUMA_RANGES_MAX)
        return -ENOSPC;
    unsigned at = n->range_count++;
    for (; at > 0 && n->range[at - 1].base > base; at--)
        n->range[at] = n->range[at - 1];
    n->range[at] = (struct numa_range){base, size, domain};
    return 0;
}

static void one_node(struct numa *n)
{
    int distances = n->distances;

    numa_begin(n, NULL);
    n->distances = distances;
    n->node_count = 1;
}

/* Returns the index of a domain, or the index where it is to be inserted. */
static unsigned place_of(const struct numa *n, uint32_t domain)
{
    unsigned at = 0;

    while (at < n->node_count && n->domain[at] < domain)
        at++;
    return at;
}

static int add_node(struct numa *n, uint32_t domain)
{
    unsigned at = place_of(n, domain);

    if (at < n->node_count && n->domain[at] == domain)
        return 0;
    if (n->node_count == NUMA_NODES_MAX)
        return -ENOSPC;
    memmove(&n->domain[at + 1], &n->domain[at], (n->node_count++ - at) * sizeof(n->domain[0]));
    n->domain[at] = domain;
    return 0;
}

int numa_end(struct numa *n, int err)
{
    for (unsigned i = 0; !err && i < n->cpu_count; i++)
        err = add_node(n, n->cpu[i].node);
    for (unsigned i = 0; !err && i < n->range_count; i++)
        err = add_node(n, n->range[i].node);
    if (err || !n->node_count) {
        one_node(n);
        return err;
    }
    for (unsigned i = 0; i < n->cpu_count; i++)
        n->cpu[i].node = place_of(n, n->cpu[i].node);
    for (unsigned i = 0; i < n->range_count; i++)
        n->range[i].node = place_of(n, n->range[i].node);
    return 0;
}

void numa_in_turn(struct numa *n, const char *source, unsigned nodes, uint64_t block_bytes)
{
    ASSERT(nodes >= 1 && nodes <= NUMA_NODES_MAX && block_bytes);
    numa_begin(n, source);
    n->block_bytes = block_bytes;
    while (n->node_count < nodes) {
        n->domain[n->node_count] = n->node_count;
        n->node_count++;
    }
}

int numa_node_of_cpu(const struct numa *n, uint64_t hwid)
{
    for (unsigned i = 0; i < n->cpu_count; i++) {
        if (n->cpu[i].hwid == hwid)
            return (int)n->cpu[i].node;
    }
    return -ENOENT;
}

int numa_node_of_memory_for_test(const struct numa *n, paddr_t pa)
{
    if (n->block_bytes)
        return (int)(pa / n->block_bytes % n->node_count);
    for (unsigned i = 0; i < n->range_count; i++) {
        if (pa >= n->range[i].base && pa - n->range[i].base < n->range[i].size)
            return (int)n->range[i].node;
    }
    return -ENOENT;
}

/* Returns the number of bytes of a node below `end`, where nodes own blocks in turn. */
static uint64_t in_turn_below(const struct numa *n, unsigned node, paddr_t end)
{
    uint64_t turn = n->block_bytes * n->node_count, first = n->block_bytes * node,
             rest = end % turn;

    return end / turn * n->block_bytes + (rest > first ? MIN(rest - first, n->block_bytes) : 0);
}

uint64_t numa_bytes(const struct numa *n, unsigned node, paddr_t base, paddr_t end)
{
    uint64_t bytes = 0;

    if (n->block_bytes)
        return in_turn_below(n, node, end) - in_turn_below(n, node, base);
    /* Ranges of one node may overlap: each byte is counted once. */
    for (unsigned i = 0; i < n->range_count; i++) {
        const struct numa_range *r = &n->range[i];
        paddr_t from = MAX(base, r->base), to = MIN(end, r->base + r->size);
        if (r->node != node || from >= to)
            continue;
        bytes += to - from;
        base = to;
    }
    return bytes;
}
