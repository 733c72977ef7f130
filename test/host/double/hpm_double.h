/* The simulated machine's performance monitor, register by register, for host tests. CPUs execute
 * nothing: a test tells which events happen how often on which CPU. Register accesses cost cycles
 * as on the machine, so hpm's own work is counted. */
#pragma once
#include "kernel/dev/model/machine_find.h"
#include "test/host/double/hpm_kernel.h"

enum { REGISTER_CYCLES = 50 };

struct double_cpu {
    uint64_t truth[MACHINE_EVENTS];   /* everything that ever happened */
    uint64_t at_read[MACHINE_EVENTS]; /* the same at the latest READ or turn */
    uint64_t time, time_at_read;
    uint32_t pstate, time_rest; /* time_rest: 1/256 cycles */
    /* As CONFIGUREd; value and left are current. */
    struct machine_counter taken[MACHINE_COUNTERS];
    struct machine_sampler sampler[MACHINE_SAMPLERS]; /* as SAMPLEd */
    uint64_t until_sample[MACHINE_SAMPLERS];
    bool running, irq_raised;
    unsigned accesses; /* to registers */
};
extern struct double_cpu double_cpus[DOUBLE_CPUS];
extern bool double_machine_present;
extern unsigned double_ring_records_max;

/* Boots a fresh machine and hpm; every CPU is idle. */
void double_boot(void);
/* Executes instructions that take `cycles`; all stalls have the cause "other". */
void double_execute(uint64_t instructions, uint64_t cycles);
/* Spends cycles in which nothing completes because of `cause`. */
void double_stall(enum machine_event cause, uint64_t cycles);
/* Lets an event happen n times, without cycles. */
void double_count(enum machine_event event, uint64_t n);
/* Makes an access beyond the L1; its latency becomes stall cycles. Takes interrupts that become
 * due. */
void double_access(enum machine_source source, vaddr_t va, bool user);
/* The same, behind a page walk of `walk` cycles; of an instruction if `fetch`. */
void double_walk(enum machine_source source, vaddr_t va, bool user, uint16_t walk, bool fetch);
void double_idle(uint64_t cycles);
