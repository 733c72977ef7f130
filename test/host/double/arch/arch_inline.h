/* The inline part of an instruction set for host tests: the test's own machine provides what has an
 * effect. */
#pragma once
struct arch_frame;
#include "kernel/lib/base.h"

struct cpu;

/* Test double's variables. */
extern bool host_irqs_on;
extern struct cpu *host_cpu; /* the CPU that executes */
extern uint64_t host_ticks;  /* the free-running clock */
/* Where a test has one: called whenever interrupts are let in. */
void host_interrupt(void) __attribute__((weak));
/* A device sees every access to its registers. */
void host_io_written(volatile void *reg);
void host_io_read(const volatile void *reg);

static inline bool arch_irq_enabled(void)
{
    return host_irqs_on;
}
static inline void arch_zero_page(void *page)
{
    __builtin_memset(page, 0, PAGE_SIZE);
}

static inline bool arch_irq_save(void)
{
    bool on = host_irqs_on;
    host_irqs_on = false;
    return on;
}
static inline void arch_irq_restore(bool on)
{
    host_irqs_on = on;
    if (on && host_interrupt)
        host_interrupt();
}
static inline void arch_cpu_relax(void)
{
}
static inline struct cpu *arch_this_cpu(void)
{
    return host_cpu;
}
static inline uint64_t arch_ticks(void)
{
    return host_ticks;
}
static inline uint64_t arch_ticks_near(void)
{
    return host_ticks;
}
static inline uint8_t arch_io_read8(const volatile void *reg)
{
    host_io_read(reg);
    return *(const volatile uint8_t *)reg;
}
static inline uint16_t arch_io_read16(const volatile void *reg)
{
    host_io_read(reg);
    return *(const volatile uint16_t *)reg;
}
static inline uint32_t arch_io_read32(const volatile void *reg)
{
    host_io_read(reg);
    return *(const volatile uint32_t *)reg;
}
static inline uint64_t arch_io_read64(const volatile void *reg)
{
    host_io_read(reg);
    return *(const volatile uint64_t *)reg;
}
static inline void arch_io_write8(volatile void *reg, uint8_t v)
{
    *(volatile uint8_t *)reg = v;
    host_io_written(reg);
}
static inline void arch_io_write16(volatile void *reg, uint16_t v)
{
    *(volatile uint16_t *)reg = v;
    host_io_written(reg);
}
static inline void arch_io_write32(volatile void *reg, uint32_t v)
{
    *(volatile uint32_t *)reg = v;
    host_io_written(reg);
}
static inline void arch_io_write64(volatile void *reg, uint64_t v)
{
    *(volatile uint64_t *)reg = v;
    host_io_written(reg);
}

vaddr_t arch_frame_pc(const struct arch_frame *frame);
bool arch_frame_user(const struct arch_frame *frame);
uint64_t arch_frame_link(const struct arch_frame *frame);
uint64_t arch_frame_caller(const struct arch_frame *frame);
uint64_t arch_frame_kept(const struct arch_frame *frame);
uint64_t arch_frame_scratch(const struct arch_frame *frame);
const struct arch_frame *arch_record_frame(uint64_t at);
#define ARCH_REGISTERS 33
