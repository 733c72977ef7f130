/*
 * Reads CPUs, interrupt controller, timer, serial port and firmware interface of a device tree.
 * Each kind of node is a row of the table at the end: its compatible names, and the function that
 * reads it (Linux bindings, Documentation/devicetree).
 */
#include "kernel/firmware/devtree.h"
#include "kernel/firmware/devtree_read.h"
#include <libfdt.h>

static void read_gic_v2(const void *dtb, int node, void *arg)
{
    struct platform_gic *gic = &((struct platform *)arg)->gic;

    if (gic->version || devtree_reg(dtb, node, 0, &gic->distributor) ||
        devtree_reg(dtb, node, 1, &gic->cpu_interface))
        return;
    gic->version = 2;
}

static void read_gic_v3(const void *dtb, int node, void *arg)
{
    struct platform_gic *gic = &((struct platform *)arg)->gic;
    uint32_t regions = devtree_u32(dtb, node, "#redistributor-regions", 1);

    if (gic->version || devtree_reg(dtb, node, 0, &gic->distributor))
        return;
    gic->redist_stride = devtree_u32(dtb, node, "redistributor-stride", 0);
    while (gic->redist_count < MIN(regions, (uint32_t)PLATFORM_REDISTS_MAX) &&
           !devtree_reg(dtb, node, 1 + gic->redist_count, &gic->redist[gic->redist_count]))
        gic->redist_count++;
    if (gic->redist_count)
        gic->version = 3;
}

static void read_frame(const void *dtb, int node, void *arg)
{
    struct platform_gic *gic = &((struct platform *)arg)->gic;
    struct platform_frame *f = &gic->frame[gic->frame_count];

    if (gic->frame_count == PLATFORM_MSI_MAX || devtree_reg(dtb, node, 0, &f->region))
        return;
    f->first_spi = devtree_u32(dtb, node, "arm,msi-base-spi", 0);
    f->spis = devtree_u32(dtb, node, "arm,msi-num-spis", 0);
    gic->frame_count++;
}

static void read_its(const void *dtb, int node, void *arg)
{
    struct platform_gic *gic = &((struct platform *)arg)->gic;
    struct platform_its *its = &gic->its[gic->its_count];

    if (gic->its_count == PLATFORM_MSI_MAX || devtree_reg(dtb, node, 0, &its->region))
        return;
    its->id = fdt_get_phandle(dtb, node);
    gic->its_count++;
}

/* Reads interrupts, which are in this order: secure physical, physical, virtual, hypervisor. */
static void read_timer(const void *dtb, int node, void *arg)
{
    struct platform_timer *timer = &((struct platform *)arg)->timer;

    timer->physical_irq = devtree_gic_irq(dtb, node, 1);
    timer->virtual_irq = devtree_gic_irq(dtb, node, 2);
    timer->hz = devtree_u32(dtb, node, "clock-frequency", 0);
}

static void read_pmu(const void *dtb, int node, void *arg)
{
    ((struct platform *)arg)->pmu_irq = devtree_gic_irq(dtb, node, 0);
}

static void read_spe(const void *dtb, int node, void *arg)
{
    ((struct platform *)arg)->spe_irq = devtree_gic_irq(dtb, node, 0);
}

static void read_psci(const void *dtb, int node, void *arg)
{
    const char *method = devtree_string(dtb, node, "method");
    struct platform *p = arg;

    if (method)
        p->psci = !strcmp(method, "hvc") ? PSCI_HVC : !strcmp(method, "smc") ? PSCI_SMC : PSCI_NONE;
}

/* Reads "msi-map" (requester, controller, device there, count), or "msi-parent", which maps all
 * requesters to devices of the same numbers. */
