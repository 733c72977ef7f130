/* See memory_check.h. */
#include "kernel/mem/memory_check.h"
#include "kernel/boot/memory_need.h"
#include "kernel/core/end.h"
#include "kernel/core/printf.h"
#include "kernel/mem/bootmem.h"
#include "kernel/mem/mem.h"

#define EXIT_TOO_LITTLE 4
#define TABLES_PART     64        /* largest part of memory that page descriptors and tables take */
#define FIRMWARES_PART  (2 * MIB) /* largest part of the machine's memory that firmware keeps */

/* Returns the memory that the machine would need, in MB: its present memory, `missing`, and the
 * page descriptors and tables for that. */
static unsigned long long needed_mb(const struct boot_info *info, uint64_t missing)
{
    uint64_t has = bootmem_bytes(info, UINT64_MAX) + info->kernel_size;

    return ALIGN_UP(has + missing + missing / TABLES_PART + FIRMWARES_PART, MIB) / MIB;
}

static void check_free(const struct boot_info *info, uint64_t free, uint64_t needed,
                       const char *for_what)
{
    if (free >= needed)
        return;
    kprintf(
        "memory: event=too-little free_kb=%llu needed_kb=%llu enough_mb=%llu: what is free is not "
        "enough%s; enough_mb in all would be\n",
        (unsigned long long)(free / KIB), (unsigned long long)(needed / KIB),
        needed_mb(info, needed - free), for_what);
    end_run(EXIT_TOO_LITTLE);
}

void memory_check_start(const struct boot_info *info, paddr_t limit)
{
    uint64_t free = bootmem_bytes(info, limit);

    if (free < MEMORY_NEED_START && free < bootmem_bytes(info, UINT64_MAX)) {
        kprintf("memory: event=too-little below=%#llx free_kb=%llu needed_kb=%llu: mem.limit or "
                "the boot "
                "CPU's addresses end there\n",
                (unsigned long long)limit, (unsigned long long)(free / KIB),
                (unsigned long long)(MEMORY_NEED_START / KIB));
        end_run(EXIT_TOO_LITTLE);
    }
    check_free(info, free, MEMORY_NEED_START, "");
}

void memory_check_cpus(const struct boot_info *info, unsigned cpus)
{
    struct frame_stats stats;
    char of[64];

    frame_stats(&stats);
    ksnprintf(of, sizeof(of), " for %u CPUs, of which cpus= starts fewer", cpus);
    check_free(info, stats.free_pages * PAGE_SIZE,
               (cpus - 1) * (uint64_t)MEMORY_NEED_CPU + MEMORY_NEED_START / 2, cpus > 1 ? of : "");
}
