/*
 * Finds the CPUs and starts them: cpus.c does what is common, an ISA's cpus.c and smp.c know where
 * CPUs are listed and how one is started.
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
/* Inserts a CPU by its id behind the boot CPU, unless it is already there. */
void cpus_add(struct cpus_list *list, uint64_t hwid);
/* cpus_end() numbers the CPUs and prints how many exceed the maximum; returns their number. Then
 * the CPUs get positions: from the shape of a simulated machine (false: there is none, or it is
 * invalid), else from ids, where ids[i] belongs to cpus[i]. */
unsigned cpus_end(struct cpus_list *list);
bool cpus_place_by_shape(struct cpus_list *list, const struct arch_shape *shape);
void cpus_place_by_ids(struct cpus_list *list, struct topology_bits bits, const uint64_t *ids);
/* Set the CPUs' nodes if no simulated machine did: firmware's description is read into cpus_numa().
 * `err`: the result of reading, which is printed unless there was nothing to read (-ENOENT). */
struct numa *cpus_numa(void);
void cpus_place_by_nodes(struct cpus_list *list, int err);

/* ---- arch_cpus_start ------------------------------------------------------------------------- */
/* The first C function of a new CPU, with its own registers set: goes on to
 * kernel_secondary_main(). */
NORETURN void cpus_arrive(struct cpu *cpu);
/* Waits until the CPU has arrived. Returns false after `ns`. */
bool cpus_wait_for(const struct cpu *cpu, uint64_t ns);
/* Called if a CPU was told to start and may still come late, to the stack it was given: no more
 * CPUs are started. */
void cpus_lost(void);

/* Describes the CPUs with clocks that differed from the boot CPU's when they started. Returns false
 * if none did. */
bool cpus_clocks_quirk(char *text, size_t size);

/* The ISA supplies these. smp_prepare() is called before the first start, with all CPUs found;
 * returns false after a line that says why none can be started. smp_start_one() starts one CPU;
 * returns true when it has arrived, else false after a line that says why not. */
bool smp_prepare(struct cpu *cpus, unsigned n);
bool smp_start_one(struct cpu *cpu);
