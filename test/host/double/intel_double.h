/*
 * Intel's performance monitoring, register by register, for host tests (SDM volume 3, "Performance
 * Monitoring"; volume 4, table 2-2). CPUs execute nothing: a test tells which events happen how
 * often, on which CPU and in which mode, and which loads. Every access to a register is an
 * instruction as well, so the driver's own work is counted.
 *
 * Aborts if the processor would raise a general protection exception (a missing register or bit, a
 * value wider than the counter), and if the driver changes a counter that counts. PERF_METRICS must
 * be cleared right behind fixed counter 3 or not at all.
 */
#pragma once
#include "hpm/pmu/x86/intel_regs.h"
#include "test/host/double/hpm_driver.h"

enum { INTEL_COUNTERS = 32, INTEL_FIXED = 16, ACCESS_CYCLES = 2 };
enum {
    CODE_CYCLES = 0x003c,
    CODE_INSTRUCTIONS = 0x00c0,
    CODE_LLC_MISS = 0x412e,
    CODE_BRANCH_MISS = 0x00c5
};
enum { CODE_REFERENCE = 0x0300, CODE_SLOTS = 0x0400 };
enum {
    MODEL_SKYLAKE = 0x5e,
    MODEL_SKYLAKE_SP = 0x55,
    MODEL_ICELAKE_SP = 0x6a,
    MODEL_SAPPHIRE = 0x8f
};

/* A kind of CPU. */
struct intel_kind {
    unsigned version, counters, width, fixed, fixed_width;
    uint32_t fixed_mask;   /* leaf 0AH, ECX: version 5 */
    unsigned enumerated;   /* architectural events */
    uint32_t missing;      /* leaf 0AH, EBX */
    unsigned model;        /* of family 6; 0: of an unknown core */
    unsigned family;       /* 0: 6 */
    uint64_t capabilities; /* IA32_PERF_CAPABILITIES; 0: the register is missing */
    bool no_any_thread, rtm, hypervisor, no_pebs, force_abort;
    bool stuck; /* cycles are not counted */
    bool not_intel;
};

/* A load and its record. */
struct intel_load {
    uint16_t event; /* precise event that counts it; 0: only the latency event does */
    uint8_t source; /* data source */
    uint64_t latency, address, pc;
};

/* Uses of the pipeline's slots. */
enum { SLOTS_RETIRING, SLOTS_BAD_SPECULATION, SLOTS_FRONTEND, SLOTS_BACKEND, SLOT_KINDS };

struct intel_double {
    struct intel_kind kind;
    uint64_t select[INTEL_COUNTERS], counter[INTEL_COUNTERS], fixed[INTEL_FIXED];
    uint64_t fixed_control, global_control, status, debug, ds_area;
    uint64_t pebs_enable, data_config, load_latency, offcore[2], frontend, force_abort;
    bool interrupt, masked; /* the local APIC holds one for this CPU; its entry has masked itself */
    /* By counter, fixed ones behind the others: increments since it was set up (happened), the same
     * when it was read (seen), those between reading and writing it while it counted (set_back),
     * and seen without set_back (at_read). */
    uint64_t happened[INTEL_COUNTERS + INTEL_FIXED], seen[INTEL_COUNTERS + INTEL_FIXED];
    uint64_t set_back[INTEL_COUNTERS + INTEL_FIXED], at_read[INTEL_COUNTERS + INTEL_FIXED];
    uint64_t slots[SLOT_KINDS]; /* since PERF_METRICS was cleared */
    unsigned metrics_may_at;    /* number of the access that may clear PERF_METRICS */
    /* Number of accesses at the last reading. */
    unsigned read_at[INTEL_COUNTERS + INTEL_FIXED];
    bool user_open; /* CR4.PCE */
    unsigned accesses, recorded, dropped;
};
extern struct intel_double intel_double[DOUBLE_CPUS];

/* Called with the address of each record that was written; may be NULL. */
extern void (*intel_on_record)(uint8_t *record);

/* Makes a fresh machine with CPUs of this kind, without anything of hpm. */
void intel_machine(const struct intel_kind *kind);
/* Lets an event happen n times on the executing CPU; only code and unit mask of `select` matter. */
void intel_count(uint64_t select, uint64_t n, bool user);
/* Executes instructions that take `cycles`; takes interrupts that are due. */
void intel_execute(uint64_t instructions, uint64_t cycles, bool user);
/* Lets slots of each kind pass, which takes no time. */
void intel_slots(const uint64_t kind[SLOT_KINDS], bool user);
/* Executes a load, which takes no time. */
void intel_load(const struct intel_load *l);
/* Index of fixed counter f in happened and at_read. */
#define INTEL_FIXED_AT(f) (INTEL_COUNTERS + (f))
