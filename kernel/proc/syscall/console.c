/* System calls of the console: read a line, write. */
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"

int64_t vigil_write(const struct call *c)
{
    char part[128];
    uint64_t done = 0;

    if (c->a[0] != 1 && c->a[0] != 2)
        return -EBADF;
    if (c->a[2] > INT64_MAX)
        return -EINVAL;
    while (done < c->a[2] && !process_ending(c->p)) {
        uint64_t n = MIN(c->a[2] - done, (uint64_t)sizeof(part));
        if (arch_copy_from_user(part, c->a[1] + done, n))
            return done ? (int64_t)done : -EFAULT;
        stdio_put(c->p, part, n);
        done += n;
        sched_point();
    }
    return (int64_t)done;
}

int64_t vigil_read(const struct call *c)
{
    char text[PROCESS_LINE_MAX];

    if (c->a[0] != 0)
        return -EBADF;
    if (!c->a[2])
        return 0;
    /* A bad buffer is refused before a line is typed for it. */
    if (arch_copy_to_user(c->a[1], "", 1))
        return -EFAULT;
    int n = stdio_get(c->p, text, MIN(c->a[2], (uint64_t)sizeof(text)));
    if (n > 0 && arch_copy_to_user(c->a[1], text, n))
        return -EFAULT;
    return n;
}
