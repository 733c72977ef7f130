/*
 * Reads ACPI tables into struct platform, which device trees fill, too (ACPI Specification 6.4,
 * 5.2.9 FADT, 5.2.12 MADT, 5.2.24 GTDT, 5.2.29 PPTT; Microsoft's Serial Port Console Redirection
 * Table, 1.07).
 */
#include "kernel/firmware/acpi_platform.h"

/* ---- MADT: a reader for each kind of entry --------------------------------------------------- */

enum { MADT_GICC = 11, MADT_GICD, MADT_MSI_FRAME, MADT_GICR, MADT_ITS };
enum { GIC_V2 = 2, GIC_V3 = 3, GIC_V4 = 4 };
enum { CPU_ENABLED = 1, FRAME_SPIS_GIVEN = 1 };
enum { FIRST_PRIVATE = 16, FIRST_SHARED = 32 };
enum { GICC_SPE = 78, GICC_SIZE_WITH_SPE = 80 }; /* since ACPI 6.3 */

/* Sizes that the tables do not contain, because the architecture fixes them (IHI 0048, 4.1; IHI
 * 0069, 12.8, 12.10 and 12.18). */
#define GICD_V2_SIZE (4 * KIB)
#define GICD_V3_SIZE (64 * KIB)
#define GICC_SIZE    (8 * KIB)
#define GICR_SIZE    (128 * KIB)
#define ITS_SIZE     (128 * KIB)
#define FRAME_SIZE   (4 * KIB)

static void add_redist(struct platform *p, paddr_t base, uint64_t size)
{
    if (base && size && base + size > base && p->gic.redist_count < PLATFORM_REDISTS_MAX)
        p->gic.redist[p->gic.redist_count++] = (struct platform_region){base, size};
}

/* Takes private interrupts only: the table has an entry for each CPU, so a shared interrupt could
 * not be told from those of other CPUs. */
static void take_private(uint64_t irq, uint32_t *out)
{
    if (irq >= FIRST_PRIVATE && irq < FIRST_SHARED)
        *out = (uint32_t)irq;
}

static void read_gicc_spe(const uint8_t *e, struct platform *p)
{
    take_private(acpi_number(e + GICC_SPE, 2), &p->spe_irq);
}

static void read_gicc(const uint8_t *e, struct platform *p)
{
    paddr_t interface = acpi_number(e + 32, 8);
    struct platform_cpu *cpu = platform_add_cpu(p, acpi_number(e + 68, 8) & MPIDR_FIELDS);

    if (!cpu)
        return;
    cpu->uid = (uint32_t)acpi_number(e + 8, 4);
    cpu->enabled = acpi_number(e + 12, 4) & CPU_ENABLED;
    take_private(acpi_number(e + 20, 4), &p->pmu_irq);
    if (interface)
        p->gic.cpu_interface = (struct platform_region){interface, GICC_SIZE};
}

/* Adds the redistributor of a CPU's entry, for machines where no region lists redistributors. */
static void read_gicc_redist(const uint8_t *e, struct platform *p)
{
    if (acpi_number(e + 12, 4) & CPU_ENABLED)
        add_redist(p, acpi_number(e + 60, 8), GICR_SIZE);
}

static void read_gicd(const uint8_t *e, struct platform *p)
{
    p->gic.distributor.base = acpi_number(e + 8, 8);
    p->gic.version = e[20];
}

static void read_msi_frame(const uint8_t *e, struct platform *p)
{
    if (p->gic.frame_count == PLATFORM_MSI_MAX)
        return;
    struct platform_frame *f = &p->gic.frame[p->gic.frame_count++];
    *f = (struct platform_frame){.region = {acpi_number(e + 8, 8), FRAME_SIZE}};
    if (acpi_number(e + 16, 4) & FRAME_SPIS_GIVEN) {
        f->spis = (uint32_t)acpi_number(e + 20, 2);
        f->first_spi = (uint32_t)acpi_number(e + 22, 2);
    }
}

static void read_gicr(const uint8_t *e, struct platform *p)
{
    add_redist(p, acpi_number(e + 4, 8), acpi_number(e + 12, 4));
}

