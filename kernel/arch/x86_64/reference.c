/*
 * HPET (IA-PC HPET Specification 1.0a, 2.3), ACPI power-management timer (ACPI 4.8.3.3), and
 * channel 2 of the interval timer (Intel 8254 data sheet), each as a counter that counts up.
 */
#include "reference.h"
#include "x86.h"
#include "kernel/arch/arch.h"
#include "kernel/firmware/acpi.h"

#define FS_PER_S        ((uint64_t)1000000000000000)
#define HPET_PERIOD     0x004
#define HPET_CONFIG     0x010
#define HPET_COUNTER    0x0f0
#define HPET_ENABLE     1
#define HPET_SIZE       1024
#define HPET_PERIOD_MAX 100000000 /* the specification's limit, in femtoseconds */

static volatile uint8_t *hpet;

static volatile uint32_t *hpet_register(unsigned offset)
{
    return (volatile uint32_t *)(hpet + offset);
}

static bool hpet_probe(uint64_t *hz)
{
    struct acpi_table table;
    paddr_t base;

    if (!hpet && (acpi_table_get("HPET", &table) || acpi_hpet(&table, &base)))
        return false;
    hpet = hpet ? hpet : arch_map_device(base, HPET_SIZE);
    if (!hpet)
        return false;
    uint32_t period_fs = *hpet_register(HPET_PERIOD);
    if (!period_fs || period_fs > HPET_PERIOD_MAX)
        return false;
    *hpet_register(HPET_CONFIG) |= HPET_ENABLE;
    *hz = FS_PER_S / period_fs;
    return true;
}

static uint32_t hpet_read(void)
{
    return *hpet_register(HPET_COUNTER);
}

#define PM_TIMER_HZ 3579545

static uint16_t pm_timer_port;

static bool pm_timer_probe(uint64_t *hz)
{
    struct acpi_table table;

    *hz = PM_TIMER_HZ;
    return !acpi_table_get("FACP", &table) && !acpi_pm_timer(&table, &pm_timer_port);
}

static uint32_t pm_timer_read(void)
{
    return inl(pm_timer_port);
}

#define PIT_HZ       1193182
#define PIT_CHANNEL2 0x42
#define PIT_COMMAND  0x43
#define PIT_GATE     0x61
#define PIT_MODE2    0xb4 /* channel 2, low then high byte, rate generator */
#define PIT_LATCH2   0x80

static uint32_t pit_read(void)
{
    outb(PIT_COMMAND, PIT_LATCH2);
    uint32_t low = inb(PIT_CHANNEL2);
    return 0u - (low | (uint32_t)inb(PIT_CHANNEL2) << 8);
}

static bool pit_probe(uint64_t *hz)
{
    outb(PIT_GATE, (inb(PIT_GATE) & ~2u) | 1); /* gate on, speaker off */
    outb(PIT_COMMAND, PIT_MODE2);
    outb(PIT_CHANNEL2, 0);
    outb(PIT_CHANNEL2, 0);
    *hz = PIT_HZ;
    return true;
}

static const struct reference hpet_reference = {"HPET", hpet_probe, hpet_read, UINT32_MAX};
static const struct reference pm_timer_reference = {"ACPI-timer", pm_timer_probe, pm_timer_read,
                                                    0xffffff};
const struct reference pit_reference = {"PIT", pit_probe, pit_read, 0xffff};

const struct reference *const references[] = {&hpet_reference, &pm_timer_reference, &pit_reference,
                                              NULL};