static void read_msi_map(const void *dtb, int node, struct platform *p)
{
    enum { CELLS = 4, REQUESTERS = 0x10000 };
    int bytes;
    const fdt32_t *c = fdt_getprop(dtb, node, "msi-map", &bytes);
    uint32_t parent = devtree_u32(dtb, node, "msi-parent", 0);

    p->msi_requester_mask = devtree_u32(dtb, node, "msi-map-mask", REQUESTERS - 1);
    p->msi_mapped = c || parent;
    for (int i = 0; c && i < bytes / (int)sizeof(*c) / CELLS; i++, c += CELLS)
        platform_add_msi_map(p, (struct platform_msi_map){.first = fdt32_ld(c),
                                                          .count = fdt32_ld(c + 3),
                                                          .device = fdt32_ld(c + 2),
                                                          .its = fdt32_ld(c + 1)});
    if (!c && parent)
        platform_add_msi_map(p, (struct platform_msi_map){.count = REQUESTERS, .its = parent});
}

static void read_pci(const void *dtb, int node, void *arg)
{
    struct pci_host *pci = &((struct platform *)arg)->pci;
    struct platform_region ecam;
    struct devtree_range range;
    int bytes;
    const fdt32_t *buses = fdt_getprop(dtb, node, "bus-range", &bytes);

    if (pci->ecam.size || devtree_u32(dtb, node, "linux,pci-domain", 0) ||
        devtree_reg(dtb, node, 0, &ecam))
        return;
    read_msi_map(dtb, node, arg);
    bool given = buses && bytes == 2 * (int)sizeof(*buses);
    *pci = (struct pci_host){
        .ecam = {ecam.base, ecam.size},
        .first_bus = given ? MIN(fdt32_ld(buses), 0xffu) : 0,
        .last_bus = given ? MIN(fdt32_ld(buses + 1), 0xffu) : 0xff,
    };
    for (unsigned n = 0;
         pci->window_count < PCI_WINDOWS_MAX && !devtree_pci_range(dtb, node, n, &range); n++) {
        if (range.memory)
            pci->window[pci->window_count++] =
                (struct pci_window){range.cpu.base, range.bus, range.cpu.size};
    }
}

static const char *const uarts[] = {"arm,pl011", "arm,sbsa-uart", NULL};

static void read_uart(const void *dtb, int node, void *arg)
{
    struct platform_uart *uart = &((struct platform *)arg)->uart;
    struct platform_region r;

    if (uart->kind || devtree_reg(dtb, node, 0, &r))
        return;
    *uart = (struct platform_uart){UART_PL011, r.base, devtree_gic_irq(dtb, node, 0)};
}

static void read_rtc(const void *dtb, int node, void *arg)
{
    struct platform_region r;

    if (!devtree_reg(dtb, node, 0, &r))
        ((struct platform *)arg)->rtc = r.base;
}

/* Returns the node that "stdout-path" names, by path or alias, with options behind a colon; or a
 * negative number. */
static int stdout_node(const void *dtb)
{
    int chosen = fdt_path_offset(dtb, "/chosen");
    const char *path = chosen < 0 ? NULL : devtree_string(dtb, chosen, "stdout-path");

    if (!path)
        return -1;
    const char *colon = strchr(path, ':');
    return fdt_path_offset_namelen(dtb, path, colon ? (int)(colon - path) : (int)strlen(path));
}

static const struct {
    const char *const names[5];
    void (*read)(const void *dtb, int node, void *platform);
} kinds[] = {
    {{"arm,gic-v3"}, read_gic_v3},
    {{"arm,gic-400", "arm,cortex-a15-gic", "arm,cortex-a9-gic", "arm,cortex-a7-gic"}, read_gic_v2},
    {{"arm,gic-v2m-frame"}, read_frame},
    {{"arm,gic-v3-its"}, read_its},
    {{"arm,armv8-timer", "arm,armv7-timer"}, read_timer},
    {{"arm,armv8-pmuv3"}, read_pmu},
    {{"arm,statistical-profiling-extension-v1"}, read_spe},
    {{"arm,psci-1.0", "arm,psci-0.2"}, read_psci},
    {{"pci-host-ecam-generic"}, read_pci},
    {{"arm,pl031"}, read_rtc},
};

