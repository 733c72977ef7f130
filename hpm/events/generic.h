/* Generic names of events. To add one: a line here, and its event in the maps of the PMUs that have
 * it. */
#pragma once
#include "hpm/events/table.h"

#define EVENT_GENERICS(X)                                                                          \
    X(CYCLES, "cycles", "cycles of the core, not halted")                                          \
    X(CYCLES_REF, "cycles.ref", "cycles at a constant rate, not halted")                           \
    X(INSTRUCTIONS, "instructions", "instructions completed")                                      \
    X(OPS, "ops", "operations completed, of which instructions are made")                          \
    X(BRANCH, "branch", "branches completed")                                                      \
    X(BRANCH_MISS, "branch.miss", "branches whose target was not predicted")                       \
    X(LOAD, "load", "loads of data")                                                               \
    X(STORE, "store", "stores of data")                                                            \
    X(L1D_ACCESS, "l1d.access", "accesses to the first level's data cache")                        \
    X(L1D_MISS, "l1d.miss", "lines that it was given because they were not there")                 \
    X(L1I_ACCESS, "l1i.access", "accesses to the first level's instruction cache")                 \
    X(L1I_MISS, "l1i.miss", "accesses to it that another level had to serve")                      \
    X(L2_ACCESS, "l2.access", "requests to the second level's cache, data and instructions")       \
    X(L2_MISS, "l2.miss", "requests that it could not serve")                                      \
    X(LLC_ACCESS, "llc.access", "requests to the chip's last level")                               \
    X(LLC_MISS, "llc.miss", "requests that it could not serve")                                    \
    X(TLB_MISS, "tlb.miss", "page table walks, for data where that is told apart")                 \
    X(ITLB_MISS, "itlb.miss", "page table walks for instructions")                                 \
    X(MEM_LOCAL_CACHE, "mem.local_cache", "data from a shared cache of the same chip")             \
    X(MEM_REMOTE_CACHE, "mem.remote_cache", "data from a cache of another chip")                   \
    X(MEM_LOCAL, "mem.local", "data from memory of the same chip")                                 \
    X(MEM_REMOTE, "mem.remote",                                                                    \
      "data from another chip, from its memory where that is told apart")                          \
    X(STALL_FRONTEND, "stall.frontend", "cycles in which no instructions came from the front end") \
    X(STALL_BACKEND, "stall.backend",                                                              \
      "cycles in which the back end took, executed or completed nothing")                          \
    X(STALL_MEM, "stall.mem", "those of them in which data was waited for")                        \
    X(INTERRUPT, "interrupt", "interrupts taken")

#define EVENT_GENERIC_NUMBER(number, name, about) GENERIC_##number,
enum event_generic_number { EVENT_GENERICS(EVENT_GENERIC_NUMBER) GENERIC_COUNT };

typedef const char *const event_generic_list[GENERIC_COUNT];
extern event_generic_list generic_skylake, generic_skylake_sp, generic_icelake, generic_icelake_sp,
    /* generic_intel.c */
    generic_sapphirerapids, generic_intel;
extern event_generic_list generic_zen2, generic_zen3, generic_zen4, generic_amd; /* generic_amd.c */
extern event_generic_list generic_armv8, generic_pmuv3;                          /* generic_arm.c */
/* generic_model.c */
extern event_generic_list generic_model;
