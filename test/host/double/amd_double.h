/*
 * AMD's core counters and the sampling of operations, register by register, for host tests (APM
 * volume 2, 13.2 and 13.3). CPUs execute nothing: a test says how many of which event happen, and
 * which operations are dispatched, on which CPU and in which mode. Every access to a register is
 * an instruction, too, so the driver's own work is part of what it counts. Interrupts are edges
 * that wait in the local APIC: one whose reason is gone comes all the same. It aborts where the
 * driver reads or writes what would fault or is undefined: a register or leaf that is not there, a
 * reserved bit, another event for a counter that counts, a record that there is not.
 */
#pragma once
#include "hpm/pmu/x86/amd_ibs.h"
#include "hpm/pmu/x86/amd_regs.h"
#include "hpm/pmu/x86/x86_regs.h"
#include "test/host/double/hpm_driver.h"

enum { AMD_COUNTERS_MAX = 15, ACCESS_CYCLES = 30, ENTRIES = 4 };

/* What kind of CPU it is. */
struct amd_kind {
    uint32_t vendor;        /* 0: AMD */
    unsigned family, model; /* the model with its extended part */
    bool no_extended;       /* counters: the legacy ones only */
    unsigned v2;            /* counters that PerfMonV2 says there are; 0: no PerfMonV2 */
    uint32_t last;          /* extended leaf; 0: as many as it takes */
    uint32_t ibs;           /* features of IBS; 0: there is none */
    bool no_entry;          /* the firmware has not set IBS_CTL */
    bool stuck;             /* cycles are not counted */
};

/* An operation as it retires. */
struct amd_op {
    uint64_t data, data2, data3; /* IBS_OP_DATA and the next two */
    uint64_t rip, linear, physical;
    bool l3_miss;
};

struct amd_double {
    struct amd_kind kind;
    uint64_t select[AMD_COUNTERS_MAX], counter[AMD_COUNTERS_MAX];
    uint64_t global, status;
    /* interrupt, in the local APIC; its entry has masked itself */
    bool pending, masked;
    bool routed[ENTRIES]; /* extended entries */
    /* control registers, the latter without its current count */
    uint64_t fetch, op;
    uint64_t current;                    /* of the interval */
    struct amd_op record;                /* valid while OP_VAL is set */
    uint64_t tagged, left_out, recorded; /* operations */
    uint64_t random;
    uint64_t happened[AMD_COUNTERS_MAX]; /* increments made to each counter */
    uint64_t at_read[AMD_COUNTERS_MAX];  /* the same when it was last read, less set_back */
    uint64_t set_back[AMD_COUNTERS_MAX]; /* increments between reading and writing it */
    unsigned read_at[AMD_COUNTERS_MAX];  /* the last reading: how many accesses there had been */
    bool user_open;                      /* CR4.PCE */
    unsigned accesses, interrupts;
};
extern struct amd_double amd_double[DOUBLE_CPUS];

/* A fresh machine whose CPUs are all of this kind, and nothing of hpm yet. */
void amd_machine(const struct amd_kind *kind);
/* So many events on the CPU that executes; code and unit mask as in the selector. */
void amd_count(uint64_t event, uint64_t n, bool user);
/* Instructions that take so many cycles; interrupts that are due are taken. */
void amd_execute(uint64_t instructions, uint64_t cycles, bool user);
/* Operations that are all alike are dispatched and retire. */
void amd_operate(uint64_t n, const struct amd_op *op);
