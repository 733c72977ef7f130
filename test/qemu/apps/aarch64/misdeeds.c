/* See misdeeds.h. Division by zero is no misdeed here: its result is 0 (DDI 0487, C3.4.7). */
#include <stddef.h>
#include "test/qemu/apps/misdeeds.h"

const uint32_t isa_return = 0xd65f03c0;

static void interrupts_off(void)
{
    __asm__ volatile("msr daifset, #2");
}

/* Stops the CPU for an external debugger. */
static void halt(void)
{
    __asm__ volatile("hlt #1");
}

static void control_register(void)
{
    __asm__ volatile("msr ttbr0_el1, xzr");
}

static void hypervisor_call(void)
{
    __asm__ volatile("hvc #0");
}

static void firmware_call(void)
{
    __asm__ volatile("smc #0");
}

static void exception_return(void)
{
    __asm__ volatile("eret");
}

static void tlb_flush(void)
{
    __asm__ volatile("tlbi vmalle1");
}

static void illegal(void)
{
    __asm__ volatile("udf #0");
}

static void breakpoint(void)
{
    __asm__ volatile("brk #0");
}

static void odd_jump(void)
{
    __asm__ volatile("adr x16, .\n\t"
                     "add x16, x16, #2\n\t"
                     "br x16"
                     :
                     :
                     : "x16");
}

/* Exclusive loads must be aligned whatever the system's settings, or with FEAT_LSE2 not cross 16
 * bytes (DDI 0487, B2.5.2). */
static void odd_atomic(void)
{
    static _Alignas(16) uint32_t words[8];
    uint32_t value;

    __asm__ volatile("ldxr %w0, [%1]" : "=r"(value) : "r"((char *)words + 14) : "memory");
}

/* The debugger's, through which a program could speak past the kernel. */
static void debug_channel(void)
{
    uint64_t v;

    __asm__ volatile("mrs %0, mdccsr_el0" : "=r"(v));
}

/* No misdeed where there is pointer authentication, but what is above EL1 must have allowed it; the
 * misdeed follows. */
static void signature(void)
{
    __asm__ volatile(".inst 0x9ac03000\n\t" /* pacga x0, x0, x0 */
                     "udf #0"
                     :
                     :
                     : "x0");
}

const struct misdeed isa_misdeeds[] = {
    {"interrupts-off", interrupts_off},
    {"halt", halt},
    {"control-register", control_register},
    {"hypervisor-call", hypervisor_call},
    {"firmware-call", firmware_call},
    {"exception-return", exception_return},
    {"tlb-flush", tlb_flush},
    {"illegal", illegal},
    {"breakpoint", breakpoint},
    {"odd-jump", odd_jump},
    {"odd-atomic", odd_atomic},
    {"debug-channel", debug_channel},
    {"signature", signature},
    {NULL, NULL},
};
