/* See pci_bar.h. */
#include "pci_bar.h"
#include "kernel/core/printf.h"

enum {
    REG_COMMAND = 0x04,
    REG_HEADER = 0x0c, /* header type in bits 16-23 */
    REG_BAR0 = 0x10,
};
#define COMMAND_MEMORY 0x2
#define COMMAND_BITS   0xffffu /* bits of the status half are cleared by writing 1 */
#define HEADER_TYPE(v) ((v) >> 16 & 0x7f)
#define HEADER_BRIDGE  1
#define BAR_IO         0x1
#define BAR_TYPE(v)    ((v) >> 1 & 3)
#define BAR_64BIT      2
#define BAR_FLAGS      0xfu
#define ALL_ONES       0xffffffff
#define BARS           6
#define BARS_BRIDGE    2
#define BELOW_4GB      ((uint64_t)1 << 32)

/* Writes all ones; the bits that stay 0 tell the size. */
static uint32_t probe(const struct pci_device *d, unsigned reg)
{
    uint32_t old = pci_read(d, reg);

    pci_write(d, reg, ALL_ONES);
    uint32_t mask = pci_read(d, reg);
    pci_write(d, reg, old);
    return mask;
}

int pci_bar_get(const struct pci_device *d, unsigned n, struct pci_bar *out)
{
    unsigned reg = REG_BAR0 + 4 * n;
    unsigned bars = HEADER_TYPE(pci_read(d, REG_HEADER)) == HEADER_BRIDGE ? BARS_BRIDGE : BARS;
    uint32_t low = n < bars ? pci_read(d, reg) : BAR_IO;
    bool wide = BAR_TYPE(low) == BAR_64BIT;

    if ((low & BAR_IO) || low == ALL_ONES || (wide && n + 1 == bars))
        return -ENOENT;
    uint32_t command = pci_read(d, REG_COMMAND) & COMMAND_BITS;
    pci_write(d, REG_COMMAND, command & ~COMMAND_MEMORY);
    uint64_t low_mask = probe(d, reg) & ~BAR_FLAGS, high_mask = wide ? probe(d, reg + 4) : ALL_ONES;
    pci_write(d, REG_COMMAND, command);
    *out = (struct pci_bar){
        .bus = (low & ~BAR_FLAGS) | (wide ? (uint64_t)pci_read(d, reg + 4) << 32 : 0),
        .size = ~(high_mask << 32 | low_mask) + 1,
        .wide = wide,
    };
    return is_pow2(out->size) && (wide || low_mask) ? 0 : -ENOENT;
}

/* The windows, and how far each is in use. */
struct places {
    const struct pci_host *host;
    uint64_t next[PCI_WINDOWS_MAX]; /* bus addresses */
};

static void each_bar(const struct pci_device *d, struct places *places,
                     void (*visit)(struct places *, const struct pci_device *, unsigned n,
                                   const struct pci_bar *))
{
    struct pci_bar bar;

    for (unsigned n = 0; n < BARS; n++) {
        if (pci_bar_get(d, n, &bar))
            continue;
        visit(places, d, n, &bar);
        n += bar.wide;
    }
}

static void keep_bar(struct places *p, UNUSED const struct pci_device *d, UNUSED unsigned n,
                     const struct pci_bar *bar)
{
    for (unsigned i = 0; bar->bus && i < p->host->window_count; i++) {
        const struct pci_window *w = &p->host->window[i];
        if (bar->bus - w->bus < w->size)
            p->next[i] = MAX(p->next[i], bar->bus + bar->size);
    }
}

/* Returns the highest address that the BAR can hold, which leaves room for BARs that can only hold
 * low ones. */
static uint64_t place(struct places *p, const struct pci_bar *bar)
{
    uint64_t room = MAX(bar->size, (uint64_t)PAGE_SIZE), best = 0;
    unsigned from = 0;

    for (unsigned i = 0; i < p->host->window_count; i++) {
        const struct pci_window *w = &p->host->window[i];
        uint64_t at = ALIGN_UP(p->next[i], room), end = w->bus + w->size;
        if (at < p->next[i] || at >= end || room > end - at ||
            (!bar->wide && at + room > BELOW_4GB) || at < best)
            continue;
        best = at;
        from = i;
    }
    if (best)
        p->next[from] = best + room;
    return best;
}

static void assign_bar(struct places *p, const struct pci_device *d, unsigned n,
                       const struct pci_bar *bar)
{
    unsigned reg = REG_BAR0 + 4 * n;

    if (bar->bus)
        return;
    uint64_t at = place(p, bar);
    if (!at) {
        kprintf("pci: %02x:%02x.%u: no room for the %lu bytes of BAR %u\n", d->bus, d->slot,
                d->function, bar->size, n);
        return;
    }
    uint32_t command = pci_read(d, REG_COMMAND) & COMMAND_BITS;
    pci_write(d, REG_COMMAND, command & ~COMMAND_MEMORY);
    pci_write(d, reg, (uint32_t)at);
    if (bar->wide)
        pci_write(d, reg + 4, (uint32_t)(at >> 32));
    pci_write(d, REG_COMMAND, command);
}

static bool keep_device(const struct pci_device *d, void *places)
{
    each_bar(d, places, keep_bar);
    return true;
}

static bool assign_device(const struct pci_device *d, void *arg)
{
    struct places *places = arg;

    if (d->bus == places->host->first_bus)
        each_bar(d, places, assign_bar);
    return true;
}

void pci_bar_assign(const struct pci_host *host)
{
    struct places places = {.host = host};

    for (unsigned i = 0; i < host->window_count; i++)
        places.next[i] = MAX(host->window[i].bus, (uint64_t)PAGE_SIZE); /* address 0 means none */
    pci_walk(keep_device, &places);
    pci_walk(assign_device, &places);
}
