/* /sys: what programs read of it to learn where CPUs, caches and memory are. */
#include "kernel/fs/sys.h"
#include "hpm/count.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/firmware/numa.h"
#include "kernel/fs/pseudo.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "linux_abi.h"
#include "sched/sched.h"
#include <linux/magic.h>

/* ---- Sets of CPUs and nodes ------------------------------------------------------------------ */

typedef bool is_member(uint32_t i, uint32_t arg);

/* Prints members as a list: "0-3,8". */
static void print_list(struct pseudo_text *t, uint32_t count, is_member *has, uint32_t arg)
{
    const char *comma = "";

    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = i;
        if (!has(i, arg))
            continue;
        while (last + 1 < count && has(last + 1, arg))
            last++;
        pseudo_print(t, last > i ? "%s%u-%u" : "%s%u", comma, i, last);
        comma = ",";
        i = last;
    }
    pseudo_print(t, "\n");
}

/* Prints members as a mask: words of 32 bits in hexadecimal, the highest first. */
static void print_mask(struct pseudo_text *t, uint32_t count, is_member *has, uint32_t arg)
{
    for (uint32_t word = (count + 31) / 32; word-- > 0;) {
        uint32_t bits = 0, here = MIN(count - word * 32, 32u);
        for (uint32_t i = 0; i < here; i++)
            bits |= (uint32_t)has(word * 32 + i, arg) << i;
        pseudo_print(t, "%0*x%s", (int)(here + 3) / 4, bits, word ? "," : "\n");
    }
}

static bool is_any(UNUSED uint32_t i, UNUSED uint32_t arg)
{
    return true;
}

static bool shares_core(uint32_t i, uint32_t cpu)
{
    const struct sched_topology *s = sched_topology();

    return s->of[i].core == s->of[cpu].core;
}

static bool shares_chip(uint32_t i, uint32_t cpu)
{
    const struct sched_topology *s = sched_topology();

    return s->of[i].chip == s->of[cpu].chip;
}

static bool is_in_node(uint32_t cpu, uint32_t node)
{
    return sched_topology()->of[cpu].node == node;
}

static bool has_cpus(uint32_t node, UNUSED uint32_t arg)
{
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        if (is_in_node(cpu, node))
            return true;
    return false;
}

static uint32_t node_count(void)
{
    return MAX(arch_numa()->node_count, 1u);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static void print_cpus(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    print_list(t, cpu_count(), is_any, 0);
}

static void print_last_cpu(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "%u\n", cpu_count() - 1);
}

static void print_core(struct pseudo_text *t, const uint32_t *n)
{
    pseudo_print(t, "%u\n", cpus[n[0]].place.core);
}

static void print_chip(struct pseudo_text *t, const uint32_t *n)
{
    pseudo_print(t, "%u\n", sched_topology()->of[n[0]].chip);
}

static void print_core_mask(struct pseudo_text *t, const uint32_t *n)
{
    print_mask(t, cpu_count(), shares_core, n[0]);
}

static void print_core_list(struct pseudo_text *t, const uint32_t *n)
{
    print_list(t, cpu_count(), shares_core, n[0]);
}

static void print_chip_mask(struct pseudo_text *t, const uint32_t *n)
{
    print_mask(t, cpu_count(), shares_chip, n[0]);
}

static void print_chip_list(struct pseudo_text *t, const uint32_t *n)
{
    print_list(t, cpu_count(), shares_chip, n[0]);
}

/* Returns the CPU's word of that name, as of an id register; 0: it has none. */
static uint64_t identity_of(const char *name)
{
    struct arch_word words[ARCH_WORDS_MAX];
    unsigned n = arch_identity(words);

    for (unsigned i = 0; i < n; i++)
        if (text_same(words[i].name, name, text_length(name)))
            return words[i].value;
    return 0;
}

static bool next_identified(UNUSED const uint32_t *n, uint32_t *at)
{
    return identity_of("midr_el1") && *at < cpu_count();
}

