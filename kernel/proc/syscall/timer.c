/* System calls of Linux: timers (timer_create(2), setitimer(2), alarm(2), timerfd_create(2)). */
#include "kernel/proc/deadline.h"
#include "kernel/proc/syscall/clocks.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/user.h"
#include <linux/signal.h>
#include <linux/time.h>
#include <linux/timerfd.h>

#define ABSOLUTE 1 /* TIMER_ABSTIME, TFD_TIMER_ABSTIME */

/* ---- Times ----------------------------------------------------------------------------------- */

static int take_times(vaddr_t from, struct timer_times *out)
{
    return user_get_time(from + offsetof(struct itimerspec, it_value), &out->left_ns)
               ?: user_get_time(from + offsetof(struct itimerspec, it_interval), &out->interval_ns);
}

static int put_times(vaddr_t to, struct timer_times times)
{
    return time_put(to + offsetof(struct itimerspec, it_value), times.left_ns)
               ?: time_put(to + offsetof(struct itimerspec, it_interval), times.interval_ns);
}

/* ---- timer_create ---------------------------------------------------------------------------- */

/* Reads a struct sigevent; 0: SIGALRM. */
static int take_notice(vaddr_t from, struct timer_notice *out)
{
    struct sigevent event;

    *out = (struct timer_notice){.signal = SIGALRM, .own_id = true};
    if (!from)
        return 0;
    if (arch_copy_from_user(&event, from, sizeof(event)))
        return -EFAULT;
    *out = (struct timer_notice){.value = (uint64_t)event.sigev_value.sival_ptr};
    switch (event.sigev_notify) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_THREAD_ID:
        if (event.sigev_notify_thread_id <= 0)
            return -EINVAL;
        out->tid = (uint32_t)event.sigev_notify_thread_id;
        break;
    case SIGEV_SIGNAL:
    case SIGEV_THREAD: /* the C library's, which asks for SIGEV_THREAD_ID */
        break;
    default:
        return -EINVAL;
    }
    out->signal = event.sigev_signo;
    return out->signal > 0 && out->signal <= SIGNALS ? 0 : -EINVAL;
}

/* Clocks that are read only, as on Linux. */
static bool has_no_timers(int32_t id)
{
    return id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE ||
           id == CLOCK_MONOTONIC_RAW || id == CLOCK_REALTIME_ALARM || id == CLOCK_BOOTTIME_ALARM;
}

/* Whether the clock is of the caller's process, or one of its threads. */
static bool is_own(const struct call *c, struct clock clock)
{
    if (!clock.id || (clock.kind == CLOCK_OF_PROCESS && clock.id == c->p->pid))
        return true;
    bool irq = spin_lock(&c->p->lock);
    bool own = clock.kind == CLOCK_OF_THREAD && uthread_find_locked(c->p, clock.id);
    spin_unlock(&c->p->lock, irq);
    return own;
}

int64_t sys_timer_create(const struct call *c)
{
    struct clock clock = clock_find(c->a[0]);
    struct timer_notice notice;
    int err = take_notice(c->a[1], &notice);

    if (err == -EFAULT)
        return err;
    if (has_no_timers((int32_t)c->a[0]))
        return -EOPNOTSUPP;
    if (clock.kind == CLOCK_NONE || !is_own(c, clock))
        return -EINVAL;
    if (err)
        return err;
    int id = timer_make(clock.kind == CLOCK_OF_PROCESS  ? TIMER_OF_PROCESS
                        : clock.kind == CLOCK_OF_THREAD ? TIMER_OF_THREAD
                        : clock.kind == CLOCK_OF_DATE   ? TIMER_OF_DATE
                                                        : TIMER_SINCE_BOOT,
                        clock.id ? clock.id : c->t->tid, &notice);
    if (id >= 0 && arch_copy_to_user(c->a[2], &id, sizeof(id))) {
        timer_delete(id);
        return -EFAULT;
    }
    return MIN(id, 0);
}

int64_t sys_timer_settime(const struct call *c)
{
    struct timer_times new, old;

    if (!c->a[2])
        return -EINVAL;
    int err =
        take_times(c->a[2], &new) ?: timer_set((int32_t)c->a[0], c->a[1] & ABSOLUTE, new, &old);
    if (err)
        return err;
    return c->a[3] ? put_times(c->a[3], old) : 0;
}

int64_t sys_timer_gettime(const struct call *c)
{
    struct timer_times now;

    return timer_read((int32_t)c->a[0], &now) ?: put_times(c->a[1], now);
}

int64_t sys_timer_getoverrun(const struct call *c)
{
    return timer_overrun((int32_t)c->a[0]);
}

