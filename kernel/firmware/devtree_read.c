/* Reads properties (Devicetree Specification 0.4, 2.3 and 2.4) and GIC interrupts (Linux bindings
 * arm,gic and arm,gic-v3). */
#include "kernel/firmware/devtree_read.h"
#include <libfdt.h>

#define CELL      4
#define CELLS_MAX 2 /* cells of an address or size that the kernel reads as a number */
#define DEPTH_MAX 16

static uint64_t cells(const uint8_t *p, int n)
{
    uint64_t v = 0;

    for (; n > 0; n--, p += CELL)
        v = v << 32 | (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];
    return v;
}

bool devtree_in_use(const void *dtb, int node)
{
    const char *status = devtree_string(dtb, node, "status");

    return !fdt_getprop(dtb, node, "status", NULL) ||
           (status && (!strcmp(status, "okay") || !strcmp(status, "ok")));
}

bool devtree_compatible(const void *dtb, int node, const char *const *compatible)
{
    for (; *compatible; compatible++) {
        if (!fdt_node_check_compatible(dtb, node, *compatible))
            return true;
    }
    return false;
}

void devtree_each(const void *dtb, const char *const *compatible,
                  void (*visit)(const void *dtb, int node, void *arg), void *arg)
{
    for (int node = fdt_next_node(dtb, -1, NULL); node >= 0;
         node = fdt_next_node(dtb, node, NULL)) {
        if (devtree_compatible(dtb, node, compatible) && devtree_in_use(dtb, node))
            visit(dtb, node, arg);
    }
}

uint32_t devtree_u32(const void *dtb, int node, const char *name, uint32_t otherwise)
{
    int size;
    const uint8_t *p = fdt_getprop(dtb, node, name, &size);

    return p && size == CELL ? (uint32_t)cells(p, 1) : otherwise;
}

uint64_t devtree_u64(const void *dtb, int node, const char *name, uint64_t otherwise)
{
    int size;
    const uint8_t *p = fdt_getprop(dtb, node, name, &size);

    return p && (size == CELL || size == 2 * CELL) ? cells(p, size / CELL) : otherwise;
}

const char *devtree_string(const void *dtb, int node, const char *name)
{
    int size;
    const char *p = fdt_getprop(dtb, node, name, &size);

    return p && size > 0 && memchr(p, '\0', (size_t)size) ? p : NULL;
}

/* Returns the number of cells of an address below a node (Devicetree Specification 2.3.5). */
static int address_cells(const void *dtb, int node)
{
    return (int)MIN(devtree_u32(dtb, node, "#address-cells", 2), (uint32_t)CELLS_MAX + 1);
}

static int size_cells(const void *dtb, int node)
{
    return (int)MIN(devtree_u32(dtb, node, "#size-cells", 1), (uint32_t)CELLS_MAX + 1);
}

/* Translates an address on the bus below `parent` to the bus above. Returns false if the bus does
 * not pass it on. */
static bool translate(const void *dtb, int parent, int grandparent, uint64_t size,
                      uint64_t *address)
{
    int bytes, child = address_cells(dtb, parent), length = size_cells(dtb, parent);
    int above = address_cells(dtb, grandparent);
    const uint8_t *p = fdt_getprop(dtb, parent, "ranges", &bytes);

    if (!p || child < 1 || child > CELLS_MAX || length < 1 || length > CELLS_MAX || above < 1 ||
        above > CELLS_MAX)
        return false;
    if (!bytes)
        return true; /* empty: addresses are the same on both buses */
    for (int entry = (child + above + length) * CELL; bytes >= entry; bytes -= entry, p += entry) {
        uint64_t from = cells(p, child), room = cells(p + (child + above) * CELL, length);
        if (*address < from || *address - from >= room || size > room - (*address - from))
            continue;
        *address = cells(p + child * CELL, above) + (*address - from);
        return true;
    }
    return false;
}

/* Translates a region on the bus below `parent` to CPU addresses. Returns 0; -ENOENT: a bus does
 * not pass it on; -EINVAL: it wraps around. */
static int to_cpu(const void *dtb, int parent, struct platform_region *r)
{
    for (int depth = 0; parent > 0; depth++) {
        int above = fdt_parent_offset(dtb, parent);
        if (above < 0 || depth == DEPTH_MAX || !translate(dtb, parent, above, r->size, &r->base))
            return -ENOENT;
        parent = above;
    }
    return r->size && r->base + r->size > r->base ? 0 : -EINVAL;
}