static void print_midr(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "0x%016llx\n", (unsigned long long)identity_of("midr_el1"));
}

static void print_revidr(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "0x%016llx\n", (unsigned long long)identity_of("revidr_el1"));
}

/* ---- Caches ---------------------------------------------------------------------------------- */

struct cache {
    struct arch_cache is;
    is_member *shared; /* NULL: by hardware ids */
};

/* Describes the nth cache of the simulated machine, which the CPU does not know. */
static bool simulated_cache(const volatile struct machine_id *m, uint32_t index, struct cache *out)
{
    const struct cache caches[] = {
        {{1, ARCH_CACHE_DATA, m->l1d_bytes, m->l1d_ways, m->line_bytes, 0}, shares_core},
        {{1, ARCH_CACHE_CODE, m->l1i_bytes, m->l1i_ways, m->line_bytes, 0}, shares_core},
        {{2, ARCH_CACHE_BOTH, m->l2_bytes, m->l2_ways, m->line_bytes, 0}, shares_chip},
        {{3, ARCH_CACHE_BOTH, m->l3_bytes, m->l3_ways, m->line_bytes, 0}, shares_chip},
    };

    if (index >= ARRAY_SIZE(caches) || !caches[index].is.bytes)
        return false;
    *out = caches[index];
    return true;
}

/* Describes the nth cache of a CPU, if it is known. */
static bool find_cache(uint32_t index, struct cache *out)
{
    const volatile struct machine_id *m = machine_id();

    if (m)
        return simulated_cache(m, index, out);
    *out = (struct cache){0};
    return arch_cache(index, &out->is);
}

/* A CPU in the low half of `arg`, and the bits of hardware ids in the high one. */
static bool shares_ids(uint32_t i, uint32_t arg)
{
    return cpus[i].hwid >> (arg >> 16) == cpus[arg & 0xffff].hwid >> (arg >> 16);
}

static is_member *sharing_of(const struct cache *c, uint32_t cpu, uint32_t *arg)
{
    *arg = c->shared ? cpu : c->is.id_bits << 16 | cpu;
    return c->shared ? c->shared : shares_ids;
}

static bool next_cache(UNUSED const uint32_t *n, uint32_t *at)
{
    struct cache c;

    return find_cache(*at, &c);
}

static void print_level(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;

    if (find_cache(n[1], &c))
        pseudo_print(t, "%u\n", c.is.level);
}

static void print_type(struct pseudo_text *t, const uint32_t *n)
{
    static const char *const names[] = {"Data", "Instruction", "Unified"};
    struct cache c;

    if (find_cache(n[1], &c))
        pseudo_print(t, "%s\n", names[c.is.kind]);
}

static void print_size(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;

    if (find_cache(n[1], &c))
        pseudo_print(t, "%uK\n", c.is.bytes / 1024);
}

static void print_line(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;

    if (find_cache(n[1], &c))
        pseudo_print(t, "%u\n", c.is.line);
}

static void print_ways(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;

    if (find_cache(n[1], &c))
        pseudo_print(t, "%u\n", c.is.ways);
}

static void print_sets(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;

    if (find_cache(n[1], &c) && c.is.line && c.is.ways)
        pseudo_print(t, "%u\n", c.is.bytes / c.is.line / c.is.ways);
}

/* The number of the cache among those of its level and type. */
static void print_cache_id(struct pseudo_text *t, const uint32_t *n)
{
    const struct sched_topology *s = sched_topology();
    struct cache c;

    if (!find_cache(n[1], &c))
        return;
    uint64_t id = !c.shared                 ? cpus[n[0]].hwid >> c.is.id_bits
                  : c.shared == shares_core ? s->of[n[0]].core
                                            : s->of[n[0]].chip;
    pseudo_print(t, "%llu\n", (unsigned long long)id);
}

static void print_cache_mask(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;
    uint32_t arg;

    if (find_cache(n[1], &c)) {
        is_member *shared = sharing_of(&c, n[0], &arg);
        print_mask(t, cpu_count(), shared, arg);
    }
}

