/*
 * Any bytes as memory with ACPI tables in it: the parser stays inside, and what it returns is
 * inside, too. Checksums are made right where the RSDP and the tables behind it stand, or no input
 * would get past them.
 */
#include <stdlib.h>
#include "kernel/firmware/acpi_numa.h"
#include "kernel/firmware/acpi_platform.h"

#define WINDOW_BASE 0x1000
#define WINDOW_MAX  4096

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static uint8_t window[WINDOW_MAX];
static size_t window_size;

static void seal(uint8_t *p, size_t size, size_t sum_at)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + p[i]);
    p[sum_at] = (uint8_t)(p[sum_at] - sum);
}

/* Each look at a whole table finds it with a right checksum; a copy ends where the table ends, for
 * the sanitizer. */
static const void *map(void *ctx, paddr_t pa, uint64_t size)
{
    (void)ctx;
    if (pa < WINDOW_BASE || pa - WINDOW_BASE > window_size ||
        size > window_size - (pa - WINDOW_BASE))
        return NULL;
    uint8_t *p = window + (pa - WINDOW_BASE);
    if (size > 36)
        seal(p, size, 9);
    return p;
}

static const struct acpi_memory memory = {.map = map, .end = (paddr_t)1 << 40};

#define COPIES_MAX 16
static uint8_t *copies[COPIES_MAX];
static unsigned copy_count;

/* As above, of exactly the table's size; good until free_copies. */
static int get_copy(const char signature[4], struct acpi_table *out)
{
    int err = acpi_find(&memory, WINDOW_BASE, signature, out);

    if (err)
        return err;
    if (copy_count == COPIES_MAX)
        abort();
    uint8_t *copy = copies[copy_count++] = malloc(out->size);
    memcpy(copy, out->data, out->size);
    out->data = copy;
    return 0;
}

static void free_copies(void)
{
    while (copy_count)
        free(copies[--copy_count]);
}

/* All tables are the input itself, which so gets to their readers without a way to be found. */
static int get_raw(UNUSED const char signature[4], struct acpi_table *out)
{
    if (copy_count == COPIES_MAX)
        abort();
    uint8_t *copy = copies[copy_count++] = malloc(window_size);
    memcpy(copy, window, window_size);
    *out = (struct acpi_table){copy, (uint32_t)window_size};
    return 0;
}

static void check_numa(const struct numa *n)
{
    uint64_t bytes = 0;

    if (!n->node_count || n->node_count > NUMA_NODES_MAX || n->cpu_count > NUMA_CPUS_MAX ||
        n->range_count > NUMA_RANGES_MAX)
        abort();
    for (unsigned i = 0; i < n->cpu_count; i++) {
        if (n->cpu[i].node >= n->node_count)
            abort();
    }
    for (unsigned i = 0; i < n->range_count; i++) {
        if (n->range[i].node >= n->node_count || (i && n->range[i].base < n->range[i - 1].base))
            abort();
    }
    for (unsigned node = 0; node < n->node_count; node++) {
        if (__builtin_add_overflow(bytes, numa_bytes(n, node, 0, UINT64_MAX), &bytes))
            abort(); /* something is two nodes' */
    }
}

static void walk(void)
{
    static const char signatures[][5] = {"APIC", "MCFG", "FACP", "HPET", "SRAT", "SLIT"};
    struct acpi_table t, dsdt;
    struct acpi_cpu cpu;
    struct acpi_ecam ecam;
    struct acpi_entry entry;
    uint16_t port, value;
    paddr_t base;

    for (size_t i = 0; i < ARRAY_SIZE(signatures); i++) {
        if (acpi_find(&memory, WINDOW_BASE, signatures[i], &t))
            continue;
        if (t.data < window || t.data + t.size > window + window_size)
            abort();
        uint8_t *copy = malloc(t.size);
        memcpy(copy, t.data, t.size);
        struct acpi_table own = {copy, t.size};
        for (uint32_t pos = 0; acpi_madt_next_cpu(&own, &pos, &cpu);)
            ;
        for (uint32_t pos = 0; acpi_mcfg_next(&own, &pos, &ecam);)
            ;
        for (uint32_t pos = 0; acpi_srat_next(&own, &pos, &entry);)
            ;
        acpi_slit_check(&own);
        acpi_hpet(&own, &base);
        acpi_pm_timer(&own, &port);
        acpi_soft_off(&own, &own, &port, &value);
        if (!acpi_find(&memory, WINDOW_BASE, "DSDT", &dsdt))
            acpi_soft_off(&own, &dsdt, &port, &value);
        free(copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct platform platform;
    static struct numa numa;

    if (size < 36)
        return 0;
    window_size = MIN(size, (size_t)WINDOW_MAX);
    memcpy(window, data, window_size);
    acpi_numa(get_raw, &numa);
    check_numa(&numa);
    memcpy(window, "RSD PTR ", 8);
    seal(window, 20, 8);
    seal(window, 36, 32);
    walk();
    acpi_platform(get_copy, &platform);
    if (platform.cpu_count > PLATFORM_CPUS_MAX ||
        platform.gic.redist_count > PLATFORM_REDISTS_MAX ||
        platform.gic.frame_count > PLATFORM_MSI_MAX || platform.gic.its_count > PLATFORM_MSI_MAX)
        abort();
    acpi_numa(get_copy, &numa);
    check_numa(&numa);
    free_copies();
    return 0;
}
