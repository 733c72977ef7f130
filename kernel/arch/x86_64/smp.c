/*
 * Starts the other CPUs: INIT, then STARTUP with the page of their first code (SDM vol. 3A, 8.4.4).
 * All get INIT at once; then they are started one after the other, because they share the three
 * argument words of the page.
 */
#include "cpu_init.h"
#include "lapic.h"
#include "internal.h"
#include "x86.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/cpus.h"
#include "kernel/arch/memory.h"
#include "kernel/core/printf.h"
#include "kernel/boot/boot_info.h"

#define INIT_WAIT_NS    (10 * NS_PER_MS)
#define STARTUP_WAIT_NS (200 * NS_PER_US) /* then STARTUP is sent again */
#define ANSWER_WAIT_NS  (5 * NS_PER_S)    /* an emulator of many CPUs on a busy host is slow */
#define PTE_TABLE       0x3
#define PTE_LARGE       0x83 /* executable: the code continues here once paging is on */

extern char trampoline_start[], trampoline_end[];
extern uint64_t trampoline_root[], trampoline_stack[], trampoline_cpu[];
extern char image_start[];

/* The kernel's root with the first 2 MB identity-mapped; used until a CPU has reached the
 * kernel. */
static uint64_t start_root[PT_ENTRIES] ALIGNED(PAGE_SIZE);
static uint64_t start_pdpt[PT_ENTRIES] ALIGNED(PAGE_SIZE);
static uint64_t start_pd[PT_ENTRIES] ALIGNED(PAGE_SIZE);
static paddr_t start_page, start_root_pa;

NORETURN void smp_secondary_start(struct cpu *cpu);
void smp_secondary_start(struct cpu *cpu)
{
    vaddr_t tops[IST_COUNT];

    write_cr3(memory_kernel_root());
    memcpy(tops, cpu->arch.tss.ist, sizeof(tops));
    cpu_load_tables(cpu, tops);
    cpu_load_control();
    lapic_init_cpu();
    clock_init_cpu();
    cpus_arrive(cpu);
}

static paddr_t image_pa(const struct boot_info *info, const void *symbol)
{
    return info->kernel_base + ((vaddr_t)symbol - (vaddr_t)image_start);
}

void smp_keep(const struct boot_info *info)
{
    start_page = info->start_page;
    start_pdpt[0] = image_pa(info, start_pd) | PTE_TABLE;
    start_pd[0] = PTE_LARGE;
    start_root[0] = image_pa(info, start_pdpt) | PTE_TABLE;
    start_root_pa = image_pa(info, start_root);
}

/* Returns the address of an argument in the copy of the code. */
static uint64_t *argument(const uint64_t *word)
{
    return (uint64_t *)((char *)phys_to_virt(start_page) + ((const char *)word - trampoline_start));
}

bool smp_start_one(struct cpu *cpu)
{
    uint32_t id = (uint32_t)cpu->hwid;

    for (unsigned i = 0; i < IST_COUNT; i++) {
        cpu->arch.tss.ist[i] = memory_stack(IST_STACK_SIZE);
        if (!cpu->arch.tss.ist[i]) {
            kprintf("cpus: no memory for the stacks of CPU %u\n", cpu->index);
            return false;
        }
    }
    memcpy(phys_to_virt(start_page), trampoline_start, (size_t)(trampoline_end - trampoline_start));
    *argument(trampoline_root) = start_root_pa;
    *argument(trampoline_stack) = (uint64_t)cpu->boot_stack_top;
    *argument(trampoline_cpu) = (uint64_t)cpu;
    lapic_send_startup(id, (uint8_t)(start_page >> PAGE_SHIFT));
    if (!cpus_wait_for(cpu, STARTUP_WAIT_NS)) {
        lapic_send_startup(id, (uint8_t)(start_page >> PAGE_SHIFT));
        if (!cpus_wait_for(cpu, ANSWER_WAIT_NS)) {
            kprintf("cpus: event=silent id=%u: this APIC id does not answer\n", id);
            lapic_send_init(id); /* it must not start later and find another CPU's arguments */
            return false;
        }
    }
    return true;
}

bool smp_prepare(struct cpu *cpus, unsigned n)
{
    if (!start_page) {
        kprintf("cpus: no memory below 1 MB to start the other CPUs with\n");
        return false;
    }
    memcpy(start_root + PT_ENTRIES / 2,
           (uint64_t *)phys_to_virt(memory_kernel_root()) + PT_ENTRIES / 2, sizeof(start_root) / 2);
    for (unsigned i = 1; i < n; i++)
        lapic_send_init((uint32_t)cpus[i].hwid);
    clock_wait_ns(INIT_WAIT_NS);
    return true;
}
