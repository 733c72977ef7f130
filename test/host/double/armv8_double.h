/*
 * Arm's PMUv3, register by register, for host tests (Arm ARM DDI 0487, D13 and D19.5). CPUs execute
 * nothing: a test tells which events happen how often, on which CPU and at which level. Every
 * access to a register is an instruction as well, so the driver's own work is counted. A write to a
 * control register takes effect only at the next synchronization.
 *
 * Aborts if the driver writes a reserved bit, a missing counter, the type of a counter that counts,
 * or its value without having read it just before.
 */
#pragma once
#include "hpm/pmu/arm/armv8_regs.h"
#include "test/host/double/hpm_driver.h"
#include "test/host/double/spe_double.h"

enum { ARMV8_COUNTERS = 31, ARMV8_CYCLES = 31, ACCESS_CYCLES = 2 };
enum { CODE_INSTRUCTIONS = 0x08, CODE_CYCLES = 0x11 };

/* A kind of CPU. */
struct armv8_kind {
    unsigned version, counters;
    uint64_t ceid0, ceid1;
    uint32_t midr; /* 0: a core that no table has */
    bool no_lp;    /* a hypervisor keeps event counters to 32 bits */
    bool stuck;    /* cycles are not counted */
    struct spe_kind spe;
};

struct armv8_control {
    uint64_t control, enabled, interrupts, filter, type[ARMV8_COUNTERS];
};

struct armv8_double {
    struct armv8_kind kind;
    struct armv8_control written, now; /* in effect */
    uint64_t flags, counter[ARMV8_COUNTERS + 1];
    uint64_t happened[ARMV8_COUNTERS + 1]; /* made to each counter since CR_E was set */
    uint64_t seen[ARMV8_COUNTERS + 1];     /* increments when it was last read */
    uint64_t set_back[ARMV8_COUNTERS + 1]; /* increments between reading and writing it */
    uint64_t at_read[ARMV8_COUNTERS + 1];  /* seen without set_back */
    unsigned read_at[ARMV8_COUNTERS + 1];  /* number of accesses at the last reading */
    uint64_t user;                         /* PMUSERENR_EL0 */
    unsigned accesses;
};
extern struct armv8_double armv8_double[DOUBLE_CPUS];

/* Makes a fresh machine with CPUs of this kind, without anything of hpm. */
void armv8_machine(const struct armv8_kind *kind);
/* Accesses a register as the driver does: an instruction that takes time. */
void armv8_access(void);
/* Lets an event happen n times on the executing CPU. */
void armv8_count(uint64_t code, uint64_t n, bool user);
/* Executes instructions that take `cycles`; takes interrupts that are due. */
void armv8_execute(uint64_t instructions, uint64_t cycles, bool user);
