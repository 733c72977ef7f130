/* The machine's shape, computed once from each CPU's place. */
#include "kernel/core/cpu.h"
#include "kernel/firmware/numa.h"
#include "sched/cpuset.h"

_Static_assert(NUMA_NODES_MAX <= CPU_MAX, "node_cpus");

static struct sched_topology topology;

/* Returns the number of the CPU's core over the whole machine. Cores are numbered in order of their
 * first CPU. */
static unsigned core_of(unsigned cpu)
{
    for (unsigned other = 0; other < cpu; other++)
        if (cpus[other].place.chip == cpus[cpu].place.chip &&
            cpus[other].place.core == cpus[cpu].place.core)
            return topology.of[other].core;
    return topology.cores++;
}

static void measure(void)
{
    for (unsigned core = 0; core < topology.cores; core++)
        topology.threads_per_core =
            MAX(topology.threads_per_core, cpuset_count(&topology.core_cpus[core]));
    for (unsigned chip = 0; chip < topology.chips; chip++) {
        unsigned cores = 0;
        for (unsigned core = 0; core < topology.cores; core++) {
            struct cpuset both = cpuset_and(&topology.core_cpus[core], &topology.chip_cpus[chip]);
            cores += !cpuset_empty(&both);
        }
        topology.cores_per_chip = MAX(topology.cores_per_chip, cores);
    }
}

void sched_topology_init(unsigned n)
{
    topology = (struct sched_topology){.cpus = n, .nodes = arch_numa()->node_count};
    for (unsigned i = 0; i < n; i++) {
        ASSERT(cpus[i].place.chip < CPU_MAX && cpus[i].place.node < topology.nodes);
        unsigned node = cpus[i].place.node, chip = cpus[i].place.chip, core = core_of(i);
        topology.of[i].chip = (uint16_t)chip;
        topology.of[i].core = (uint16_t)core;
        topology.of[i].node = (uint16_t)node;
        topology.chips = MAX(topology.chips, chip + 1);
        cpuset_add(&topology.chip_cpus[chip], i);
        cpuset_add(&topology.core_cpus[core], i);
        cpuset_add(&topology.node_cpus[node], i);
    }
    measure();
}

const struct sched_topology *sched_topology(void)
{
    return &topology;
}
