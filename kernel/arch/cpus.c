/* The table of CPUs and the order in which they start; see cpus.h. */
#include "kernel/arch/cpus.h"
#include "kernel/dev/machine_find.h"
#include "kernel/printf.h"

#define BLOCK_MAX ((uint64_t)1 << 40) /* so that a turn of all nodes is a number */

static unsigned arrived; /* index of the last CPU that has */
static struct numa numa;

struct numa *cpus_numa(void)
{
    return &numa;
}

const struct numa *arch_numa(void)
{
    return &numa;
}

void cpus_begin(struct cpus_list *list, struct cpu *cpus, unsigned max, uint64_t boot_hwid)
{
    *list = (struct cpus_list){.cpus = cpus, .count = 1, .max = max};
    cpus[0].hwid = boot_hwid;
}

static bool known(const struct cpus_list *list, uint64_t hwid)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->cpus[i].hwid == hwid)
            return true;
    }
    return false;
}

void cpus_add(struct cpus_list *list, uint64_t hwid)
{
    struct cpu *cpus = list->cpus;

    if (known(list, hwid))
        return;
    if (list->count == list->max) {
        list->ignored++;
        return;
    }
    unsigned at = list->count++;
    for (; at > 1 && cpus[at - 1].hwid > hwid; at--)
        cpus[at].hwid = cpus[at - 1].hwid;
    cpus[at].hwid = hwid;
}

unsigned cpus_end(struct cpus_list *list)
{
    if (list->ignored)
        kprintf("cpus: %u CPUs beyond the first %u are left alone\n", list->ignored, list->max);
    for (unsigned i = 0; i < list->count; i++)
        list->cpus[i].index = i;
    return list->count;
}

/* A simulated machine knows best what it simulates.  Its CPUs are in the order of cpus[]. */
bool cpus_place_by_machine(struct cpus_list *list)
{
    const volatile struct machine_id *id = machine_id();

    if (!id)
        return false;
    if (list->count > id->cpus) {
        kprintf("cpus: %u CPUs, but the simulated machine has %u: places are the processor's\n", list->count,
                id->cpus);
        return false;
    }
    uint32_t chips = id->chips;
    uint64_t block_bytes = id->home_block_bytes;
    if (!chips || chips > NUMA_NODES_MAX || !block_bytes || block_bytes > BLOCK_MAX) {
        kprintf("cpus: the simulated machine has %u chips, memory in blocks of %llu bytes: places are the "
                "processor's\n",
                chips, (unsigned long long)block_bytes);
        return false;
    }
    for (unsigned i = 0; i < list->count; i++) {
        struct cpu_place *place = &list->cpus[i].place;
        place->chip = place->node = id->place[i].chip;
        place->core = id->place[i].core;
        place->thread = id->place[i].thread;
    }
    numa_in_turn(&numa, "the simulated machine", chips, block_bytes);
    return true;
}

void cpus_place_by_ids(struct cpus_list *list, struct topology_bits bits, const uint64_t *ids)
{
    struct topology_place places[CPU_MAX];

    topology_place_all(bits, ids, list->count, places);
    for (unsigned i = 0; i < list->count; i++)
        list->cpus[i].place =
            (struct cpu_place){.chip = places[i].chip, .core = places[i].core, .thread = places[i].thread};
}

void cpus_place_by_nodes(struct cpus_list *list, int err)
{
    unsigned unnamed = 0;

    if (err && err != -ENOENT)
        kprintf("nodes: what firmware says of them is %s: all is one node\n",
                err == -ENOSPC ? "more than the table holds" : "broken or contradicts itself");
    if (numa.distances == -EINVAL)
        kprintf("nodes: the distances in ACPI's SLIT are wrong\n");
    for (unsigned i = 0; i < list->count; i++) {
        int node = numa_node_of_cpu(&numa, list->cpus[i].hwid);
        list->cpus[i].place.node = node < 0 ? 0 : (uint16_t)node;
        unnamed += node < 0;
    }
    if (numa.source && unnamed)
        kprintf("nodes: %s gives no node to %u CPUs: node 0\n", numa.source, unnamed);
}

void cpus_arrive(struct cpu *cpu)
{
    __atomic_store_n(&arrived, cpu->index, __ATOMIC_RELEASE);
    kernel_secondary_main(cpu);
}

bool cpus_wait_for(const struct cpu *cpu, uint64_t ns)
{
    uint64_t since_ns = arch_clock_ns();

    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != cpu->index) {
        if (arch_clock_ns() - since_ns > ns)
            return false;
        arch_cpu_relax();
    }
    return true;
}

unsigned arch_cpus_start(struct cpu *cpus, unsigned n)
{
    unsigned run = 1;

    if (n == 1 || !smp_prepare(cpus, n))
        return run;
    /* Indexes stay dense when one fails: the next takes its place. */
    for (unsigned i = 1; i < n; i++) {
        cpus[run].hwid = cpus[i].hwid;
        cpus[run].place = cpus[i].place;
        run += smp_start_one(&cpus[run]);
    }
    return run;
}
