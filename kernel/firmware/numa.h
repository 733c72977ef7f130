/*
 * Memory nodes: which CPUs and which memory are near each other. Firmware's numbers of nodes
 * (proximity domains in ACPI, numa-node-id in device trees) are sparse; nodes are numbered from 0
 * in their order. CPUs and memory without a node belong to node 0. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

#define NUMA_NODES_MAX  64
#define NUMA_RANGES_MAX 128
#define NUMA_CPUS_MAX   512 /* CPUs that firmware names, as PLATFORM_CPUS_MAX */

struct numa {
    const char *source; /* origin of the data, for messages; NULL: none, all is one node */
    /* Distances between nodes, which are not used: 0: present and valid; -ENOENT; -EINVAL. */
    int distances;
    unsigned node_count;
    uint32_t domain[NUMA_NODES_MAX]; /* firmware's number of each node, ascending */
    /* Memory is described either by sorted ranges, of which those of different nodes do not
     * overlap, or by blocks that the nodes own in turn, from address 0 on. */
    uint64_t block_bytes; /* 0: ranges */
    unsigned range_count;
    struct numa_range {
        paddr_t base;
        uint64_t size;
        uint32_t node; /* until numa_end(): firmware's number; of CPUs, too */
    } range[NUMA_RANGES_MAX];
    unsigned cpu_count;
    struct numa_cpu {
        uint64_t hwid; /* as in struct cpu */
        uint32_t node;
    } cpu[NUMA_CPUS_MAX];
};

/* ---- Adding ---------------------------------------------------------------------------------- */
void numa_begin(struct numa *n, const char *source);
/* Add to the table. Memory of size 0 is ignored. Return 0; -ENOSPC: the table is full; -EINVAL: in
 * two nodes, or memory that wraps around. */
int numa_add_cpu(struct numa *n, uint64_t hwid, uint32_t domain);
int numa_add_memory(struct numa *n, paddr_t base, uint64_t size, uint32_t domain);
/* Numbers the nodes. `err`: the result of the additions, which is returned. After an error, or
 * without a node, all is one node. */
int numa_end(struct numa *n, int err);
/* Describes nodes that own blocks of memory in turn; their CPUs are not listed. */
void numa_in_turn(struct numa *n, const char *source, unsigned nodes, uint64_t block_bytes);

/* ---- Queries --------------------------------------------------------------------------------- */
/* Return the node, or -ENOENT if firmware does not give one, which means node 0. */
int numa_node_of_cpu(const struct numa *n, uint64_t hwid);
int numa_node_of_memory_for_test(const struct numa *n, paddr_t pa);
/* Returns the number of bytes of [base, end) that belong to the node. */
uint64_t numa_bytes(const struct numa *n, unsigned node, paddr_t base, paddr_t end);