int64_t sys_timer_delete(const struct call *c)
{
    return timer_delete((int32_t)c->a[0]);
}

/* ---- setitimer, alarm ------------------------------------------------------------------------ */

static int ns_of(const struct __kernel_old_timeval *t, uint64_t *ns)
{
    if (t->tv_sec < 0 || t->tv_usec < 0 || (uint64_t)t->tv_usec >= NS_PER_S / NS_PER_US)
        return -EINVAL;
    if (__builtin_mul_overflow((uint64_t)t->tv_sec, NS_PER_S, ns) ||
        __builtin_add_overflow(*ns, (uint64_t)t->tv_usec * NS_PER_US, ns))
        *ns = UINT64_MAX;
    return 0;
}

/* Linux's struct itimerval, with the kernel's names of its parts. */
struct interval_timer {
    struct __kernel_old_timeval interval, value;
};

static int put_interval(vaddr_t to, struct timer_times times)
{
    struct interval_timer t = {timeval_of(times.interval_ns), timeval_of(times.left_ns)};

    return to && arch_copy_to_user(to, &t, sizeof(t)) ? -EFAULT : 0;
}

int64_t sys_setitimer(const struct call *c)
{
    struct interval_timer t = {0};
    struct timer_times new, old;

    if (c->a[1] && arch_copy_from_user(&t, c->a[1], sizeof(t)))
        return -EFAULT;
    int err = ns_of(&t.value, &new.left_ns) ?: ns_of(&t.interval, &new.interval_ns);
    if (!err && (uint32_t)c->a[0] > ITIMER_PROF)
        err = -EINVAL;
    if (!err)
        err = timer_interval((unsigned)c->a[0], &new, &old);
    return err ? err : put_interval(c->a[2], old);
}

int64_t sys_getitimer(const struct call *c)
{
    struct timer_times now;

    if ((uint32_t)c->a[0] > ITIMER_PROF)
        return -EINVAL;
    int err = timer_interval((unsigned)c->a[0], NULL, &now);
    return err ? err : c->a[1] ? put_interval(c->a[1], now) : -EFAULT;
}

/* Returns the seconds that were left, rounded, but not to 0. */
int64_t sys_alarm(const struct call *c)
{
    struct timer_times new = {.left_ns = (uint32_t)c->a[0] * NS_PER_S}, old;
    int err = timer_interval(ITIMER_REAL, &new, &old);

    if (err)
        return err;
    return (int64_t)(old.left_ns && old.left_ns < NS_PER_S
                         ? 1
                         : (old.left_ns + NS_PER_S / 2) / NS_PER_S);
}

/* ---- timerfd --------------------------------------------------------------------------------- */

int64_t sys_timerfd_create(const struct call *c)
{
    int32_t id = (int32_t)c->a[0];
    uint64_t flags = (uint32_t)c->a[1];
    struct file *f;

    if ((flags & ~(uint64_t)(TFD_CLOEXEC | TFD_NONBLOCK)) ||
        (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC && id != CLOCK_BOOTTIME))
        return -EINVAL;
    int err = timer_file_make(id == CLOCK_REALTIME, (uint32_t)flags & TFD_NONBLOCK, &f);
    return err ? err : file_give(c, f, flags & TFD_CLOEXEC);
}

static struct file *find_timer(const struct call *c, int *err)
{
    struct file *f = files_find(c->p->files, (uint32_t)c->a[0]);

    *err = !f ? -EBADF : timer_file_is(f) ? 0 : -EINVAL;
    return f;
}

/* The date is never set, so that nothing cancels a wait for it. */
int64_t sys_timerfd_settime(const struct call *c)
{
    struct timer_times new, old;

    int err = take_times(c->a[2], &new);
    if (!err && ((uint32_t)c->a[1] & ~(uint32_t)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)))
        err = -EINVAL;
    if (err)
        return err;
    struct file *f = find_timer(c, &err);
    if (!err)
        timer_file_set(f, deadline_of_timer(new.left_ns, c->a[1] & ABSOLUTE, timer_file_of_date(f)),
                       new.interval_ns, &old.left_ns, &old.interval_ns);
    file_put(f);
    return err ? err : c->a[3] ? put_times(c->a[3], old) : 0;
}

int64_t sys_timerfd_gettime(const struct call *c)
{
    struct timer_times now;
    int err;
    struct file *f = find_timer(c, &err);

    if (!err)
        timer_file_read(f, &now.left_ns, &now.interval_ns);
    file_put(f);
    return err ? err : put_times(c->a[1], now);
}