static void read_its(const uint8_t *e, struct platform *p)
{
    if (p->gic.its_count < PLATFORM_MSI_MAX)
        p->gic.its[p->gic.its_count++] = (struct platform_its){
            .region = {acpi_number(e + 8, 8), ITS_SIZE},
            .id = (uint32_t)acpi_number(e + 4, 4),
        };
}

struct kind {
    uint8_t type, size; /* size: the minimum that contains the fields read */
    void (*take_entry)(const uint8_t *entry, struct platform *p);
};
static const struct kind kinds[] = {
    {MADT_GICC, 76, read_gicc},
    {MADT_GICD, 21, read_gicd},
    {MADT_MSI_FRAME, 24, read_msi_frame},
    {MADT_GICR, 16, read_gicr},
    {MADT_ITS, 16, read_its},
    {MADT_GICC, GICC_SIZE_WITH_SPE, read_gicc_spe},
    {0},
};
static const struct kind redists_of_cpus[] = {{MADT_GICC, 76, read_gicc_redist}, {0}};

static void read_entries(const struct acpi_table *madt, const struct kind *kind_table,
                         struct platform *p)
{
    struct acpi_entry e;

    for (uint32_t pos = 0; acpi_madt_next(madt, &pos, &e);) {
        for (const struct kind *k = kind_table; k->take_entry; k++) {
            if (k->type == e.type && k->size <= e.size)
                k->take_entry(e.data, p);
        }
    }
}

static void read_madt(const struct acpi_table *madt, struct platform *p)
{
    struct platform_gic *gic = &p->gic;

    read_entries(madt, kinds, p);
    if (!gic->redist_count)
        read_entries(madt, redists_of_cpus, p);
    if (!gic->distributor.base)
        gic->version = 0;
    else if (gic->version < GIC_V2 || gic->version > GIC_V4)
        gic->version = gic->redist_count ? GIC_V3 : GIC_V2; /* version 0: detect it */
    gic->distributor.size = gic->version == GIC_V2 ? GICD_V2_SIZE : GICD_V3_SIZE;
}

/* ---- GTDT, SPCR, FADT ------------------------------------------------------------------------ */

static void read_gtdt(const struct acpi_table *gtdt, struct platform *p)
{
    p->timer.physical_irq = (uint32_t)acpi_field(gtdt, 56, 4);
    p->timer.virtual_irq = (uint32_t)acpi_field(gtdt, 64, 4);
}

static void read_spcr(const struct acpi_table *spcr, struct platform *p)
{
    enum {
        SPCR_PL011 = 0x03,
        SPCR_SBSA_32 = 0x0d,
        SPCR_SBSA = 0x0e,
        GAS_MEMORY = 0,
        INTERRUPT_GIC = 8
    };
    uint64_t kind = acpi_field(spcr, 36, 1), base = acpi_field(spcr, 44, 8);

    if ((kind != SPCR_PL011 && kind != SPCR_SBSA_32 && kind != SPCR_SBSA) || !base ||
        acpi_field(spcr, 40, 1) != GAS_MEMORY)
        return;
    p->uart.kind = UART_PL011;
    p->uart.base = base;
    if (acpi_field(spcr, 52, 1) & INTERRUPT_GIC)
        p->uart.irq = (uint32_t)acpi_field(spcr, 54, 4);
}

static void read_fadt(const struct acpi_table *fadt, struct platform *p)
{
    enum { PSCI_COMPLIANT = 1, PSCI_USE_HVC = 2 };
    uint64_t flags = acpi_field(fadt, 129, 2);

    if (flags & PSCI_COMPLIANT)
        p->psci = flags & PSCI_USE_HVC ? PSCI_HVC : PSCI_SMC;
}

/* ---- PPTT: nodes refer to their parents by offsets in the table ------------------------------ */

enum { PPTT_NODES = 36, PPTT_PROCESSOR = 0, PPTT_NODE_SIZE = 20, PPTT_DEPTH_MAX = 16 };
enum { NODE_FLAGS = 4, NODE_PARENT = 8, NODE_UID = 12 };
enum { IS_PACKAGE = 1, HAS_UID = 2, IS_THREAD = 4, IS_LEAF = 8 };

