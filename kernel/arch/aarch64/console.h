/* Maps the console's registers; kernel/arch/arch.h declares the console itself. */
#pragma once

struct pt;
/* Maps the registers in these page tables, if there are any registers. */
void console_map(struct pt *tables);
