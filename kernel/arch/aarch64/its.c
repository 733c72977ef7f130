/*
 * See its.h. A collection is a CPU and has its index; LPI_FIRST + n is message n. Each device has
 * one interrupt translation table for all its events. One command at a time; each is waited for.
 */
#include "its.h"
#include "cache.h"
#include "gic.h"
#include "gicv3.h"
#include "its_layout.h"
#include "lpi.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

enum {
    GITS_CTLR = 0x0,
    GITS_TYPER = 0x8,
    GITS_CBASER = 0x80,
    GITS_CWRITER = 0x88,
    GITS_CREADR = 0x90
};
enum { GITS_BASER = 0x100, BASERS = 8, GITS_TRANSLATER = 0x10040, GICR_TYPER = 0x8 };
#define CTLR_ENABLED    1u
#define CTLR_QUIESCENT  (1u << 31)
#define CREADR_STALLED  1
#define CREADR_OFFSET   0xfffe0
#define QUEUE_ORDER     4 /* 64 KB, which is also the required alignment */
#define QUEUE_BYTES     (PAGE_SIZE << QUEUE_ORDER)
#define TABLE_ORDER_MAX 10
#define DEVICES_MAX     32
#define EVENT_BITS      6 /* a device has at most 1 << EVENT_BITS messages */
#define COLLECTION_BITS 6
#define ENTRIES_ALIGN   256
#define SPINS_MAX       10000000

_Static_assert(1 << COLLECTION_BITS >= CPU_MAX, "a collection for each CPU");
_Static_assert(ARCH_MSI_MAX <= LPI_COUNT, "an LPI for each message");

static struct its {
    char *regs;
    paddr_t base;
    uint64_t typer;
    char *queue;
    uint64_t write;   /* offset of the next command */
    bool past_caches; /* the ITS does not snoop the CPUs' caches */
    bool broken;
    struct its_table devices, collections;
    uint64_t *device_table;
    uint64_t cpus; /* a bit for each CPU with a mapped collection */
} services[PLATFORM_MSI_MAX];
static unsigned service_count, services_running;

static struct device {
    struct its *its;
    uint32_t id;
    uint64_t events; /* a bit for each event in use */
} devices[DEVICES_MAX];
static unsigned device_count;

static struct {
    struct device *device;
    uint32_t event;
} messages[ARCH_MSI_MAX];

static const struct platform *platform;
static arch_alloc_fn *alloc_frames;

/* ---- Memory that the ITS reads --------------------------------------------------------------- */

/* Writes memory back for the ITS. DSB: before the register write that makes the ITS read it. */
static void publish(const struct its *s, const void *p, size_t size)
{
    if (s->past_caches)
        cache_clean(p, size);
    __asm__ volatile("dsb ishst" : : : "memory");
}

static unsigned order_of(uint64_t bytes)
{
    return bytes <= PAGE_SIZE ? 0 : log2_floor((bytes - 1) >> PAGE_SHIFT) + 1;
}

