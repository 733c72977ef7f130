/*
 * Collecting the CPUs and starting them: cpus.c does what is the same everywhere, an ISA's cpus and
 * smp files know where CPUs are listed and how one is woken.
 */
#pragma once
#include "kernel/arch/arch.h"
#include "kernel/arch/cpu_ids.h"
#include "kernel/core/cpu.h"
#include "kernel/firmware/numa.h"

/* ---- arch_cpus_find in four steps ------------------------------------------------------------ */
struct cpus_list {
    struct cpu *cpus;
    unsigned count, max, ignored;
};
void cpus_begin(struct cpus_list *list, struct cpu *cpus, unsigned max, uint64_t boot_hwid);
/* Keeps the order of ids behind the boot CPU. One that is there already is not added again. */
void cpus_add(struct cpus_list *list, uint64_t hwid);
/* Numbers them, and says how many were beyond max. Then places them: by a simulated machine's
 * shape (false: there is none, or it cannot be), else by ids, of which ids[i] belongs to cpus[i].
 * Returns their number. */
unsigned cpus_end(struct cpus_list *list);
bool cpus_place_by_shape(struct cpus_list *list, const struct arch_shape *shape);
void cpus_place_by_ids(struct cpus_list *list, struct topology_bits bits, const uint64_t *ids);
/* Their nodes, where no simulated machine has said: firmware's description, read into cpus_numa();
 * err is what became of that, and is said unless there was nothing to read (-ENOENT). */
struct numa *cpus_numa(void);
void cpus_place_by_nodes(struct cpus_list *list, int err);

/* ---- arch_cpus_start ------------------------------------------------------------------------- */
/* The new CPU, in C for the first time, its own registers set: it runs, goes on to
 * kernel_secondary_main. */
NORETURN void cpus_arrive(struct cpu *cpu);
/* Waits until that CPU has arrived; false after ns. */
bool cpus_wait_for(const struct cpu *cpu, uint64_t ns);
/* One was told to start, has not come, and cannot be kept from coming late, to the stack it was
 * given: no more are started. */
void cpus_lost(void);

/* The CPUs whose clocks did not agree with the boot CPU's when they started. False: all did. */
bool cpus_clocks_quirk(char *text, size_t size);

/* What the ISA supplies. Before the first is started, with all that were found; false: none can
 * be, and a line says why. Then for each, one at a time; true: it has arrived, else a line says
 * why not. */
bool smp_prepare(struct cpu *cpus, unsigned n);
bool smp_start_one(struct cpu *cpu);
