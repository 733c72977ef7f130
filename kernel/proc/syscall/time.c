/* System calls of Linux: clocks, sleeping, times of processes (clock_gettime(2), nanosleep(2),
 * getrusage(2)). */
#include "kernel/core/cpu.h"
#include "kernel/core/wall_clock.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/syscall/clocks.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include <linux/resource.h>
#include <linux/time.h>
#include <linux/times.h>

#define TIMES_HZ 100 /* of times(2); AT_CLKTCK says the same */

/* Clocks of CPU time by pid or tid: the number's complement above three bits of what is counted. */
#define CPU_CLOCK_BITS   3
#define CPU_CLOCK_THREAD 4
#define CPU_CLOCK_KIND   3
enum { CPU_CLOCK_PROF, CPU_CLOCK_VIRT, CPU_CLOCK_SCHED, CPU_CLOCK_FD };

/* ---- Which clock ----------------------------------------------------------------------------- */

static struct clock cpu_clock(int32_t id)
{
    bool of_thread = id & CPU_CLOCK_THREAD;

    if ((id & CPU_CLOCK_KIND) == CPU_CLOCK_FD)
        return (struct clock){CLOCK_NONE, 0};
    return (struct clock){of_thread ? CLOCK_OF_THREAD : CLOCK_OF_PROCESS,
                          (uint32_t) ~(id >> CPU_CLOCK_BITS)};
}

struct clock clock_find(uint64_t argument)
{
    int32_t id = (int32_t)argument;

    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI: /* no leap seconds are known */
        return (struct clock){CLOCK_OF_DATE, 0};
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: /* the machine does not sleep */
        return (struct clock){CLOCK_SINCE_BOOT, 0};
    case CLOCK_PROCESS_CPUTIME_ID:
        return (struct clock){CLOCK_OF_PROCESS, 0};
    case CLOCK_THREAD_CPUTIME_ID:
        return (struct clock){CLOCK_OF_THREAD, 0};
    default:
        return id < 0 ? cpu_clock(id) : (struct clock){CLOCK_NONE, 0};
    }
}

static int read_process(const struct call *c, uint32_t pid, uint64_t *ns)
{
    struct process *p = process_to_read(c->p, pid == c->p->pid ? 0 : pid);

    if (!p)
        return -EINVAL;
    *ns = process_time(p).run_ns;
    process_put(p);
    return 0;
}

static int read_thread(const struct call *c, uint32_t tid, uint64_t *ns)
{
    if (!tid || tid == c->t->tid) {
        *ns = sched_time(c->t).run_ns;
        return 0;
    }
    bool irq = spin_lock(&c->p->lock);
    struct thread *t = uthread_find_locked(c->p, tid);
    if (t)
        *ns = sched_time(t).run_ns;
    spin_unlock(&c->p->lock, irq);
    return t ? 0 : -EINVAL;
}

