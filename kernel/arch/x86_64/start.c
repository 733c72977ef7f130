/*
 * Common to all ways of starting: keeps the boot information, initialises this_cpu(), reserves a
 * page for starting the other CPUs, and calls kernel_main().
 */
#include "internal.h"
#include "x86.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/start_fail.h"

#define EARLY_END (4 * GIB) /* the end of what every way of starting maps at DIRECT_BASE */

const char arch_name[] = "x86_64";

static struct boot_info boot_info;

/* Real-mode code below 1 MB must avoid page 0 and the firmware's memory near the top: the lowest
 * usable page from 32 KB on is taken. */
#define START_PAGE_LOWEST  0x8000
#define START_PAGE_HIGHEST 0x9f000

static void keep_start_page(struct boot_info *info)
{
    if (info->start_page)
        return;
    for (paddr_t pa = START_PAGE_LOWEST; pa < START_PAGE_HIGHEST; pa += PAGE_SIZE) {
        if (boot_mem_type_of(info, pa) != BOOT_MEM_USABLE)
            continue;
        if (!boot_mem_add(info, pa, PAGE_SIZE, BOOT_MEM_RESERVED))
            info->start_page = pa;
        return;
    }
}

void x86_start(const struct boot_info *info)
{
    boot_info = *info;
    keep_start_page(&boot_info);
    cpus[0].arch.self = &cpus[0];
    wrmsr(MSR_GS_BASE, (uint64_t)&cpus[0]);
    if (boot_early_end(&boot_info) > EARLY_END)
        start_fail("memory: too little memory below 4 GB");
    kernel_main(&boot_info);
}
