/* The compiler's out-of-line atomics ask before main whether the CPU has the instructions of
 * FEAT_LSE, by the name under which the auxiliary vector is read elsewhere. */
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
