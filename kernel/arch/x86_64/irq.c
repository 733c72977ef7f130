/* Interrupts for the rest of the kernel: controller initialisation, inter-processor interrupts, the
 * PMU's message. */
#include "lapic.h"
#include "internal.h"
#include "x86.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/msi.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/firmware/acpi.h"

#define PIC1_COMMAND 0x20
#define PIC1_DATA    0x21
#define PIC2_COMMAND 0xa0
#define PIC2_DATA    0xa1

/* Message address and data (SDM vol. 3A, 10.11): physical destination, fixed, edge-triggered. */
#define MSI_ADDRESS     0xfee00000
#define MSI_DESTINATION 12
#define MSI_ID_MAX      254 /* 255: all CPUs */

/* Moves the legacy controllers' vectors away from the exceptions and masks all lines (Intel 8259A
 * data sheet). */
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

static int compose(const struct cpu *cpu, unsigned vector, struct arch_msi *msi)
{
    if (cpu->hwid > MSI_ID_MAX)
        return -ERANGE;
    msi->address = MSI_ADDRESS | cpu->hwid << MSI_DESTINATION;
    msi->data = vector;
    return 0;
}

void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi)
{
    if (compose(cpu, VEC_PMU, msi))
        panic("irq: CPU %u has APIC id %llu, out of the reach of message interrupts", cpu->index,
              (unsigned long long)cpu->hwid);
}

int arch_path_msi(struct cpu *cpu, struct arch_msi *msi)
{
    return compose(cpu, VEC_PATH, msi) ? -ENOTSUP : 0;
}

/* Each message has a vector of its own on all CPUs; the requester does not matter. */
static int bind(unsigned n, UNUSED uint32_t requester, const struct cpu *target,
                struct arch_msi *out)
{
    return compose(target, VEC_MSI + n, out);
}

static int move(unsigned n, UNUSED const struct cpu *from, const struct cpu *to,
                struct arch_msi *out)
{
    return compose(to, VEC_MSI + n, out);
}

static void raise(unsigned n, const struct cpu *target)
{
    lapic_send((uint32_t)target->hwid, (uint8_t)(VEC_MSI + n));
}

static void unbind(UNUSED unsigned n, UNUSED const struct cpu *target)
{
}

static const struct msi_ops lapic_messages = {
    .name = "local-APIC",
    .bind = bind,
    .move = move,
    .raise = raise,
    .unbind = unbind,
};

int arch_init_irq(const struct boot_info *info, UNUSED arch_alloc_fn *alloc)
{
    acpi_init(info);
    power_init();
    pic_mask();
    int err = lapic_init();
    if (err)
        return err;
    lapic_init_cpu();
    msi_init(&lapic_messages, VEC_TIMER - VEC_MSI);
    err = clock_init();
    if (err)
        return err;
    clock_init_cpu();
    return 0;
}