/* Reads a clock. Returns 0, or -EINVAL: there is no such clock, process or thread. */
static int read_clock(const struct call *c, struct clock clock, uint64_t *ns)
{
    switch (clock.kind) {
    case CLOCK_SINCE_BOOT:
        *ns = arch_clock_ns();
        return 0;
    case CLOCK_OF_DATE:
        *ns = wall_clock_ns();
        return 0;
    case CLOCK_OF_PROCESS:
        return read_process(c, clock.id, ns);
    case CLOCK_OF_THREAD:
        return read_thread(c, clock.id, ns);
    default:
        return -EINVAL;
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

int time_put(vaddr_t to, uint64_t ns)
{
    struct timespec t = {.tv_sec = (long)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

    return arch_copy_to_user(to, &t, sizeof(t));
}

int64_t sys_clock_gettime(const struct call *c)
{
    uint64_t ns;
    int err = read_clock(c, clock_find(c->a[0]), &ns);

    return err ? err : time_put(c->a[1], ns);
}

int64_t sys_clock_getres(const struct call *c)
{
    uint64_t ns;
    int err = read_clock(c, clock_find(c->a[0]), &ns);

    return err || !c->a[1] ? err : time_put(c->a[1], 1);
}

int64_t sys_clock_settime(const struct call *c)
{
    uint64_t ns;
    int err = clock_find(c->a[0]).kind == CLOCK_OF_DATE ? user_get_time(c->a[1], &ns) : -EINVAL;

    return err ? err : -EPERM;
}

int64_t sys_gettimeofday(const struct call *c)
{
    const struct timezone zone = {0};
    struct __kernel_old_timeval now = timeval_of(wall_clock_ns());

    if (c->a[0] && arch_copy_to_user(c->a[0], &now, sizeof(now)))
        return -EFAULT;
    return c->a[1] ? arch_copy_to_user(c->a[1], &zone, sizeof(zone)) : 0;
}

int64_t sys_settimeofday(UNUSED const struct call *c)
{
    return -EPERM;
}

int64_t sys_time(const struct call *c)
{
    int64_t now = (int64_t)(wall_clock_ns() / NS_PER_S);

    return c->a[0] && arch_copy_to_user(c->a[0], &now, sizeof(now)) ? -EFAULT : now;
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

/* Sleeps, and says after a sleep that was cut short how much was left. */
static int sleep_until(uint64_t until_ns, vaddr_t rest)
{
    until_ns = signals_deadline(until_ns);
    if (!sched_sleep_interruptible(until_ns))
        return 0;
    uint64_t now_ns = MIN(arch_clock_ns(), until_ns);
    return rest && time_put(rest, until_ns - now_ns) ? -EFAULT : -ERESTART_RESTARTBLOCK;
}

int64_t sys_nanosleep(const struct call *c)
{
    uint64_t ns;
    int err = user_get_time(c->a[0], &ns);

    return err ? err : sleep_until(deadline_after(ns), c->a[1]);
}

/* Sleeps until the clock of CPU time shows `until_ns`, looking when that can be at the earliest:
 * all CPUs may run threads of the process. */
static int sleep_cpu_time(const struct call *c, struct clock clock, uint64_t until_ns, vaddr_t rest)
{
    uint64_t ns;

    until_ns = signals_deadline(until_ns);
    for (;;) {
        int err = read_clock(c, clock, &ns);
        if (err || ns >= until_ns)
            return err;
        uint64_t look_ns = deadline_after(MAX((until_ns - ns) / cpu_count(), NS_PER_MS));
        if (sched_sleep_interruptible(look_ns))
            return rest && time_put(rest, until_ns - ns) ? -EFAULT : -ERESTART_RESTARTBLOCK;
    }
}

int64_t sys_clock_nanosleep(const struct call *c)
{
    int32_t id = (int32_t)c->a[0];
    bool absolute = c->a[1] & 1 /* TIMER_ABSTIME */;
    vaddr_t rest = absolute ? 0 : c->a[3];
    struct clock clock = clock_find(c->a[0]);
    uint64_t ns, now_ns;

    if (id == CLOCK_THREAD_CPUTIME_ID)
        return -EOPNOTSUPP;
    if (clock.kind == CLOCK_NONE || clock.kind == CLOCK_OF_THREAD)
        return -EINVAL;
    if (id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_MONOTONIC_RAW)
        return -EOPNOTSUPP;
    int err = user_get_time(c->a[2], &ns);
    if (!err && clock.kind == CLOCK_OF_PROCESS)
        err = read_clock(c, clock, &now_ns);
    if (err)
        return err;
    if (clock.kind == CLOCK_OF_PROCESS)
        return sleep_cpu_time(c, clock, absolute ? ns : now_ns + MIN(ns, UINT64_MAX / 2), rest);
    if (!absolute)
        ns = deadline_after(ns);
    else if (clock.kind == CLOCK_OF_DATE)
        ns = deadline_of_date(ns);
    return sleep_until(ns, rest);
}

/* ---- Times of processes ---------------------------------------------------------------------- */

int64_t sys_times(const struct call *c)
{
    const uint64_t tick_ns = NS_PER_S / TIMES_HZ;
    struct cpu_time own = process_time(c->p), past = proctree_descendants_time(c->p);
    struct tms t = {.tms_utime = (long)(cpu_time_user_ns(own) / tick_ns),
                    .tms_stime = (long)(own.system_ns / tick_ns),
                    .tms_cutime = (long)(cpu_time_user_ns(past) / tick_ns),
                    .tms_cstime = (long)(past.system_ns / tick_ns)};

    if (c->a[0] && arch_copy_to_user(c->a[0], &t, sizeof(t)))
        return -EFAULT;
    return (int64_t)(arch_clock_ns() / tick_ns);
}

int64_t sys_getrusage(const struct call *c)
{
    int32_t who = (int32_t)c->a[0];
    struct rusage r = {0};
    struct space_stats memory;

    if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
        return -EINVAL;
    struct cpu_time time = who == RUSAGE_THREAD ? sched_time(c->t)
                           : who == RUSAGE_SELF ? process_time(c->p)
                                                : proctree_descendants_time(c->p);
    r.ru_utime = timeval_of(cpu_time_user_ns(time));
    r.ru_stime = timeval_of(time.system_ns);
    if (who != RUSAGE_CHILDREN) {
        space_stats(c->p->space, &memory);
        r.ru_maxrss = (long)(memory.resident_pages * PAGE_SIZE / KIB);
        r.ru_minflt = (long)(memory.faults - memory.waits);
        r.ru_majflt = (long)memory.waits;
    }
    return arch_copy_to_user(c->a[1], &r, sizeof(r));
}
