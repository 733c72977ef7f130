/*
 * Intel's performance monitoring, register by register, for host tests (SDM volume 3, "Performance
 * Monitoring"; volume 4, table 2-2). CPUs execute nothing: a test says how many of which event
 * happen on which CPU and in which mode, and which loads. Every access to a register is an
 * instruction, too, so the driver's own work is part of what it counts. It aborts where the
 * processor would raise a general protection exception (a register or a bit that is not there, a
 * value wider than the counter), and where the driver changes a counter that counts. PERF_METRICS
 * is cleared right behind fixed counter 3 or not at all.
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

/* What kind of CPU it is. */
struct intel_kind {
    unsigned version, counters, width, fixed, fixed_width;
    uint32_t fixed_mask;   /* leaf 0AH, ECX: version 5 */
    unsigned enumerated;   /* architectural events */
    uint32_t missing;      /* leaf 0AH, EBX */
    unsigned model;        /* of family 6; 0: of nobody's known core */
    unsigned family;       /* 0: 6 */
    uint64_t capabilities; /* IA32_PERF_CAPABILITIES; 0: there is no such register */
    bool no_any_thread, rtm, hypervisor, no_pebs, force_abort;
    bool stuck; /* cycles are not counted */
    bool not_intel;
};

/* A load, and what its record says. */
struct intel_load {
    uint16_t event; /* precise event it counts as; 0: none but the latency event */
    uint8_t source; /* data source */
    uint64_t latency, address, pc;
};

/* What became of slots of the pipeline. */
enum { SLOTS_RETIRING, SLOTS_BAD_SPECULATION, SLOTS_FRONTEND, SLOTS_BACKEND, SLOT_KINDS };

struct intel_double {
    struct intel_kind kind;
    uint64_t select[INTEL_COUNTERS], counter[INTEL_COUNTERS], fixed[INTEL_FIXED];
    uint64_t fixed_control, global_control, status, debug, ds_area;
    uint64_t pebs_enable, data_config, load_latency, offcore[2], frontend, force_abort;
    bool interrupt, masked; /* the local APIC has one for this CPU; its entry has masked itself */
    /* By counter, fixed ones behind the others: increments since it was set up; the same when it
     * was read; those between reading and writing it while it counted; and the second without the
     * third. */
    uint64_t happened[INTEL_COUNTERS + INTEL_FIXED], seen[INTEL_COUNTERS + INTEL_FIXED];
    uint64_t set_back[INTEL_COUNTERS + INTEL_FIXED], at_read[INTEL_COUNTERS + INTEL_FIXED];
    uint64_t slots[SLOT_KINDS]; /* that PERF_METRICS has the shares of */
    unsigned metrics_may_at;    /* the access that may clear PERF_METRICS */
    /* the last reading: how many accesses there had been */
    unsigned read_at[INTEL_COUNTERS + INTEL_FIXED];
    bool user_open; /* CR4.PCE */
    unsigned accesses, recorded, dropped;
};
extern struct intel_double intel_double[DOUBLE_CPUS];

/* Called when a record has been written, its first byte's address; NULL: nobody. */
extern void (*intel_on_record)(uint8_t *record);

/* A fresh machine whose CPUs are all of this kind, and nothing of hpm yet. */
void intel_machine(const struct intel_kind *kind);
/* So many events on the CPU that executes; of the selector only code and unit mask matter. */
void intel_count(uint64_t select, uint64_t n, bool user);
/* Instructions that take so many cycles; interrupts that are due are taken. */
void intel_execute(uint64_t instructions, uint64_t cycles, bool user);
/* So many slots of each kind, which take no time. */
void intel_slots(const uint64_t kind[SLOT_KINDS], bool user);
/* One load, which takes no time. */
void intel_load(const struct intel_load *l);
/* Where fixed counter f is in happened and at_read. */
#define INTEL_FIXED_AT(f) (INTEL_COUNTERS + (f))