/* Allocates a zeroed table, aligned to its size. */
static void *alloc_table(uint64_t bytes, paddr_t *pa)
{
    unsigned order = order_of(bytes);

    if (alloc_frames(order, pa))
        return NULL;
    void *table = memset(phys_to_virt(*pa), 0, PAGE_SIZE << order);
    cache_clean(table, PAGE_SIZE << order);
    return table;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static int send_command(struct its *s, struct its_command c)
{
    if (s->broken)
        return -EIO;
    memcpy(s->queue + s->write, &c, sizeof(c));
    publish(s, s->queue + s->write, sizeof(c));
    s->write = (s->write + sizeof(c)) % QUEUE_BYTES;
    arch_io_write64(s->regs + GITS_CWRITER, s->write);
    for (unsigned spins = 0; spins < SPINS_MAX; spins++) {
        uint64_t read = arch_io_read64(s->regs + GITS_CREADR);
        if (read & CREADR_STALLED)
            break;
        if ((read & CREADR_OFFSET) == s->write)
            return 0;
        arch_cpu_relax();
    }
    s->broken = true;
    kprintf("its: command %#x is not carried out: no more messages by the ITS at %#llx\n",
            (unsigned)c.word[0] & 0xff, (unsigned long long)s->base);
    return -EIO;
}

static uint64_t redist_of(const struct its *s, const struct cpu *cpu)
{
    const struct redist *r = gicv3_redist(cpu->index);

    return its_redist(s->typer, r->base, arch_io_read64(r->regs + GICR_TYPER));
}

/* Sends commands up to the first failure. SYNC waits until their effects on the target CPU are
 * complete. */
static int send_all(struct its *s, const struct its_command *commands, unsigned n,
                    const struct cpu *target)
{
    int err = 0;

    for (unsigned i = 0; !err && i < n; i++)
        err = send_command(s, commands[i]);
    return err ? err : send_command(s, its_sync(redist_of(s, target)));
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* Makes the table have an entry for the device: with two levels, allocates the page of the
 * second. */
static int make_room(struct its *s, uint32_t id)
{
    paddr_t page;

    if (id >= s->devices.ids)
        return -ERANGE;
    if (!s->devices.indirect)
        return 0;
    uint64_t *entry = &s->device_table[id / (s->devices.page_bytes / s->devices.entry_bytes)];
    if (*entry)
        return 0;
    if (!alloc_table(s->devices.page_bytes, &page))
        return -ENOMEM;
    *entry = its_level1_entry(page);
    publish(s, entry, sizeof(*entry));
    return 0;
}

static unsigned event_bits(const struct its *s)
{
    return MIN((unsigned)EVENT_BITS, its_event_bits(s->typer));
}

static int add_device(struct its *s, uint32_t id, struct device **out)
{
    paddr_t entries;

    if (device_count == DEVICES_MAX)
        return -ENOSPC;
    int err = make_room(s, id);
    if (err)
        return err;
    uint64_t bytes = (uint64_t)its_entry_bytes(s->typer) << event_bits(s);
    if (!alloc_table(MAX(bytes, (uint64_t)ENTRIES_ALIGN), &entries))
        return -ENOMEM;
    err = send_command(s, its_mapd(id, event_bits(s), entries));
    if (err)
        return err;
    *out = &devices[device_count++];
    **out = (struct device){.its = s, .id = id};
    return 0;
}

static int find_device(uint32_t requester, struct device **out)
{
    unsigned its;
    uint32_t id;

    if (platform_msi_device(platform, requester, &id, &its) || !services[its].regs)
        return -ENODEV;
    for (unsigned i = 0; i < device_count; i++) {
        *out = &devices[i];
        if (devices[i].its == &services[its] && devices[i].id == id)
            return 0;
    }
    return add_device(&services[its], id, out);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool reaches(const struct its *s, const struct cpu *cpu)
{
    return s->cpus >> cpu->index & 1;
}

static void arrived(uint32_t intid, UNUSED struct arch_frame *frame)
{
    msi_arrived(intid - LPI_FIRST);
}

static int bind(unsigned n, uint32_t requester, const struct cpu *target, struct arch_msi *out)
{
    struct device *d;

    int err = find_device(requester, &d);
    if (err)
        return err;
    if (!reaches(d->its, target))
        return -ERANGE;
    uint32_t event = ~d->events ? (uint32_t)__builtin_ctzll(~d->events) : 1u << EVENT_BITS;
    if (event >= 1u << event_bits(d->its))
        return -ENOSPC;
    lpi_enable(n, true);
    const struct its_command commands[] = {
        its_mapti(d->id, event, LPI_FIRST + n, (uint16_t)target->index),
        its_inv(d->id, event), /* the ITS may have cached that the LPI was off */
    };
    err = send_all(d->its, commands, ARRAY_SIZE(commands), target);
    if (err)
        return err;
    d->events |= (uint64_t)1 << event;
    messages[n].device = d;
    messages[n].event = event;
    *out = (struct arch_msi){d->its->base + GITS_TRANSLATER, event};
    return 0;
}

static int move(unsigned n, const struct cpu *from, const struct cpu *to,
                UNUSED struct arch_msi *out)
{
    const struct device *d = messages[n].device;

    if (!reaches(d->its, to))
        return -ERANGE;
    const struct its_command commands[] = {its_movi(d->id, messages[n].event, (uint16_t)to->index),
                                           its_sync(redist_of(d->its, from))};
    return send_all(d->its, commands, ARRAY_SIZE(commands), to);
}

static void raise(unsigned n, const struct cpu *target)
{
    const struct its_command raise_it = its_int(messages[n].device->id, messages[n].event);

    send_all(messages[n].device->its, &raise_it, 1, target);
}

static void unbind(unsigned n, const struct cpu *target)
{
    struct device *d = messages[n].device;
    const struct its_command commands[] = {its_inv(d->id, messages[n].event),
                                           its_discard(d->id, messages[n].event)};

    lpi_enable(n, false);
    send_all(d->its, commands, ARRAY_SIZE(commands), target);
    d->events &= ~((uint64_t)1 << messages[n].event);
}

const struct msi_ops its_messages = {
    .name = "ITS",
    .bind = bind,
    .move = move,
    .raise = raise,
    .unbind = unbind,
};

/* ---- Start ----------------------------------------------------------------------------------- */

/* Writes a register that holds an address, with shareability if it accepts that. Returns false if
 * it does not accept the rest. */
static bool set_base(struct its *s, char *reg, uint64_t value)
{
    arch_io_write64(reg, value | ITS_BASE_SHARED);
    if (!(arch_io_read64(reg) & ITS_BASE_SHARE_MASK)) {
        s->past_caches = true;
        arch_io_write64(reg, value | ITS_BASE_UNCACHED);
    }
    return !((arch_io_read64(reg) ^ value) & ~(ITS_BASER_CACHE | ITS_BASER_RO));
}

/* Finds the largest page size, and two levels, if the register accepts them. */
static void plan_table(char *reg, unsigned id_bits, unsigned *page, struct its_table *out)
{
    uint64_t entry_bytes = its_table_entry_bytes(arch_io_read64(reg)), taken;

    *page = 3;
    do {
        --*page;
        arch_io_write64(reg, ITS_BASER_INDIRECT | ITS_BASER_PAGE(*page));
        taken = arch_io_read64(reg);
    } while (*page && (taken & ITS_BASER_PAGE(3)) != ITS_BASER_PAGE(*page));
    its_table_plan(out, id_bits, entry_bytes, *page, taken & ITS_BASER_INDIRECT,
                   PAGE_SIZE << TABLE_ORDER_MAX);
}

static int set_table(struct its *s, char *reg, unsigned id_bits, struct its_table *table,
                     uint64_t **memory)
{
    unsigned page;
    paddr_t pa;

    plan_table(reg, id_bits, &page, table);
    *memory = alloc_table(table->bytes, &pa);
    if (!*memory)
        return -ENOMEM;
    uint64_t value = pa | ITS_BASER_VALID | ITS_BASER_PAGE(page) |
                     (table->indirect ? ITS_BASER_INDIRECT : 0) |
                     (table->bytes / table->page_bytes - 1);
    return set_base(s, reg, value) ? 0 : -EIO;
}

static int set_tables(struct its *s)
{
    uint64_t *memory;
    int err = 0;

    for (unsigned n = 0; !err && n < BASERS; n++) {
        char *reg = s->regs + GITS_BASER + 8 * n;
        switch (its_table_type(arch_io_read64(reg))) {
        case ITS_TABLE_DEVICES:
            err = set_table(s, reg, its_device_bits(s->typer), &s->devices, &s->device_table);
            break;
        case ITS_TABLE_COLLECTIONS:
            err = set_table(s, reg, COLLECTION_BITS, &s->collections, &memory);
            break;
        }
    }
    return err;
}

static int set_queue(struct its *s)
{
    paddr_t pa;

    s->queue = alloc_table(QUEUE_BYTES, &pa);
    if (!s->queue)
        return -ENOMEM;
    if (!set_base(s, s->regs + GITS_CBASER, pa | ITS_BASER_VALID | (QUEUE_BYTES / PAGE_SIZE - 1)))
        return -EIO;
    arch_io_write64(s->regs + GITS_CWRITER, 0);
    return 0;
}

static bool switch_off(const struct its *s)
{
    unsigned spins = 0;

    arch_io_write32(s->regs + GITS_CTLR, arch_io_read32(s->regs + GITS_CTLR) & ~CTLR_ENABLED);
    while (!(arch_io_read32(s->regs + GITS_CTLR) & CTLR_QUIESCENT) && ++spins < SPINS_MAX)
        arch_cpu_relax();
    return spins < SPINS_MAX;
}

static int start_its(struct its *s, const struct platform_region *region)
{
    *s = (struct its){.base = region->base};
    char *regs = arch_map_device(region->base, region->size);
    if (!regs)
        return -ENOMEM;
    s->regs = regs;
    s->typer = arch_io_read64(regs + GITS_TYPER);
    int err = its_has_physical(s->typer) && switch_off(s) ? set_tables(s) : -EIO;
    if (!err && !s->devices.ids)
        err = -EIO; /* only tables in memory are supported */
    if (!err)
        err = set_queue(s);
    if (!err)
        arch_io_write32(regs + GITS_CTLR, arch_io_read32(regs + GITS_CTLR) | CTLR_ENABLED);
    return err;
}

int its_init(const struct platform *p, arch_alloc_fn *alloc, unsigned *count)
{
    platform = p;
    alloc_frames = alloc;
    if (p->gic.version < 3 || !p->gic.its_count)
        return -ENODEV;
    int err = lpi_init(alloc, count);
    if (err) {
        kprintf("its: %s\n",
                err == -ENOMEM ? "no memory for LPIs" : "this interrupt controller has no LPIs");
        return err;
    }
    for (; service_count < p->gic.its_count; service_count++) {
        struct its *s = &services[service_count];
        err = start_its(s, &p->gic.its[service_count].region);
        if (err) {
            kprintf("its: the one at %#llx cannot be used: error %d\n", (unsigned long long)s->base,
                    -err);
            s->regs = NULL;
        }
        services_running += !err;
    }
    if (!services_running)
        return -ENODEV;
    if (!p->msi_mapped)
        kprintf("its: event=unmapped: %s does not say which device a PCI function is: it is taken "
                "by its own number\n",
                p->source);
    if (p->msi_maps_ignored)
        kprintf("its: %u maps of PCI functions beyond the first %u are left alone\n",
                p->msi_maps_ignored, PLATFORM_MSI_MAPS);
    *count = MIN(*count, (unsigned)ARCH_MSI_MAX);
    gic_attach(LPI_FIRST, *count, arrived);
    return 0;
}

static void map_collection(struct its *s, const struct cpu *cpu)
{
    const struct its_command mapc = its_mapc((uint16_t)cpu->index, redist_of(s, cpu));

    if (cpu->index >= its_collections(s->typer, s->collections.ids))
        kprintf("its: the one at %#llx has no collection for CPU %u: its messages do not reach "
                "that CPU\n",
                (unsigned long long)s->base, cpu->index);
    else if (!send_all(s, &mapc, 1, cpu))
        s->cpus |= (uint64_t)1 << cpu->index;
}

void its_init_cpu(const struct cpu *cpu)
{
    if (!services_running || !lpi_init_cpu(gicv3_redist(cpu->index)))
        return;
    for (unsigned i = 0; i < service_count; i++) {
        if (services[i].regs)
            map_collection(&services[i], cpu);
    }
}
