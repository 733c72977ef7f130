/*
 * The page-access tracker of the simulated multiprocessor: the registers of
 * kernel/dev/model/machine.h, one page per CPU (struct machine_path).
 *
 * Every access to a register costs cycles, so frequent operations are one store: a change of the
 * space, a drain.
 */
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"

_Static_assert(offsetof(struct page_ring, lost) == offsetof(struct machine_path_ring, lost) &&
                   sizeof(struct page_ring) == sizeof(struct machine_path_ring),
               "the ring is laid out as the machine has it");
_Static_assert(PAGE_ENTRY_PAGE == MACHINE_PATH_PAGE && PAGE_ENTRY_WRITE == MACHINE_PATH_WRITE &&
                   (int)PAGE_ENTRY_SPACE_SHIFT == (int)MACHINE_PATH_SPACE_SHIFT &&
                   (int)PAGE_SPACES == (int)MACHINE_PATH_SPACES,
               "so is an entry");

static volatile struct machine_path *registers[CPU_MAX];

static volatile struct machine_path *unit_here(void)
{
    return registers[this_cpu()->index];
}

static int32_t command(enum machine_path_command c)
{
    arch_io_write32(&unit_here()->command, c);
    return (int32_t)arch_io_read32(&unit_here()->result);
}

static int model_probe(struct path_caps *caps)
{
    const volatile struct machine_id *id = machine_id();

    if (!id || !(id->caps & MACHINE_CAP_PATH))
        return -ENODEV;
    *caps = (struct path_caps){
        .pab_min = MACHINE_PATH_PAB_MIN,
        .pab_max = MACHINE_PATH_PAB_MAX,
        .filter_entries = MACHINE_PATH_FILTER_MAX,
        .log_entries = MACHINE_PATH_LOG_MAX,
        .sample_shift_max = MACHINE_PATH_SAMPLE_SHIFT_MAX,
    };
    return 0;
}

static int model_cpu_init(const struct cpu *cpu, struct page_ring *ring, uint64_t entries,
                          bool *interrupts)
{
    volatile struct machine_path *regs = machine_path(cpu->index);
    struct arch_msi msi = {0};

    registers[cpu->index] = regs;
    *interrupts = !arch_path_msi((struct cpu *)cpu, &msi);
    arch_io_write64(&regs->irq_address, msi.address);
    arch_io_write32(&regs->irq_data, msi.data);
    arch_io_write64(&regs->ring_base, virt_to_phys(ring));
    arch_io_write32(&regs->ring_entries, (uint32_t)entries);
    arch_io_write32(&regs->pab_entries, 0);
    return command(MACHINE_PATH_CMD_CONFIGURE) ? -EIO : 0;
}

static void configure_unit(const struct path_config *c)
{
    volatile struct machine_path *regs = unit_here();

    arch_io_write32(&regs->space, 0);
    arch_io_write32(&regs->sample_shift, 0);
    arch_io_write32(&regs->pab_entries, c->pab_entries);
    arch_io_write32(&regs->filter_entries, c->filter_entries);
    arch_io_write32(&regs->log_entries, MACHINE_PATH_LOG_MAX);
    arch_io_write32(&regs->threshold, c->threshold);
    arch_io_write32(&regs->spill, c->spill);
    if (command(MACHINE_PATH_CMD_CONFIGURE))
        panic("path: the simulated machine refuses a PAB of %u, a filter of %u, a threshold of %u",
              c->pab_entries, c->filter_entries, c->threshold);
}

static void model_start(const struct path_config *c)
{
    configure_unit(c);
}

static void model_sample(unsigned shift)
{
    arch_io_write32(&unit_here()->sample_shift, shift);
}

static void model_enter(uint16_t space)
{
    arch_io_write32(&unit_here()->space, space);
}

static void model_drain(void)
{
    arch_io_write32(&unit_here()->command, MACHINE_PATH_CMD_DRAIN);
}

static void write_operand(uint16_t space, vaddr_t va)
{
    arch_io_write64(&unit_here()->operand,
                    (uint64_t)space << MACHINE_PATH_SPACE_SHIFT | va >> PAGE_SHIFT);
}

static enum page_buffered model_buffered(uint16_t space, vaddr_t va)
{
    write_operand(space, va);
    unsigned is = command(MACHINE_PATH_CMD_PROBE);
    return is & MACHINE_PATH_IS_USED   ? BUFFER_USED
           : is & MACHINE_PATH_IS_KEPT ? BUFFER_KEPT
                                       : BUFFER_NOT_KEPT;
}

static void model_forget(uint16_t space, vaddr_t va)
{
    write_operand(space, va);
    arch_io_write32(&unit_here()->command, MACHINE_PATH_CMD_FORGET_PAGE);
}

static void model_forget_space(uint16_t space)
{
    write_operand(space, 0);
    arch_io_write32(&unit_here()->command, MACHINE_PATH_CMD_FORGET_SPACE);
}

static uint32_t model_stop(void)
{
    uint32_t had = arch_io_read32(&unit_here()->waiting);

    configure_unit(&(struct path_config){0});
    return had;
}

const struct path_ops path_model = {
    .name = "model",
    .probe = model_probe,
    .cpu_init = model_cpu_init,
    .start = model_start,
    .sample = model_sample,
    .enter = model_enter,
    .drain = model_drain,
    .buffered = model_buffered,
    .forget = model_forget,
    .forget_space = model_forget_space,
    .stop = model_stop,
};