static void print_cache_list(struct pseudo_text *t, const uint32_t *n)
{
    struct cache c;
    uint32_t arg;

    if (find_cache(n[1], &c)) {
        is_member *shared = sharing_of(&c, n[0], &arg);
        print_list(t, cpu_count(), shared, arg);
    }
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static bool next_cpu(UNUSED const uint32_t *n, uint32_t *at)
{
    return *at < cpu_count();
}

static bool next_node(UNUSED const uint32_t *n, uint32_t *at)
{
    return *at < node_count();
}

/* A CPU of the node n[0]. */
static bool next_node_cpu(const uint32_t *n, uint32_t *at)
{
    while (*at < cpu_count() && !is_in_node(*at, n[0]))
        ++*at;
    return *at < cpu_count();
}

/* The node of the CPU n[0]. */
static bool next_cpu_node(const uint32_t *n, uint32_t *at)
{
    uint32_t node = sched_topology()->of[n[0]].node;
    bool found = *at <= node;

    *at = node;
    return found;
}

static void print_nodes(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    print_list(t, node_count(), is_any, 0);
}

static void print_nodes_with_cpus(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    print_list(t, node_count(), has_cpus, 0);
}

static void print_node_mask(struct pseudo_text *t, const uint32_t *n)
{
    print_mask(t, cpu_count(), is_in_node, n[0]);
}

static void print_node_list(struct pseudo_text *t, const uint32_t *n)
{
    print_list(t, cpu_count(), is_in_node, n[0]);
}

struct node_sum {
    unsigned node;
    uint64_t bytes;
};

static void add_run(paddr_t base, paddr_t end, void *arg)
{
    struct node_sum *s = arg;

    if (s->node) {
        s->bytes += numa_bytes(arch_numa(), s->node, base, end);
        return;
    }
    /* Memory that firmware gives no node is of node 0. */
    s->bytes += end - base;
    for (uint32_t other = 1; other < node_count(); other++)
        s->bytes -= numa_bytes(arch_numa(), other, base, end);
}

static void print_node_memory(struct pseudo_text *t, const uint32_t *n)
{
    struct node_sum s = {.node = n[0]};
    struct frame_stats f;

    frame_each_run(add_run, &s);
    frame_stats(&f);
    uint64_t kb = s.bytes / KIB, free_kb = f.total_pages ? kb * f.free_pages / f.total_pages : 0;
    pseudo_print(t,
                 "Node %u MemTotal:       %8llu kB\nNode %u MemFree:        %8llu kB\n"
                 "Node %u MemUsed:        %8llu kB\n",
                 n[0], (unsigned long long)kb, n[0], (unsigned long long)free_kb, n[0],
                 (unsigned long long)(kb - free_kb));
}

/* Memory is in blocks, as where it can be added and taken out: of Linux's size. */
#define BLOCK_BYTES (128 * MIB)
struct block {
    paddr_t base;
    struct node_sum in; /* the node's part of the block */
};

static void add_run_of_block(paddr_t base, paddr_t end, void *arg)
{
    struct block *b = arg;

    base = MAX(base, b->base);
    end = MIN(end, b->base + BLOCK_BYTES);
    if (base < end)
        add_run(base, end, &b->in);
}

static void find_end(UNUSED paddr_t base, paddr_t end, void *arg)
{
    paddr_t *highest = arg;

    *highest = MAX(*highest, end);
}

/* A block of which node n[0] has a part. */
static bool next_block(const uint32_t *n, uint32_t *at)
{
    paddr_t highest = 0;

    frame_each_run(find_end, &highest);
    for (; (paddr_t)*at * BLOCK_BYTES < highest; ++*at) {
        struct block b = {(paddr_t)*at * BLOCK_BYTES, {.node = n[0]}};
        frame_each_run(add_run_of_block, &b);
        if (b.in.bytes)
            return true;
    }
    return false;
}

static void print_block_bytes(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "%llx\n", (unsigned long long)BLOCK_BYTES);
}

