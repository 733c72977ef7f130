/* See misdeeds.h. */
#include <stddef.h>
#include "test/qemu/apps/misdeeds.h"

const uint32_t isa_return = 0xc3c3c3c3;

static void interrupts_off(void)
{
    __asm__ volatile("cli");
}

static void halt(void)
{
    __asm__ volatile("hlt");
}

static void port(void)
{
    __asm__ volatile("outb %%al, $0xf4" : : "a"(0));
}

static void control_register(void)
{
    __asm__ volatile("mov %0, %%cr3" : : "r"((uint64_t)0));
}

/* 32-bit code, if there were a segment for it, could make system calls of another kind. */
static void compat_syscall(void)
{
    __asm__ volatile("pushq $0x1b\n\t"
                     "pushq $1f\n\t"
                     "lretq\n"
                     "1:\tsyscall");
}

static void illegal(void)
{
    __asm__ volatile("ud2");
}

static void divide(void)
{
    __asm__ volatile("xor %%ecx, %%ecx; mov $1, %%eax; xor %%edx, %%edx; div %%ecx"
                     :
                     :
                     : "eax", "ecx", "edx");
}

static void breakpoint(void)
{
    __asm__ volatile("int3");
}

/* The trap flag: a debug exception behind the next instruction (SDM vol. 3B, 18.3.1.4). */
static void single_step(void)
{
    __asm__ volatile("pushfq\n\t"
                     "orl $0x100, (%%rsp)\n\t"
                     "popfq\n\t"
                     "nop"
                     :
                     :
                     : "memory");
}

const struct misdeed isa_misdeeds[] = {
    {"interrupts-off", interrupts_off},
    {"halt", halt},
    {"port", port},
    {"control-register", control_register},
    {"compat-syscall", compat_syscall},
    {"illegal", illegal},
    {"divide", divide},
    {"breakpoint", breakpoint},
    {"single-step", single_step},
    {NULL, NULL},
};
