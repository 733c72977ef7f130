/*
 * The simulated machine's page-access trackers, register by register. A test says which page the
 * CPU that executes accesses in the space its unit was told of, and hears what the unit makes of
 * it.
 *
 * The page access buffer keeps whatever was accessed last, with no sets, so that the filter behind
 * it has nothing left to do. The unit insists on what kernel/dev/model/machine.h says of who may
 * write what and when, and fails the test otherwise.
 */
#pragma once
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"

enum { PATH_DOUBLE_CPUS = 4 };

enum path_double_use {
    PATH_UNSEEN, /* the unit is off, or no space runs */
    PATH_KNOWN,  /* in the buffer, or not one of the sample */
    PATH_LOGGED,
    PATH_LOST /* the log was full */
};

struct path_double_unit {
    /* keys, the least recent first; the highest bit: used since */
    uint64_t known[MACHINE_PATH_PAB_MAX];
    uint32_t count;
    uint64_t log[MACHINE_PATH_LOG_MAX];
    uint32_t logged, pab_entries, log_entries, threshold, spill, ring_entries; /* as CONFIGUREd */
    uint64_t ring_base, lost, lost_told;
    uint32_t spilled, space, sample_shift;
    bool unacknowledged, irq_raised;
    /* how often; registers: accesses to them */
    uint64_t drains, spills, interrupts, configures, registers;
};
extern struct path_double_unit path_double[PATH_DOUBLE_CPUS];

/* The machine as it is: set before it is looked for. */
extern bool path_double_no_machine, path_double_no_unit, path_double_no_msi;
/* What was written to the host's file: as much of it as there is room for. */
extern uint8_t path_double_output[1 << 20];
extern size_t path_double_output_bytes;
/* This CPU's unit refuses every CONFIGURE; -1: none does. */
extern int path_double_refuses;
/* Units at power-on. */
void path_double_boot(void);
/* Access to the page at va; interrupts that become due are taken if interrupts are on. */
enum path_double_use path_double_access(vaddr_t va, bool write);
/* Takes the interrupts of the CPU that executes; they are on. */
void path_double_deliver(void);
/* The CPU's interrupt, though nothing is due. */
void path_double_spurious(void);
/* All units together. */
uint64_t path_double_lost(void);
uint64_t path_double_waiting(void);
