/* See symbol.h. */
#include "apps/libc/symbol.h"
#include "apps/libc/syscall.h"

int symbol_of(int pid, uint64_t address, struct sys_symbol *place)
{
    return (int)-syscall4(SYS_SYMBOL, pid, address, place, sizeof *place);
}
