/* See args.h. */
#include "kernel/args.h"
#include "hpm/hpm.h"
#include "kernel/arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/end.h"
#include "kernel/core/entropy.h"
#include "kernel/core/number.h"
#include "kernel/core/outputs.h"
#include "kernel/core/wall_clock.h"
#include "kernel/dev/block/block.h"
#include "kernel/fs/share.h"
#include "kernel/net/lwip/interface.h"
#include "kernel/proc/process.h"
#include "kernel/selftest/selftest.h"
#include "kernel/trace/telemetry.h"
#include "mm/mm.h"
#include "mm/track/track.h"
#include "sched/sched.h"

#define MEM_LIMIT_MIN (32 * MIB)

uint64_t cpus_wanted = CPU_MAX, mem_limit = MEM_UNLIMITED, console_wanted = OUTPUTS_AUTO;

static const struct arg kernel_args[] = {
    {"cpus", ARG_U64, &cpus_wanted, 1, CPU_MAX, NULL, ARG_BOOT, "use at most this many CPUs"},
    {"cpus.late", ARG_U64, &cpus_late, 0, CPU_MAX - 1, NULL, ARG_BOOT,
     "for tests: the CPU of this number comes when another one is started in its place; 0: none "
     "does"},
    {"mem.limit", ARG_BYTES, &mem_limit, MEM_LIMIT_MIN, MEM_UNLIMITED, NULL, ARG_BOOT,
     "use no memory above this address; the largest value: no limit"},
    {"mem.space_ids", ARG_U64, &mem_space_ids, ARCH_SPACE_IDS_MIN, ARCH_SPACE_IDS_MAX, NULL,
     ARG_BOOT,
     "identifiers of address spaces in use, below this number, where the TLB has them (AArch64)"},
    {"numbers.first", ARG_U64, &numbers_first, 1, NUMBER_MAX, NULL, ARG_BOOT,
     "for tests: number of the first process, and of the first thread; behind the largest comes 1 "
     "again"},
    {"console", ARG_CHOICE, &console_wanted, 0, 0, outputs_choices, ARG_BOOT,
     "where text goes; auto: the serial port that firmware names, or else the framebuffer and any "
     "serial "
     "port"},
    {"console.split", ARG_BOOL, &console_split, 0, 0, NULL, ARG_BOOT,
     "part what programs write, unchanged, from the kernel's lines, for who reads the serial port"},
    {"console.terminal", ARG_CHOICE, &console_terminal, 0, 0, console_terminals, ARG_BOOT,
     "with console.split: programs may know that the console is a terminal; raw: one that passes "
     "on keys as they are pressed"},
    {"console.rows", ARG_U64, &console_rows, 0, UINT16_MAX, NULL, ARG_BOOT,
     "lines of that terminal's window; 0: not known"},
    {"console.columns", ARG_U64, &console_columns, 0, UINT16_MAX, NULL, ARG_BOOT,
     "characters of a line of it; 0: not known"},
    {"end", ARG_CHOICE, &end_wanted, 0, 0, end_choices, ARG_BOOT,
     "after the run switch off, or stay on; auto: stay on where text goes to the framebuffer"},
    {"date", ARG_DATE, &date_wanted, 0, 0, NULL, ARG_BOOT,
     "date at the start of the clock, UTC; auto: 2026-01-01 on the simulated machine, else that of "
     "the machine's clock"},
    {"entropy", ARG_U64, &entropy_wanted, 0, UINT64_MAX, NULL, ARG_BOOT,
     "seed of the random bytes that programs get; 0: the same each time on the simulated machine, "
     "else the processor's"},
    {"selftest", ARG_BOOL, &selftest_wanted, 0, 0, NULL, ARG_BOOT,
     "check this machine before anything is run, and print a report of it"},
    {0},
};
const struct arg *const arg_tables[] = {
    kernel_args,    sched_args, sharing_args, hpm_args, frequency_args, mm_args,      track_args,
    telemetry_args, disk_args,  share_args,   net_args, process_args,   syscall_args, NULL};
