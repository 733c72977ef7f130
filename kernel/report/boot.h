/* What a boot prints of the machine and of its arguments. Boot CPU or the first thread. */
#pragma once
#include "kernel/core/cmdline.h"

/* All boot arguments, what each accepts, its default; policies and applications. */
void boot_print_help(const struct arg *const *tables);
void boot_print_memory(void);
/* CPUs by chip and core, once all are started; which CPUs and how much memory each node has. */
void boot_print_cpus(void);
void boot_print_nodes(void);
