/* System calls of threads: what they state about themselves. */
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"

#define STATED_GROUP_MAX 65535

int64_t vigil_group(const struct call *c)
{
    if (c->a[0] > STATED_GROUP_MAX)
        return -EINVAL;
    sharing_group_stated(c->t, (int)c->a[0]);
    return 0;
}
