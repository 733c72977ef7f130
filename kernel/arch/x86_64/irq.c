/* Interrupts as the rest of the kernel sees them: controller start-up, inter-processor interrupts, the PMU's
 * message. */
#include "lapic.h"
#include "power.h"
#include "x86.h"
#include "kernel/arch/clock.h"
#include "kernel/cpu.h"
#include "kernel/printf.h"
#include "kernel/dev/acpi.h"

#define PIC1_COMMAND 0x20
#define PIC1_DATA    0x21
#define PIC2_COMMAND 0xa0
#define PIC2_DATA    0xa1

/* Message address and data (SDM vol. 3A, 10.11): physical destination, fixed, edge. */
#define MSI_ADDRESS     0xfee00000
#define MSI_DESTINATION 12
#define MSI_ID_MAX      255

/* Moves the legacy controllers' vectors away from the exceptions and masks every line (Intel 8259A data
 * sheet). */
static void pic_mask(void)
{
    static const struct {
        uint16_t port;
        uint8_t v;
    } sequence[] = {
        {PIC1_COMMAND, 0x11}, {PIC2_COMMAND, 0x11}, {PIC1_DATA, VEC_PIC}, {PIC2_DATA, VEC_PIC + 8},
        {PIC1_DATA, 4},       {PIC2_DATA, 2},       {PIC1_DATA, 1},       {PIC2_DATA, 1},
        {PIC1_DATA, 0xff},    {PIC2_DATA, 0xff},
    };

    for (size_t i = 0; i < ARRAY_SIZE(sequence); i++)
        outb(sequence[i].port, sequence[i].v);
}

int arch_init_irq(const struct boot_info *info)
{
    acpi_init(info);
    power_init();
    pic_mask();
    int err = lapic_init();
    if (err)
        return err;
    lapic_init_cpu();
    err = clock_init();
    if (err)
        return err;
    clock_init_cpu();
    return 0;
}

void arch_ipi_send(struct cpu *target, enum arch_ipi kind)
{
    static const uint8_t vectors[IPI_KINDS] = {
        [IPI_RESCHED] = VEC_RESCHED,
        [IPI_TLB] = VEC_TLB,
        [IPI_CALL] = VEC_CALL,
    };
    bool irq = arch_irq_save();

    if (kind == IPI_STOP) {
        /* An NMI reaches a CPU that spins with interrupts off. */
        __atomic_store_n(&target->arch.stop, true, __ATOMIC_RELEASE);
        lapic_send_nmi((uint32_t)target->hwid);
    } else {
        lapic_send((uint32_t)target->hwid, vectors[kind]);
    }
    arch_irq_restore(irq);
}

void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi)
{
    if (cpu->hwid > MSI_ID_MAX)
        panic("irq: CPU %u has APIC id %llu, out of the reach of message interrupts", cpu->index,
              (unsigned long long)cpu->hwid);
    msi->address = MSI_ADDRESS | cpu->hwid << MSI_DESTINATION;
    msi->data = VEC_PMU;
}