int devtree_reg(const void *dtb, int node, unsigned n, struct platform_region *out)
{
    int parent = fdt_parent_offset(dtb, node), bytes;
    int address = parent < 0 ? 0 : address_cells(dtb, parent),
        length = parent < 0 ? 0 : size_cells(dtb, parent);
    const uint8_t *p = fdt_getprop(dtb, node, "reg", &bytes);

    if (!p || address < 1 || address > CELLS_MAX || length < 1 || length > CELLS_MAX)
        return -ENOENT;
    uint64_t entry = (uint64_t)(address + length) * CELL;
    if ((n + 1) * entry > (uint64_t)bytes)
        return -ENOENT;
    p += n * entry;
    *out = (struct platform_region){cells(p, address), cells(p + address * CELL, length)};
    return to_cpu(dtb, parent, out);
}

/* A PCI address: a cell with space code and flags, and 64 bits. */
#define PCI_CELLS     3
#define PCI_SPACE(hi) ((hi) >> 24 & 3)
#define PCI_MEMORY32  2

int devtree_pci_range(const void *dtb, int node, unsigned n, struct devtree_range *out)
{
    int bytes, parent = fdt_parent_offset(dtb, node);
    int above = parent < 0 ? 0 : address_cells(dtb, parent), length = size_cells(dtb, node);
    const uint8_t *p = fdt_getprop(dtb, node, "ranges", &bytes);

    if (!p || above < 1 || above > CELLS_MAX || length < 1 || length > CELLS_MAX)
        return -ENOENT;
    uint64_t entry = (uint64_t)(PCI_CELLS + above + length) * CELL;
    if ((n + 1) * entry > (uint64_t)bytes)
        return -ENOENT;
    p += n * entry;
    *out = (struct devtree_range){
        .bus = cells(p + CELL, PCI_CELLS - 1),
        .cpu = {cells(p + PCI_CELLS * CELL, above), cells(p + (PCI_CELLS + above) * CELL, length)},
    };
    out->memory = PCI_SPACE(cells(p, 1)) >= PCI_MEMORY32 && !to_cpu(dtb, parent, &out->cpu) &&
                  out->bus + out->cpu.size > out->bus;
    return 0;
}

int devtree_reg_id(const void *dtb, int node, uint64_t *out)
{
    int parent = fdt_parent_offset(dtb, node), bytes;
    int address = parent < 0 ? 0 : address_cells(dtb, parent);
    const uint8_t *p = fdt_getprop(dtb, node, "reg", &bytes);

    if (!p || address < 1 || address > CELLS_MAX || bytes < address * CELL)
        return -ENOENT;
    *out = cells(p, address);
    return 0;
}

/* Returns the interrupt controller of a node without "interrupts-extended": named by the node
 * itself or by its nearest parent that names one. */
static int interrupt_parent(const void *dtb, int node)
{
    for (int depth = 0; node >= 0 && depth < DEPTH_MAX; depth++) {
        uint32_t phandle = devtree_u32(dtb, node, "interrupt-parent", 0);
        if (phandle)
            return fdt_node_offset_by_phandle(dtb, phandle);
        node = fdt_parent_offset(dtb, node);
    }
    return -1;
}

/* Converts interrupt cells: kind (0 shared, 1 private), number within the kind, flags. */
static uint32_t gic_intid(const uint8_t *p)
{
    enum {
        SHARED = 0,
        PRIVATE = 1,
        FIRST_SHARED = 32,
        FIRST_PRIVATE = 16,
        SHARED_MAX = 988,
        PRIVATE_MAX = 16
    };
    uint64_t kind = cells(p, 1), number = cells(p + CELL, 1);

    if (kind == SHARED && number < SHARED_MAX)
        return (uint32_t)number + FIRST_SHARED;
    return kind == PRIVATE && number < PRIVATE_MAX ? (uint32_t)number + FIRST_PRIVATE : 0;
}

uint32_t devtree_gic_irq(const void *dtb, int node, unsigned n)
{
    enum { GIC_CELLS_MIN = 3, GIC_CELLS_MAX = 4 };
    int bytes, controller = -1;
    const uint8_t *p = fdt_getprop(dtb, node, "interrupts-extended", &bytes);
    bool extended = p;

    if (!extended) {
        p = fdt_getprop(dtb, node, "interrupts", &bytes);
        controller = interrupt_parent(dtb, node);
    }
    for (unsigned i = 0; p; i++) {
        if (extended) {
            if (bytes < CELL)
                return 0;
            controller = fdt_node_offset_by_phandle(dtb, (uint32_t)cells(p, 1));
            p += CELL;
            bytes -= CELL;
        }
        uint32_t width = controller < 0 ? 0 : devtree_u32(dtb, controller, "#interrupt-cells", 0);
        if (width < GIC_CELLS_MIN || width > GIC_CELLS_MAX || bytes < (int)width * CELL)
            return 0;
        if (i == n)
            return gic_intid(p);
        p += width * CELL;
        bytes -= (int)width * CELL;
    }
    return 0;
}