static bool is_node(const struct acpi_table *pptt, uint32_t at)
{
    return at >= PPTT_NODES && (uint64_t)at + PPTT_NODE_SIZE <= pptt->size &&
           pptt->data[at] == PPTT_PROCESSOR && pptt->data[at + 1] >= PPTT_NODE_SIZE;
}

/* Numbers nodes from 1 on, with gaps, in fewer bits than their offsets need. */
static uint32_t number_of(uint32_t at)
{
    return at / PPTT_NODE_SIZE;
}

/* Returns the package of a node: the node itself, or the nearest parent that is a package, or the
 * root. */
static uint32_t package_of(const struct acpi_table *pptt, uint32_t at)
{
    for (unsigned depth = 0; depth < PPTT_DEPTH_MAX; depth++) {
        uint32_t parent = (uint32_t)acpi_field(pptt, at + NODE_PARENT, 4);
        if ((acpi_field(pptt, at + NODE_FLAGS, 4) & IS_PACKAGE) || !is_node(pptt, parent))
            break;
        at = parent;
    }
    return at;
}

static void place_cpu(const struct acpi_table *pptt, uint32_t at, struct platform *p)
{
    uint64_t flags = acpi_field(pptt, at + NODE_FLAGS, 4);
    uint32_t uid = (uint32_t)acpi_field(pptt, at + NODE_UID, 4);
    uint32_t parent = (uint32_t)acpi_field(pptt, at + NODE_PARENT, 4);
    bool thread = (flags & IS_THREAD) && is_node(pptt, parent);

    for (unsigned i = 0; i < p->cpu_count; i++) {
        struct platform_cpu *cpu = &p->cpu[i];
        if (cpu->uid != uid)
            continue;
        cpu->chip = number_of(package_of(pptt, at));
        cpu->core = number_of(thread ? parent : at);
        cpu->thread = thread ? number_of(at) : 0;
        return;
    }
}

/* Returns whether a node is a leaf, and so a CPU: groups of CPUs may have ids, too. Tables before
 * ACPI 6.3 do not mark leaves; there a leaf is a node that is no node's parent. */
static bool is_leaf(const struct acpi_table *pptt, uint32_t leaf)
{
    enum { REVISION = 8, REVISION_WITH_LEAVES = 2 };

    if (acpi_field(pptt, REVISION, 1) >= REVISION_WITH_LEAVES)
        return acpi_field(pptt, leaf + NODE_FLAGS, 4) & IS_LEAF;
    for (uint32_t at = PPTT_NODES; at + 2 <= pptt->size && pptt->data[at + 1] >= 2;
         at += pptt->data[at + 1]) {
        if (is_node(pptt, at) && acpi_field(pptt, at + NODE_PARENT, 4) == leaf)
            return false;
    }
    return true;
}

static void read_pptt(const struct acpi_table *pptt, struct platform *p)
{
    for (uint32_t at = PPTT_NODES; at + 2 <= pptt->size && pptt->data[at + 1] >= 2;
         at += pptt->data[at + 1]) {
        if (is_node(pptt, at) && (acpi_field(pptt, at + NODE_FLAGS, 4) & HAS_UID) &&
            is_leaf(pptt, at))
            place_cpu(pptt, at, p);
    }
    p->has_places = p->cpu_count;
    for (unsigned i = 0; i < p->cpu_count; i++)
        p->has_places = p->has_places && p->cpu[i].core; /* the number of a node: never 0 */
}

int acpi_platform(acpi_get_fn *get, struct platform *out)
{
    static const struct {
        char signature[5];
        void (*take_table)(const struct acpi_table *t, struct platform *p);
    } tables[] = {{"APIC", read_madt}, {"GTDT", read_gtdt}, {"SPCR", read_spcr},
                  {"FACP", read_fadt}, {"PPTT", read_pptt}, {"IORT", acpi_iort_read}};
    struct acpi_table t;

    memset(out, 0, sizeof(*out));
    out->source = "ACPI";
    int err = get("APIC", &t);
    for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++) {
        if (!get(tables[i].signature, &t))
            tables[i].take_table(&t, out);
    }
    return err;
}
