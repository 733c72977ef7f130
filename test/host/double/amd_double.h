/*
 * AMD's core counters and the sampling of operations, register by register, for host tests (APM
 * volume 2, 13.2 and 13.3). CPUs execute nothing: a test tells which events happen how often, and
 * which operations are dispatched, on which CPU and in which mode. Every access to a register is an
 * instruction as well, so the driver's own work is counted. Interrupts are edges that wait in the
 * local APIC: they come even if their reason is gone.
 *
 * Aborts if the driver does what faults or is undefined: a missing register or leaf, a reserved
 * bit, another event for a counter that counts, a record that does not exist.
 */
#pragma once
#include "hpm/pmu/x86/amd_ibs.h"
#include "hpm/pmu/x86/amd_regs.h"
#include "hpm/pmu/x86/x86_regs.h"
#include "test/host/double/hpm_driver.h"

enum { AMD_COUNTERS_MAX = 15, ACCESS_CYCLES = 30, ENTRIES = 4 };

/* A kind of CPU. */
struct amd_kind {
    uint32_t vendor;        /* 0: AMD */
    unsigned family, model; /* with its extended part */
    bool no_extended;       /* counters: the legacy ones only */
    unsigned v2;            /* counters that PerfMonV2 reports; 0: no PerfMonV2 */
    uint32_t last;          /* last extended leaf; 0: all that are needed */
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
    /* The interrupt waits in the local APIC; its entry has masked itself. */
    bool pending, masked;
    bool routed[ENTRIES]; /* extended entries */
    /* Control registers; op without its current count. */
    uint64_t fetch, op;
    uint64_t current;                    /* of the interval */
    struct amd_op record;                /* valid while OP_VAL is set */
    uint64_t tagged, left_out, recorded; /* operations */
    uint64_t random;
    uint64_t happened[AMD_COUNTERS_MAX]; /* made to each counter */
    uint64_t at_read[AMD_COUNTERS_MAX];  /* increments when it was last read, less set_back */
    uint64_t set_back[AMD_COUNTERS_MAX]; /* increments between reading and writing it */
    unsigned read_at[AMD_COUNTERS_MAX];  /* number of accesses at the last reading */
    bool user_open;                      /* CR4.PCE */
    unsigned accesses, interrupts;
};
extern struct amd_double amd_double[DOUBLE_CPUS];

/* Makes a fresh machine with CPUs of this kind, without anything of hpm. */
void amd_machine(const struct amd_kind *kind);
/* Lets an event happen n times on the executing CPU; code and unit mask as in the selector. */
void amd_count(uint64_t event, uint64_t n, bool user);
/* Executes instructions that take `cycles`; takes interrupts that are due. */
void amd_execute(uint64_t instructions, uint64_t cycles, bool user);
/* Dispatches and retires n equal operations. */
void amd_operate(uint64_t n, const struct amd_op *op);
