/*
 * Finds the positions of CPUs from CPUID and APIC ids. Pure: reads a table of leaves. An APIC id
 * consists of three fields, chip : core : thread; CPUID gives their widths.
 */
#pragma once
#include "kernel/arch/cpu_ids.h"

struct cpuid_leaf {
    uint32_t leaf, sub;
    uint32_t eax, ebx, ecx, edx;
};

/* Reads leaves 0, 1, 4, 0xb, 0x1f, 0x80000008, 0x8000001e with all their subleaves; absent ones
 * count as zero. */
struct topology_bits topology_decode(const struct cpuid_leaf *leaves, size_t n);
