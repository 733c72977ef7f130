/* See place.h. */
#include "apps/libc/place.h"
#include "apps/libc/syscall.h"

int place_of(int pid, uint64_t address, struct sys_place *place)
{
    return (int)-syscall4(SYS_PLACE, pid, address, place, sizeof *place);
}
