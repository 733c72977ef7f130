/* The compiler's out-of-line atomics call this before main() to learn whether the CPU has FEAT_LSE.
 * Elsewhere it reads the auxiliary vector. */
#include "apps/libc/syscall.h"

#define AT_HWCAP 16

unsigned long __getauxval(unsigned long type);

unsigned long __getauxval(unsigned long type)
{
    struct sys_info info = {0};

    if (type != AT_HWCAP)
        return 0;
    syscall2(SYS_SYSINFO, &info, sizeof(info));
    return info.hwcap;
}
