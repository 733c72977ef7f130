/*
 * Ends the run. Under a debugger or emulator with semihosting, the code becomes its exit status
 * (Arm Semihosting for AArch32 and AArch64, 7.9 SYS_EXIT_EXTENDED), as on x86-64: (code + 16) * 2 +
 * 1, so that 0 and 1, an emulator's own statuses for an end and a failure, never occur. Without
 * semihosting the instruction is undefined, and the fixup table continues behind it. Then firmware
 * switches the machine off, without a code.
 */
#include "psci.h"
#include "kernel/arch/arch.h"

#define SYS_EXIT_EXTENDED            0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026
#define EXIT_FIRST                   16u
#define CODE_MAX                     127u

static void semihosting_exit(unsigned code)
{
    const struct {
        uint64_t reason, code;
    } block = {ADP_STOPPED_APPLICATION_EXIT, ((code + EXIT_FIRST) & CODE_MAX) * 2 + 1};
    register uint64_t w0 __asm__("x0") = SYS_EXIT_EXTENDED;
    register const void *x1 __asm__("x1") = &block;

    __asm__ volatile("1:\thlt #0xf000\n"
                     "2:\n\t"
                     ".pushsection .fixup_table, \"a\"\n\t"
                     ".balign 4\n\t"
                     ".long 1b - ., 2b - ., 1\n\t"
                     ".popsection"
                     : "+r"(w0)
                     : "r"(x1)
                     : "memory");
}

void arch_poweroff(unsigned code)
{
    arch_irq_save();
    semihosting_exit(MIN(code, CODE_MAX));
    psci_system_off();
    arch_stop();
}

void arch_stop(void)
{
    arch_irq_save();
    for (;;)
        __asm__ volatile("wfi");
}