/* ---- CPUs ------------------------------------------------------------------------------------ */

static void read_cpus(const void *dtb, struct platform *p)
{
    int node, cpus = fdt_path_offset(dtb, "/cpus");

    if (cpus < 0)
        return;
    fdt_for_each_subnode(node, dtb, cpus)
    {
        const char *type = devtree_string(dtb, node, "device_type");
        uint64_t hwid;
        if (!type || strcmp(type, "cpu") || devtree_reg_id(dtb, node, &hwid))
            continue;
        struct platform_cpu *cpu = platform_add_cpu(p, hwid & MPIDR_FIELDS);
        if (!cpu)
            continue;
        cpu->uid = fdt_get_phandle(dtb, node);
        cpu->enabled = devtree_in_use(dtb, node);
    }
}

/* A walk through cpu-map, with nodes called socketN, clusterN, coreN and threadN. */
struct map_walk {
    struct platform *platform;
    uint32_t chips, cores; /* numbers of those begun so far */
    unsigned placed;
};

static bool called(const void *dtb, int node, const char *what)
{
    const char *name = fdt_get_name(dtb, node, NULL);

    return name && !strncmp(name, what, strlen(what));
}

static void place_cpu(const void *dtb, int node, struct map_walk *w, uint32_t thread)
{
    uint32_t phandle = devtree_u32(dtb, node, "cpu", 0);

    for (unsigned i = 0; phandle && i < w->platform->cpu_count; i++) {
        struct platform_cpu *cpu = &w->platform->cpu[i];
        if (cpu->uid != phandle)
            continue;
        cpu->chip = w->chips;
        cpu->core = w->cores;
        cpu->thread = thread;
        w->placed++;
        return;
    }
}

static void place_core(const void *dtb, int core, struct map_walk *w)
{
    uint32_t thread = 0;
    int node;

    place_cpu(dtb, core, w, thread);
    fdt_for_each_subnode(node, dtb, core)
    {
        if (called(dtb, node, "thread"))
            place_cpu(dtb, node, w, thread++);
    }
    w->cores++;
}

/* Reads the places of CPUs. Clusters may be nested; without sockets all of them are one chip.
 * Iterative; the depth is the tree's. */
static void read_cpu_map(const void *dtb, struct platform *p)
{
    struct map_walk w = {.platform = p};
    int depth = 0, map = fdt_path_offset(dtb, "/cpus/cpu-map");
    bool socket = false;

    if (map < 0)
        return;
    for (int node = fdt_next_node(dtb, map, &depth); node >= 0 && depth > 0;
         node = fdt_next_node(dtb, node, &depth)) {
        if (depth == 1 && called(dtb, node, "socket")) {
            w.chips += socket;
            socket = true;
        } else if (called(dtb, node, "core")) {
            place_core(dtb, node, &w);
        }
    }
    p->has_places = w.placed && w.placed == p->cpu_count;
}

static void read_model(const void *dtb, struct platform *p)
{
    const char *model = devtree_string(dtb, 0, "model");

    for (size_t i = 0; model && model[i] && i + 1 < sizeof(p->model); i++)
        p->model[i] = model[i] >= ' ' && model[i] <= '~' ? model[i] : '?';
}

int devtree_platform(const void *dtb, struct platform *out)
{
    memset(out, 0, sizeof(*out));
    out->source = "device tree";
    if (devtree_check(dtb, devtree_size(dtb)))
        return -EINVAL;
    read_model(dtb, out);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        devtree_each(dtb, kinds[i].names, kinds[i].read, out);
    int console = stdout_node(dtb);
    if (console >= 0 && devtree_compatible(dtb, console, uarts))
        read_uart(dtb, console, out);
    devtree_each(dtb, uarts, read_uart, out);
    read_cpus(dtb, out);
    read_cpu_map(dtb, out);
    return 0;
}
