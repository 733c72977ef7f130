/*
 * Where CPUs sit, out of CPUID and APIC ids.  Pure: reads a table of leaves, whoever filled it.
 * An APIC id is a number of three fields, chip : core : thread, whose widths CPUID gives.
 */
#pragma once
#include "kernel/base.h"

struct cpuid_leaf {
    uint32_t leaf, sub;
    uint32_t eax, ebx, ecx, edx;
};

struct topology_bits {
    unsigned thread; /* width of the thread field              */
    unsigned chip;   /* width of the thread and core fields    */
};

struct topology_place {
    uint16_t chip, core, thread;
};

/* Leaves 0, 1, 4, 0xb, 0x1f, 0x80000008, 0x8000001e are looked at, with all their subleaves; absent ones
 * count as zero. */
struct topology_bits topology_decode(const struct cpuid_leaf *leaves, size_t n);
/* Numbers dense from 0: chips in the machine, cores in their chip, threads in their core; in the order of
 * their ids. */
void topology_place_all(struct topology_bits bits, const uint64_t *ids, size_t n,
                        struct topology_place *places);
