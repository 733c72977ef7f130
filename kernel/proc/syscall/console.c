/* System calls of the console: read a line, write. */
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"

int64_t sys_write(struct process *p, const uint64_t a[6])
{
    char part[128];
    uint64_t done = 0;

    if (a[0] != 1 && a[0] != 2)
        return -EBADF;
    if (a[2] > INT64_MAX)
        return -EINVAL;
    while (done < a[2] && !process_ending(p)) {
        uint64_t n = MIN(a[2] - done, (uint64_t)sizeof(part));
        if (arch_copy_from_user(part, a[1] + done, n))
            return done ? (int64_t)done : -EFAULT;
        stdio_put(p, part, n);
        done += n;
        sched_point();
    }
    return (int64_t)done;
}

int64_t sys_read(struct process *p, const uint64_t a[6])
{
    char text[PROCESS_LINE_MAX];

    if (a[0] != 0)
        return -EBADF;
    if (!a[2])
        return 0;
    /* A bad buffer is refused before a line is typed for it. */
    if (arch_copy_to_user(a[1], "", 1))
        return -EFAULT;
    int n = stdio_get(p, text, MIN(a[2], (uint64_t)sizeof(text)));
    if (n > 0 && arch_copy_to_user(a[1], text, n))
        return -EFAULT;
    return n;
}
