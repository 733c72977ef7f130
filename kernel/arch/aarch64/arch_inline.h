/* The small operations of kernel/arch/arch.h that must be inline, for AArch64 (Arm ARM DDI
 * 0487). */
#pragma once
#include "frame.h"
#include "kernel/lib/base.h"

extern bool aarch64_pan; /* the CPU has FEAT_PAN */

#define DAIF_I ((uint64_t)1 << 7)

static inline bool arch_irq_enabled(void)
{
    uint64_t daif;
    __asm__ volatile("mrs %0, daif" : "=r"(daif));
    return !(daif & DAIF_I);
}

static inline bool arch_irq_save(void)
{
    bool on = arch_irq_enabled();
    __asm__ volatile("msr daifset, #2" : : : "memory");
    return on;
}

/* Zeroes a page; by whole blocks where the processor permits that (DCZID_EL0: DZP, BS). */
static inline void arch_zero_page(void *page)
{
    char *at = page, *end = at + PAGE_SIZE;
    uint64_t id, block;

    __asm__("mrs %0, dczid_el0" : "=r"(id));
    block = 4u << (id & 15);
    if (id & 16) {
        for (; at < end; at += 16)
            __asm__ volatile("stp xzr, xzr, [%0]" : : "r"(at) : "memory");
    } else {
        for (; at < end; at += block)
            __asm__ volatile("dc zva, %0" : : "r"(at) : "memory");
    }
}

static inline void arch_irq_restore(bool on)
{
    if (on)
        __asm__ volatile("msr daifclr, #2" : : : "memory");
    else
        __asm__ volatile("msr daifset, #2" : : : "memory");
}

static inline void arch_cpu_relax(void)
{
    __asm__ volatile("yield" : : : "memory");
}

/* A masked interrupt also ends WFI (D1.7.2), so none can come before it unnoticed. DSB: the CPU's
 * stores are visible before it sleeps. ISB: pending interrupts are taken there. */
static inline void arch_halt(void)
{
    __asm__ volatile("dsb sy\n\t"
                     "wfi\n\t"
                     "msr daifclr, #2\n\t"
                     "isb\n\t"
                     "msr daifset, #2"
                     :
                     :
                     : "memory");
}

static inline void arch_loop(uint64_t rounds)
{
    __asm__ volatile("1:\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
                     "subs %0, %0, #1\n\t"
                     "b.ne 1b"
                     : "+r"(rounds)
                     :
                     : "cc");
}

static inline struct cpu *arch_this_cpu(void)
{
    struct cpu *cpu;
    __asm__ volatile("mrs %0, tpidr_el1" : "=r"(cpu));
    return cpu;
}

/* ISB: the counter could otherwise be read early (D12.2.2). */
static inline uint64_t arch_ticks(void)
{
    uint64_t v;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v) : : "memory");
    return v;
}

static inline uint64_t arch_ticks_near(void)
{
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
}

/* Accesses to device memory are ordered among themselves; the barriers order them with other memory
 * (B2.3.12). The instructions have no write-back, so a hypervisor can emulate them. */
static inline uint8_t arch_io_read8(const volatile void *reg)
{
    uint32_t v;
    __asm__ volatile("ldrb %w0, [%1]\n\tdsb ld" : "=r"(v) : "r"(reg) : "memory");
    return (uint8_t)v;
}

static inline uint16_t arch_io_read16(const volatile void *reg)
{
    uint32_t v;
    __asm__ volatile("ldrh %w0, [%1]\n\tdsb ld" : "=r"(v) : "r"(reg) : "memory");
    return (uint16_t)v;
}

static inline uint32_t arch_io_read32(const volatile void *reg)
{
    uint32_t v;
    __asm__ volatile("ldr %w0, [%1]\n\tdsb ld" : "=r"(v) : "r"(reg) : "memory");
    return v;
}

static inline uint64_t arch_io_read64(const volatile void *reg)
{
    uint64_t v;
    __asm__ volatile("ldr %0, [%1]\n\tdsb ld" : "=r"(v) : "r"(reg) : "memory");
    return v;
}

static inline void arch_io_write8(volatile void *reg, uint8_t v)
{
    __asm__ volatile("dsb st\n\tstrb %w0, [%1]" : : "r"((uint32_t)v), "r"(reg) : "memory");
}

static inline void arch_io_write16(volatile void *reg, uint16_t v)
{
    __asm__ volatile("dsb st\n\tstrh %w0, [%1]" : : "r"((uint32_t)v), "r"(reg) : "memory");
}

static inline void arch_io_write32(volatile void *reg, uint32_t v)
{
    __asm__ volatile("dsb st\n\tstr %w0, [%1]" : : "r"(v), "r"(reg) : "memory");
}

static inline void arch_io_write64(volatile void *reg, uint64_t v)
{
    __asm__ volatile("dsb st\n\tstr %0, [%1]" : : "r"(v), "r"(reg) : "memory");
}

static inline void arch_user_access_begin(void)
{
    if (aarch64_pan)
        __asm__ volatile(".arch_extension pan\n\tmsr pan, #0" : : : "memory");
}

static inline void arch_user_access_end(void)
{
    if (aarch64_pan)
        __asm__ volatile(".arch_extension pan\n\tmsr pan, #1" : : : "memory");
}

/* Used by every interrupt that samples. */
#define ARCH_REGISTERS 33 /* of arch_frame_registers */

static inline vaddr_t arch_frame_pc(const struct arch_frame *frame)
{
    return frame->pc;
}

static inline uint64_t arch_frame_link(const struct arch_frame *frame)
{
    return frame->x[29];
}

static inline uint64_t arch_frame_caller(const struct arch_frame *frame)
{
    return frame->x[30];
}

static inline uint64_t arch_frame_kept(UNUSED const struct arch_frame *frame)
{
    return 0;
}

static inline uint64_t arch_frame_scratch(UNUSED const struct arch_frame *frame)
{
    return 0;
}

static inline const struct arch_frame *arch_record_frame(uint64_t at)
{
    return (const struct arch_frame *)(at - offsetof(struct arch_frame, record));
}

static inline bool arch_frame_user(const struct arch_frame *frame)
{
    return (frame->pstate & SPSR_MODE) == SPSR_EL0T;
}
