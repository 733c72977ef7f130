/* What a boot prints of the machine and of its arguments. */
#include "kernel/report/report.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/firmware/numa.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/process.h"
#include "sched/cpuset.h"
#include "sched/sched.h"

void boot_print_help(const struct arg *const *tables)
{
    static const char *const scope[] = {
        [ARG_BOOT] = "",
        [ARG_GROUP] = "; also per application, for all beside it",
        [ARG_LIVE] = "; also per application, for all beside it, and while they run",
        [ARG_PROCESS] = "; also per application"};
    char value[32], accepts[160];

    kprintf(
        "usage: argument=value ... -- [argument=value ...] application arguments ; application & "
        "application ...\n");
    for (const struct arg *const *table = tables; *table; table++) {
        for (const struct arg *a = *table; a->name; a++) {
            kprintf("  %-20s %s\n", a->name, a->help);
            kprintf("  %-20s   %s; default %s%s\n", "",
                    cmdline_accepts(a, accepts, sizeof(accepts)),
                    cmdline_value(a, *a->value, value, sizeof(value)), scope[a->scope]);
        }
    }
    for (const struct sched_policy *const *p = sched_policies; *p; p++)
        kprintf("  sched.policy=%-10s %s\n", sched_policy_name(*p), sched_policy_help(*p));
    process_list_applications();
}

void boot_print_initrd(const struct boot_initrd *initrd)
{
    if (initrd->bytes)
        kprintf("boot: initrd=%#llx bytes=%llu\n", (unsigned long long)initrd->base,
                (unsigned long long)initrd->bytes);
}

void boot_print_memory(void)
{
    struct frame_stats stats;

    frame_stats(&stats);
    kprintf("memory: mb=%llu free_mb=%llu\n",
            (unsigned long long)(stats.total_pages * PAGE_SIZE / MIB),
            (unsigned long long)(stats.free_pages * PAGE_SIZE / MIB));
}

void boot_print_cpus(void)
{
    const struct sched_topology *t = sched_topology();

    kprintf("cpus: count=%u chips=%u cores_per_chip=%u threads_per_core=%u\n", t->cpus, t->chips,
            t->cores_per_chip, t->threads_per_core);
    for (unsigned chip = 0; chip < t->chips; chip++) {
        char line[512];
        size_t n = 0;
        unsigned core = CPU_MAX;
        for (unsigned i = 0; i < t->cpus && n < sizeof(line); i++) {
            if (t->of[i].chip != chip)
                continue;
            n += ksnprintf(line + n, sizeof(line) - n, "%s %u", t->of[i].core == core ? "" : "  |",
                           i);
            core = t->of[i].core;
        }
        kprintf("  chip %u%s\n", chip, line);
    }
}

/* The last element of `arg` counts memory of no node. */
static void count_by_node(paddr_t base, paddr_t end, void *arg)
{
    const struct numa *numa = arch_numa();
    uint64_t *bytes = arg;

    bytes[numa->node_count] += end - base;
    for (unsigned node = 0; node < numa->node_count; node++) {
        uint64_t own = numa_bytes(numa, node, base, end);
        bytes[node] += own;
        bytes[numa->node_count] -= own;
    }
}

void boot_print_nodes(void)
{
    const struct numa *numa = arch_numa();
    uint64_t bytes[NUMA_NODES_MAX + 1] = {0}, *unnamed = &bytes[numa->node_count];
    /* Static, as it is too large for a stack; only the first thread runs this. */
    static char line[NUMA_NODES_MAX * 24];
    size_t n = 0;

    frame_each_run(count_by_node, bytes);
    if (numa->source && *unnamed)
        kprintf("nodes: event=unnamed by=%s kb=%llu: memory without a node is of node 0\n",
                numa->source, (unsigned long long)(*unnamed / KIB));
    bytes[0] += *unnamed;
    for (unsigned node = 0; node < numa->node_count && n < sizeof(line); node++)
        n += ksnprintf(line + n, sizeof(line) - n, " node%u=%u,%llu", node,
                       cpuset_count(&sched_topology()->node_cpus[node]),
                       (unsigned long long)(bytes[node] / MIB));
    kprintf("nodes: count=%u by=%s%s: CPUs, MB\n", numa->node_count,
            numa->source ? numa->source : "none", line);
}

void quirks_print(const char *prefix)
{
    char text[160];

    for (const struct arch_quirk *q = arch_quirks; q->name; q++) {
        if (q->is_so(text, sizeof(text)))
            kprintf("%s name=%s%s\n", prefix, q->name, text);
    }
}
