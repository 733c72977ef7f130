/*
 * Memory nodes: which CPUs and which memory are near one another. Firmware's numbers for them
 * (proximity domains, ACPI; numa-node-id, device tree) are sparse; nodes are numbered from 0 in the
 * order of those. CPUs and memory that nobody gives to a node are node 0's. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

#define NUMA_NODES_MAX  64
#define NUMA_RANGES_MAX 128
#define NUMA_CPUS_MAX   512 /* named by firmware; PLATFORM_CPUS_MAX */

struct numa {
    const char *source; /* who says so, for messages; NULL: nobody, all is one node */
    /* between nodes: 0 they are there and sound, -ENOENT, -EINVAL; nobody uses them */
    int distances;
    unsigned node_count;
    uint32_t domain[NUMA_NODES_MAX]; /* firmware's number of a node, ascending */
    /* Memory: either ranges, sorted, none of which overlaps another of another node; or blocks that
     * the nodes take in turn, from address 0 on. */
    uint64_t block_bytes; /* 0: ranges */
    unsigned range_count;
    struct numa_range {
        paddr_t base;
        uint64_t size;
        uint32_t node; /* until numa_end: firmware's number; of CPUs, too */
    } range[NUMA_RANGES_MAX];
    unsigned cpu_count;
    struct numa_cpu {
        uint64_t hwid; /* as in struct cpu */
        uint32_t node;
    } cpu[NUMA_CPUS_MAX];
};

/* ---- Filling it in --------------------------------------------------------------------------- */
void numa_begin(struct numa *n, const char *source);
/* 0; -ENOSPC: more than the table holds; -EINVAL: in two nodes, or memory that wraps around.
 * Memory of size 0 is none. */
int numa_add_cpu(struct numa *n, uint64_t hwid, uint32_t domain);
int numa_add_memory(struct numa *n, paddr_t base, uint64_t size, uint32_t domain);
/* Numbers the nodes; err: what became of filling it in, handed on. After any error, or without a
 * node, all is one node. */
int numa_end(struct numa *n, int err);
/* Nodes that take blocks of memory in turn; their CPUs are not listed. */
void numa_in_turn(struct numa *n, const char *source, unsigned nodes, uint64_t block_bytes);

/* ---- Asking ---------------------------------------------------------------------------------- */
/* The node, or -ENOENT: nobody says, which makes it node 0's. */
int numa_node_of_cpu(const struct numa *n, uint64_t hwid);
int numa_node_of_memory_for_test(const struct numa *n, paddr_t pa);
/* How much of [base, end) is given to the node. */
uint64_t numa_bytes(const struct numa *n, unsigned node, paddr_t base, paddr_t end);
