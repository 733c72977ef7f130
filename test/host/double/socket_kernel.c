/* What sockets need of the kernel, for host tests of one thread: beside fs_kernel.c clocks, copies
 * that cannot fail, and sleeps that end the test. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/wall_clock.h"
#include "kernel/file/file.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/net/socket/socket.h"
#include "sched/sched.h"
#include "test/host/double/socket_kernel.h"

struct cpu cpus[CPU_MAX], *host_cpu = cpus;
unsigned socket_told;
struct vnode *socket_root;

int64_t socket_interface_ioctl(UNUSED const struct socket *s, UNUSED uint32_t request,
                               UNUSED vaddr_t arg)
{
    return -ENOTTY;
}

struct vnode *fs_root(void)
{
    return socket_root;
}

struct vnode *files_here(UNUSED struct files *f)
{
    return vnode_get(socket_root);
}

size_t ksnprintf(char *to, size_t room, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(to, room, format, args);
    va_end(args);
    return (size_t)n;
}

uint64_t arch_clock_ns(void)
{
    return 1;
}

uint64_t wall_clock_ns(void)
{
    return 1;
}

int arch_copy_from_user(void *to, vaddr_t from, size_t n)
{
    if (fs_locks_held)
        abort();
    if (n)
        memcpy(to, (const void *)from, n);
    return 0;
}

int arch_copy_to_user(vaddr_t to, const void *from, size_t n)
{
    if (fs_locks_held)
        abort();
    if (n)
        memcpy((void *)to, from, n);
    return 0;
}

void frame_stats(struct frame_stats *out)
{
    *out = (struct frame_stats){.total_pages = 1 << 20};
}

/* ---- The scheduler --------------------------------------------------------------------------- */

void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}

int wait_sleep_interruptible(UNUSED struct wait_queue *q, UNUSED struct spinlock *guard,
                             UNUSED bool *irq, UNUSED uint64_t deadline_ns)
{
    abort();
}

unsigned wait_wake(UNUSED struct wait_queue *q, UNUSED unsigned max)
{
    return 0;
}

void sched_point(void)
{
    if (fs_locks_held)
        abort();
}

bool sched_interrupted(void)
{
    return false;
}

bool sched_ending(void)
{
    return false;
}

/* ---- Polling --------------------------------------------------------------------------------- */

void poll_source_init(struct poll_source *s)
{
    list_init(&s->links);
}

void poll_changed(UNUSED struct poll_source *s, UNUSED unsigned mask)
{
    socket_told++;
}

void epoll_forget(UNUSED struct file *f)
{
}
