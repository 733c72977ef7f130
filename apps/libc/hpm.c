/* What a program tells the kernel about itself (hpm.h). */
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"

void hpm_mark(const char *label)
{
    syscall1(SYS_MARK, label);
}

void hpm_group(int group)
{
    syscall1(SYS_GROUP, group);
}
