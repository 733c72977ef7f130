/*
 * Tracker path: the hardware behind the TLB (hpm/path/path.h) logs pages that are not hot. Only
 * switching it is left to software.
 */
#include "hpm/path/path.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "mm/space.h"
#include "mm/track/track.h"
#include "mm/track/internal.h"

/* Entries of the unit's log that stay free for accesses made before the interrupt is taken. */
#define SLACK 16
/* Entries after which the unit interrupts: few enough that a delivery does not hold up the thread
 * for long, but many for one interrupt. */
#define SPILL 512

static const struct path_ops *hardware;
static struct path_caps caps;

static int probe_path(void)
{
    hardware = path_hardware(&caps);
    return hardware ? 0 : -ENODEV;
}

static int start_path(void)
{
    uint64_t pab = mem_pab;

    if (!is_pow2(pab) || pab < caps.pab_min || pab > caps.pab_max) {
        kprintf("tracker: event=refused argument=mem.pab reason=value: %llu is not accepted; the "
                "hardware's page access buffer has a power of two of entries from %u to %u\n",
                (unsigned long long)pab, caps.pab_min, caps.pab_max);
        return -EINVAL;
    }
    return path_hardware_start(&(struct path_config){
        .pab_entries = (uint32_t)pab,
        .filter_entries = caps.filter_entries,
        .threshold = caps.log_entries - SLACK,
        .spill = SPILL,
    });
}

static void watch_path(struct space *s, bool on)
{
    path_watch(s->number, on);
    if (on)
        return;
    bool irq = arch_irq_save();
    hardware->forget_space(s->number);
    arch_irq_restore(irq);
}

static enum page_buffered buffered_path(struct space *s, vaddr_t va)
{
    bool irq = arch_irq_save();
    enum page_buffered is = hardware->buffered(s->number, va);

    arch_irq_restore(irq);
    return is;
}

static bool hot_path(struct space *s, vaddr_t va)
{
    return buffered_path(s, va) == BUFFER_USED;
}

static void forget_path(struct space *s, vaddr_t va)
{
    bool irq = arch_irq_save();

    hardware->forget(s->number, va);
    arch_irq_restore(irq);
}

const struct tracker_ops track_path = {
    .name = "path",
    .lacks = "no such hardware",
    .hides = true,
    .probe = probe_path,
    .start = start_path,
    .stop = path_hardware_stop,
    .watch = watch_path,
    .hot = hot_path,
    .buffered = buffered_path,
    .forget = forget_path,
};
