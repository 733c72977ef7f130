/*
 * The simulated machine's page-access trackers, register by register. A test tells which page the
 * executing CPU accesses in the space its unit was told of, and gets the unit's reaction.
 *
 * The page access buffer keeps the latest pages, without sets, so that the filter behind it has no
 * effect. The unit checks the rules of kernel/dev/model/machine.h for registers and their times,
 * and fails the test if one is broken.
 */
#pragma once
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"

enum { PATH_DOUBLE_CPUS = 4 };

enum path_double_use {
    PATH_UNSEEN, /* the unit is off, or no space runs */
    PATH_KNOWN,  /* in the buffer, or not in the sample */
    PATH_LOGGED,
    PATH_LOST /* the log was full */
};

struct path_double_unit {
    /* Keys, the least recent first; the highest bit: used since. */
    uint64_t known[MACHINE_PATH_PAB_MAX];
    uint32_t count;
    uint64_t log[MACHINE_PATH_LOG_MAX];
    uint32_t logged, pab_entries, log_entries, threshold, spill, ring_entries; /* as CONFIGUREd */
    uint64_t ring_base, lost, lost_told;
    uint32_t spilled, space, sample_shift;
    bool unacknowledged, irq_raised;
    /* Numbers of these; registers: accesses to them. */
    uint64_t drains, spills, interrupts, configures, registers;
};
extern struct path_double_unit path_double[PATH_DOUBLE_CPUS];

/* The machine's properties: set before it is probed. */
extern bool path_double_no_machine, path_double_no_unit, path_double_no_msi;
/* What was written to the host's file, as far as there is room. */
extern uint8_t path_double_output[1 << 20];
extern size_t path_double_output_bytes;
/* CPU with a unit that refuses every CONFIGURE; -1: none. */
extern int path_double_refuses;
/* Resets all units to power-on. */
void path_double_boot(void);
/* Accesses the page at va; takes interrupts that become due, if interrupts are on. */
enum path_double_use path_double_access(vaddr_t va, bool write);
/* Takes the interrupts of the executing CPU, which has them on. */
void path_double_deliver(void);
/* Raises the CPU's interrupt without a reason. */
void path_double_spurious(void);
/* Sums of all units. */
uint64_t path_double_lost(void);
uint64_t path_double_waiting(void);
