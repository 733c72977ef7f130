/* The small operations of kernel/arch/arch.h that must be inline, for x86-64. */
#pragma once
#include "frame.h"
#include "kernel/lib/base.h"

extern bool x86_smap; /* SMAP is on, so STAC and CLAC exist */

static inline bool arch_irq_enabled(void)
{
    uint64_t flags;
    __asm__ volatile("pushfq; popq %0" : "=r"(flags));
    return flags & 0x200;
}

static inline bool arch_irq_save(void)
{
    uint64_t flags;
    __asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
    return flags & 0x200;
}

/* Zeroes a page; the processor stores whole lines. */
static inline void arch_zero_page(void *page)
{
    uint64_t count = PAGE_SIZE;

    __asm__ volatile("rep stosb" : "+D"(page), "+c"(count) : "a"(0) : "memory");
}

static inline void arch_irq_restore(bool on)
{
    if (on)
        __asm__ volatile("sti" : : : "memory");
    else
        __asm__ volatile("cli" : : : "memory");
}

static inline void arch_cpu_relax(void)
{
    __asm__ volatile("pause" : : : "memory");
}

/* STI takes effect after the following instruction, so no interrupt can come before HLT. */
static inline void arch_halt(void)
{
    __asm__ volatile("sti; hlt; cli" : : : "memory");
}

static inline void arch_loop(uint64_t rounds)
{
    __asm__ volatile("1:\tnop; nop; nop; nop; nop; nop; nop; nop\n\t"
                     "decq %0\n\t"
                     "jnz 1b"
                     : "+r"(rounds)
                     :
                     : "cc");
}

static inline struct cpu *arch_this_cpu(void)
{
    struct cpu *cpu;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(cpu));
    return cpu;
}

/* RDTSC is not ordered by itself, hence LFENCE (SDM vol. 2B). */
static inline uint64_t arch_ticks(void)
{
    uint32_t lo, hi;
    __asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return lo | (uint64_t)hi << 32;
}

static inline uint64_t arch_ticks_near(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return lo | (uint64_t)hi << 32;
}

/* Uncached loads and stores are not reordered (SDM vol. 3A, 11.3 "Methods of Caching
 * Available"). */
static inline uint8_t arch_io_read8(const volatile void *reg)
{
    uint8_t v;
    __asm__ volatile("movb %1, %0" : "=q"(v) : "m"(*(const volatile uint8_t *)reg) : "memory");
    return v;
}

static inline uint16_t arch_io_read16(const volatile void *reg)
{
    uint16_t v;
    __asm__ volatile("movw %1, %0" : "=r"(v) : "m"(*(const volatile uint16_t *)reg) : "memory");
    return v;
}

static inline uint32_t arch_io_read32(const volatile void *reg)
{
    uint32_t v;
    __asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*(const volatile uint32_t *)reg) : "memory");
    return v;
}

static inline uint64_t arch_io_read64(const volatile void *reg)
{
    uint64_t v;
    __asm__ volatile("movq %1, %0" : "=r"(v) : "m"(*(const volatile uint64_t *)reg) : "memory");
    return v;
}

static inline void arch_io_write8(volatile void *reg, uint8_t v)
{
    __asm__ volatile("movb %1, %0" : "=m"(*(volatile uint8_t *)reg) : "q"(v) : "memory");
}

static inline void arch_io_write16(volatile void *reg, uint16_t v)
{
    __asm__ volatile("movw %1, %0" : "=m"(*(volatile uint16_t *)reg) : "r"(v) : "memory");
}

static inline void arch_io_write32(volatile void *reg, uint32_t v)
{
    __asm__ volatile("movl %1, %0" : "=m"(*(volatile uint32_t *)reg) : "r"(v) : "memory");
}

static inline void arch_io_write64(volatile void *reg, uint64_t v)
{
    __asm__ volatile("movq %1, %0" : "=m"(*(volatile uint64_t *)reg) : "r"(v) : "memory");
}

static inline void arch_user_access_begin(void)
{
    if (x86_smap)
        __asm__ volatile("stac" : : : "memory");
}

static inline void arch_user_access_end(void)
{
    if (x86_smap)
        __asm__ volatile("clac" : : : "memory");
}

#define ARCH_REGISTERS 24 /* of arch_frame_registers */

/* Used by every interrupt that samples. */
static inline vaddr_t arch_frame_pc(const struct arch_frame *frame)
{
    return frame->rip;
}

static inline uint64_t arch_frame_link(const struct arch_frame *frame)
{
    return frame->rbp;
}

static inline uint64_t arch_frame_caller(UNUSED const struct arch_frame *frame)
{
    return 0;
}

static inline uint64_t arch_frame_kept(const struct arch_frame *frame)
{
    return frame->rbx;
}

static inline uint64_t arch_frame_scratch(const struct arch_frame *frame)
{
    return frame->r10;
}

static inline const struct arch_frame *arch_record_frame(uint64_t at)
{
    return (const struct arch_frame *)(at + 16);
}

static inline bool arch_frame_user(const struct arch_frame *frame)
{
    return frame->cs & 3;
}
