/* The console's registers; what prints is kernel/arch/arch.h's. */
#pragma once

struct pt;
/* Maps them in these page tables, if there are any. */
void console_map(struct pt *tables);
