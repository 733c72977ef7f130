/* Reports on the machine and on the kernel's decisions, on the console and as events. */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/core/cmdline.h"

/* ---- Boot: on the boot CPU, or in the first thread ------------------------------------------- */

/* Prints all boot arguments, the values that each accepts, and its default; policies;
 * applications. */
void boot_print_help(const struct arg *const *tables);
void boot_print_memory(void);
/* Prints where the initrd is, if there is one. */
void boot_print_initrd(const struct boot_initrd *initrd);
/* Prints CPUs by chip and core. All CPUs have been started. */
void boot_print_cpus(void);
/* Prints the CPUs and the memory of each node. All CPUs have been started. */
void boot_print_nodes(void);
/* Prints a line, which begins with the subject and keys of `prefix`, for each quirk of this machine
 * (kernel/arch/arch.h). All CPUs have been started. Thread context. */
void quirks_print(const char *prefix);

/* ---- Threads of reports: started once all CPUs run ------------------------------------------- */

/* Starts the thread that prints the machine's stall breakdown every hpm.print_ms milliseconds, if
 * that is not 0. Thread context. */
void monitor_start(void);
/* Starts the thread that draws on the display what was printed with interrupts off, if text goes
 * to the display. Thread context. */
void console_thread_start(void);

/* Prints what became of the pages of files, if memory was limited. At the end of a run. */
void memory_report_files(void);

/* ---- Events: called by the thread of stream.c ------------------------------------------------ */

/* Records where the cycles of each CPU and process have gone since boot, if these events are wanted
 * and due. Sets `next_ns` to the time when they are due next, UINT64_MAX if never. */
void counters_record(uint64_t *next_ns);
/* Records the pools, the policies' and the prefetchers' decisions since the last time, and the
 * tracker's account, if these events are wanted and due. Sets `next_ns` likewise. */
void memory_record(uint64_t *next_ns);