/* As Linux says where firmware says nothing. */
static void print_distances(struct pseudo_text *t, const uint32_t *n)
{
    for (uint32_t i = 0; i < node_count(); i++)
        pseudo_print(t, "%s%u", i ? " " : "", i == n[0] ? 10 : 20);
    pseudo_print(t, "\n");
}

static void print_cpu_link(struct pseudo_text *t, const uint32_t *n)
{
    pseudo_print(t, "../../cpu/cpu%u", n[1]);
}

static void print_block_link(struct pseudo_text *t, const uint32_t *n)
{
    pseudo_print(t, "../../memory/memory%u", n[1]);
}

/* A block of any node. */
static bool next_any_block(UNUSED const uint32_t *n, uint32_t *at)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t node = 0; node < node_count(); node++) {
        uint32_t block = *at;
        if (next_block(&node, &block))
            first = MIN(first, block);
    }
    *at = first;
    return first != UINT32_MAX;
}

static void print_node_link(struct pseudo_text *t, const uint32_t *n)
{
    pseudo_print(t, "../../node/node%u", n[1]);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* A PMU, and one that samples accesses. */
static uint32_t has_pmu(void)
{
    return (hpm_caps()->present ? PSEUDO_MAYBE : 0) |
           (hpm_caps()->can_sample ? PSEUDO_MAYBE_OTHER : 0);
}

#define CPU      "devices/system/cpu/"
#define TOPOLOGY CPU "cpu%c/topology/"
#define IDENTITY CPU "cpu%r/regs/identification/"
#define CACHE    CPU "cpu%c/cache/index%i/"
#define NODE     "devices/system/node/"
#define MEMORY   "devices/system/memory/"
#define PMUS     "bus/event_source/devices/"
#define PMU      "devices/" PERF_PMU_NAME "/"
#define R        (S_IFREG | 0444)

static const struct pseudo_row rows[] = {
    {CPU "online", R, print_cpus, NULL, {NULL}},
    {CPU "possible", R, print_cpus, NULL, {NULL}},
    {CPU "present", R, print_cpus, NULL, {NULL}},
    {CPU "offline", R, NULL, "\n", {NULL}},
    {CPU "isolated", R, NULL, "\n", {NULL}},
    {CPU "kernel_max", R, print_last_cpu, NULL, {NULL}},
    {TOPOLOGY "core_id", R, print_core, NULL, {NULL}},
    {TOPOLOGY "physical_package_id", R, print_chip, NULL, {NULL}},
    {TOPOLOGY "thread_siblings", R, print_core_mask, NULL, {NULL}},
    {TOPOLOGY "thread_siblings_list", R, print_core_list, NULL, {NULL}},
    {TOPOLOGY "core_cpus", R, print_core_mask, NULL, {NULL}},
    {TOPOLOGY "core_cpus_list", R, print_core_list, NULL, {NULL}},
    {TOPOLOGY "core_siblings", R, print_chip_mask, NULL, {NULL}},
    {TOPOLOGY "core_siblings_list", R, print_chip_list, NULL, {NULL}},
    {TOPOLOGY "package_cpus", R, print_chip_mask, NULL, {NULL}},
    {TOPOLOGY "package_cpus_list", R, print_chip_list, NULL, {NULL}},
    {IDENTITY "midr_el1", R, print_midr, NULL, {NULL}},
    {IDENTITY "revidr_el1", R, print_revidr, NULL, {NULL}},
    {CACHE "level", R, print_level, NULL, {NULL}},
    {CACHE "type", R, print_type, NULL, {NULL}},
    {CACHE "size", R, print_size, NULL, {NULL}},
    {CACHE "coherency_line_size", R, print_line, NULL, {NULL}},
    {CACHE "ways_of_associativity", R, print_ways, NULL, {NULL}},
    {CACHE "number_of_sets", R, print_sets, NULL, {NULL}},
    {CACHE "physical_line_partition", R, NULL, "1\n", {NULL}},
    {CACHE "id", R, print_cache_id, NULL, {NULL}},
    {CACHE "shared_cpu_map", R, print_cache_mask, NULL, {NULL}},
    {CACHE "shared_cpu_list", R, print_cache_list, NULL, {NULL}},
    {CPU "cpu%c/node%m", S_IFLNK | 0777, print_node_link, NULL, {NULL}},
    {NODE "online", R, print_nodes, NULL, {NULL}},
    {NODE "possible", R, print_nodes, NULL, {NULL}},
    {NODE "has_normal_memory", R, print_nodes, NULL, {NULL}},
    {NODE "has_memory", R, print_nodes, NULL, {NULL}},
    {NODE "has_cpu", R, print_nodes_with_cpus, NULL, {NULL}},
    {NODE "node%n/cpumap", R, print_node_mask, NULL, {NULL}},
    {NODE "node%n/cpulist", R, print_node_list, NULL, {NULL}},
    {NODE "node%n/meminfo", R, print_node_memory, NULL, {NULL}},
    {NODE "node%n/distance", R, print_distances, NULL, {NULL}},
    {NODE "node%n/cpu%d", S_IFLNK | 0777, print_cpu_link, NULL, {NULL}},
    {NODE "node%n/memory%b", S_IFLNK | 0777, print_block_link, NULL, {NULL}},
    {MEMORY "block_size_bytes", R, print_block_bytes, NULL, {NULL}},
    {MEMORY "memory%a/online", R, NULL, "1\n", {NULL}},
    {MEMORY "memory%a/state", R, NULL, "online\n", {NULL}},
    {"devices/software/type", R, NULL, "1\n", {NULL}},
    {PMUS "software", S_IFLNK | 0777, NULL, "../../../devices/software", {NULL}},
    {PMU "type", R | PSEUDO_MAYBE, NULL, TEXT_OF(PERF_PMU_TYPE) "\n", {NULL}},
    {PMU "cpus", R | PSEUDO_MAYBE, print_cpus, NULL, {NULL}},
    {PMU "rdpmc", R | PSEUDO_MAYBE, NULL, "0\n", {NULL}},
    {PMU "caps/max_precise", R | PSEUDO_MAYBE, NULL, "0\n", {NULL}},
    {PMU "format/event", R | PSEUDO_MAYBE, NULL, PERF_PMU_CODE "\n", {NULL}},
    {PMU "format/" PERF_PMU_MORE, R | PSEUDO_MAYBE, NULL, PERF_PMU_MORE_BITS "\n", {NULL}},
    {PMU "format/ldlat", R | PSEUDO_MAYBE_OTHER, NULL, PERF_LATENCY_BITS "\n", {NULL}},
    {PMU "events/mem-loads", R | PSEUDO_MAYBE_OTHER, NULL, PERF_LOADS_TEXT "\n", {NULL}},
    {PMU "events/mem-stores", R | PSEUDO_MAYBE_OTHER, NULL, PERF_STORES_TEXT "\n", {NULL}},
    {PMUS PERF_PMU_NAME,
     S_IFLNK | 0777 | PSEUDO_MAYBE,
     NULL,
     "../../../devices/" PERF_PMU_NAME,
     {NULL}},
    {"kernel/mm/transparent_hugepage/enabled", R, NULL, "always madvise [never]\n", {NULL}},
    {"kernel/mm/transparent_hugepage/hpage_pmd_size", R, NULL, "2097152\n", {NULL}},
    {0},
};

static const struct pseudo_variable variables[] = {
    {'c', next_cpu, NULL},        {'i', next_cache, NULL},     {'n', next_node, NULL},
    {'d', next_node_cpu, NULL},   {'m', next_cpu_node, NULL},  {'b', next_block, NULL},
    {'r', next_identified, NULL}, {'a', next_any_block, NULL}, {0},
};

struct pseudo sys_fs = {
    .mount = {.type = "sysfs", .magic = SYSFS_MAGIC, .read_only = true},
    .rows = rows,
    .variables = variables,
    .maybe = has_pmu,
};
