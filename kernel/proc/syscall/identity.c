/* System calls of Linux: who the caller is and what system it is on (getpid(2), uname(2),
 * sysinfo(2), prctl(2), getrandom(2)). There is one user, proc.user. */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/fs/vnode.h"
#include "kernel/lib/release.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/machine_name.h"
#include "kernel/proc/perf.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "kernel/trace/telemetry.h"
#include <linux/limits.h>
#include <linux/personality.h>
#include <linux/prctl.h>
#include <linux/random.h>
#include <linux/sysinfo.h>
#include <linux/utsname.h>

#define NAME_BYTES     16 /* of a thread, the NUL included: TASK_COMM_LEN */
#define VMA_NAME_BYTES 80 /* of memory, likewise: ANON_VMA_NAME_MAX_LEN */
#define RANDOM_CHUNK   256
#define RANDOM_MAX     ((uint64_t)0x7ffff000) /* bytes a call gives at most */
#define SIGNAL_MAX     64
#define TIMER_SLACK_NS 50000

/* ---- Numbers --------------------------------------------------------------------------------- */

int64_t sys_getpid(const struct call *c)
{
    return c->p->pid;
}

/* The parent of those that the kernel starts is 0, as the first process's on Linux. */
int64_t sys_getppid(const struct call *c)
{
    return proctree_parent(c->p);
}

/* getuid, geteuid, getgid, getegid. */
int64_t sys_getuid(UNUSED const struct call *c)
{
    return (int64_t)proc_user;
}

/* getresuid, getresgid. */
int64_t sys_getresuid(const struct call *c)
{
    const uint32_t user = (uint32_t)proc_user;

    for (unsigned i = 0; i < 3; i++)
        if (arch_copy_to_user(c->a[i], &user, sizeof(user)))
            return -EFAULT;
    return 0;
}

/* Returns whether a call that sets n identities leaves all at the one user's; UINT32_MAX: as it
 * is. */
static int64_t set_ids(const struct call *c, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if ((uint32_t)c->a[i] != proc_user && ((uint32_t)c->a[i] != UINT32_MAX || n == 1))
            return (uint32_t)c->a[i] == UINT32_MAX ? -EINVAL : -EPERM;
    return 0;
}

/* setuid, setgid. */
int64_t sys_setuid(const struct call *c)
{
    return set_ids(c, 1);
}

/* setreuid, setregid. */
int64_t sys_setreuid(const struct call *c)
{
    return set_ids(c, 2);
}

/* setresuid, setresgid. */
int64_t sys_setresuid(const struct call *c)
{
    return set_ids(c, 3);
}

int64_t sys_getgroups(const struct call *c)
{
    const uint32_t group = (uint32_t)proc_user,
                   n = __atomic_load_n(&c->p->groups, __ATOMIC_RELAXED);
    uint32_t room = (uint32_t)c->a[0];

    if ((int32_t)room < 0 || (room && room < n))
        return -EINVAL;
    for (uint32_t i = 0; room && i < n; i++)
        if (arch_copy_to_user(c->a[1] + i * sizeof(group), &group, sizeof(group)))
            return -EFAULT;
    return n;
}

/* Of groups beside its own a process has none; it may name its own as often as it likes. */
int64_t sys_setgroups(const struct call *c)
{
    uint32_t n = (uint32_t)c->a[0], group = 0;

    if (n > NGROUPS_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++) {
        if (arch_copy_from_user(&group, c->a[1] + i * sizeof(group), sizeof(group)))
            return -EFAULT;
        if (group != proc_user)
            return group == UINT32_MAX ? -EINVAL : -EPERM;
    }
    __atomic_store_n(&c->p->groups, n, __ATOMIC_RELAXED);
    return 0;
}

/* ---- The system ------------------------------------------------------------------------------ */

int64_t sys_uname(const struct call *c)
{
    struct new_utsname u = {.sysname = "Linux", .release = RELEASE_NAME, .version = RELEASE_BUILD};

    machine_name_get(MACHINE_HOST, u.nodename);
    machine_name_get(MACHINE_DOMAIN, u.domainname);
    ksnprintf(u.machine, sizeof(u.machine), "%s", arch_name);
    return arch_copy_to_user(c->a[0], &u, sizeof(u));
}

static int64_t set_machine_name(const struct call *c, enum machine_name which)
{
    char name[MACHINE_NAME_BYTES] = {0};
    int32_t n = (int32_t)c->a[1];

    if (n < 0 || n >= MACHINE_NAME_BYTES)
        return -EINVAL;
    if (arch_copy_from_user(name, c->a[0], (size_t)n))
        return -EFAULT;
    machine_name_set(which, name);
    return 0;
}

int64_t sys_sethostname(const struct call *c)
{
    return set_machine_name(c, MACHINE_HOST);
}

int64_t sys_setdomainname(const struct call *c)
{
    return set_machine_name(c, MACHINE_DOMAIN);
}

int64_t sys_sysinfo(const struct call *c)
{
    struct frame_stats frames;

    frame_stats(&frames);
    struct loads loads = sched_loads();
    _Static_assert(LOAD_SHIFT == SI_LOAD_SHIFT, "averages are told as they are");
    struct sysinfo s = {
        .loads = {loads.average[LOAD_1_MINUTE], loads.average[LOAD_5_MINUTES],
                  loads.average[LOAD_15_MINUTES]},
        .uptime = (__kernel_long_t)(arch_clock_ns() / NS_PER_S),
        .totalram = frames.total_pages * PAGE_SIZE,
        .freeram = frames.free_pages * PAGE_SIZE,
        .procs = (uint16_t)MIN(process_count(), (unsigned)UINT16_MAX),
        .mem_unit = 1,
    };
    return arch_copy_to_user(c->a[0], &s, sizeof(s));
}

int64_t sys_getcpu(const struct call *c)
{
    uint32_t cpu = this_cpu()->index, node = sched_topology()->of[cpu].node;

    if (c->a[0] && arch_copy_to_user(c->a[0], &cpu, sizeof(cpu)))
        return -EFAULT;
    return c->a[1] ? arch_copy_to_user(c->a[1], &node, sizeof(node)) : 0;
}

/* ---- Chance ---------------------------------------------------------------------------------- */

int64_t sys_getrandom(const struct call *c)
{
    uint64_t n = MIN(c->a[1], RANDOM_MAX), done = 0;
    uint32_t flags = (uint32_t)c->a[2];
    uint8_t bytes[RANDOM_CHUNK];

    if (flags & ~(uint32_t)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE) ||
        (flags & GRND_RANDOM && flags & GRND_INSECURE))
        return -EINVAL;
    while (done < n && !process_ending(c->p)) {
        uint64_t part = MIN(n - done, (uint64_t)sizeof(bytes));
        entropy_bytes(&c->p->entropy, bytes, part);
        if (arch_copy_to_user(c->a[0] + done, bytes, part))
            return done ? (int64_t)done : -EFAULT;
        done += part;
        sched_point();
    }
    return (int64_t)done;
}

/* ---- prctl, personality ---------------------------------------------------------------------- */

static int set_name(const struct call *c)
{
    char name[NAME_BYTES] = {0};

    /* A longer name is cut; the end of memory may follow a shorter one's NUL. */
    for (unsigned i = 0; i < NAME_BYTES - 1; i++) {
        if (arch_copy_from_user(&name[i], c->a[1] + i, 1))
            return -EFAULT;
        if (!name[i])
            break;
    }
    bool irq = spin_lock(&c->p->lock);
    memcpy(c->t->name, name, sizeof(name));
    spin_unlock(&c->p->lock, irq);
    telemetry_thread_name(c->t->tid, name);
    return 0;
}

static int get_name(const struct call *c)
{
    char name[NAME_BYTES] = {0};
    bool irq = spin_lock(&c->p->lock);

    memcpy(name, c->t->name, NAME_BYTES - 1);
    spin_unlock(&c->p->lock, irq);
    return arch_copy_to_user(c->a[1], name, sizeof(name));
}

static bool may_name(char c)
{
    return c >= ' ' && c <= '~' && c != '\\' && c != '`' && c != '$' && c != '[' && c != ']';
}

/* Names anonymous memory; without a name it is "memory" again. */
static int set_memory_name(const struct call *c)
{
    char name[VMA_NAME_BYTES] = "memory";
    int err = c->a[1] != PR_SET_VMA_ANON_NAME ? -EINVAL
              : c->a[4]                       ? user_copy_string(name, sizeof(name), c->a[4])
                                              : 0;

    for (const char *x = name; !err && *x; x++)
        if (!may_name(*x))
            err = -EINVAL;
    if (err || c->a[2] + ALIGN_UP(c->a[3], PAGE_SIZE) == c->a[2])
        return err == -E2BIG ? -EINVAL : err;
    return space_set_name(c->p->space, c->a[2], c->a[3], name);
}

static int put_int(vaddr_t to, int32_t v)
{
    return arch_copy_to_user(to, &v, sizeof(v));
}

int64_t sys_prctl(const struct call *c)
{
    struct process *p = c->p;
    bool rest_zero = !c->a[2] && !c->a[3] && !c->a[4];

    switch (c->a[0]) {
    case PR_SET_NAME:
        return set_name(c);
    case PR_GET_NAME:
        return get_name(c);
    case PR_SET_VMA:
        return set_memory_name(c);
    case PR_SET_PDEATHSIG:
        if (c->a[1] > SIGNAL_MAX)
            return -EINVAL;
        p->death_signal = (uint8_t)c->a[1];
        return 0;
    case PR_GET_PDEATHSIG:
        return put_int(c->a[1], p->death_signal);
    case PR_SET_CHILD_SUBREAPER:
        proctree_set_orphans(p, c->a[1]);
        return 0;
    case PR_GET_CHILD_SUBREAPER:
        return put_int(c->a[1], proctree_takes_orphans(p));
    case PR_SET_DUMPABLE:
        if (c->a[1] > 1)
            return -EINVAL;
        p->no_dump = !c->a[1];
        return 0;
    case PR_GET_DUMPABLE:
        return !p->no_dump;
    case PR_GET_KEEPCAPS:
        return 0;
    case PR_SET_NO_NEW_PRIVS:
        if (c->a[1] != 1 || !rest_zero)
            return -EINVAL;
        p->no_new_privs = true;
        return 0;
    case PR_GET_NO_NEW_PRIVS:
        return c->a[1] || !rest_zero ? -EINVAL : p->no_new_privs;
    case PR_GET_TIMERSLACK:
        return TIMER_SLACK_NS;
    case PR_TASK_PERF_EVENTS_DISABLE:
    case PR_TASK_PERF_EVENTS_ENABLE:
        perf_enable_own(c->t, c->a[0] == PR_TASK_PERF_EVENTS_ENABLE);
        return 0;
    default:
        return -EINVAL;
    }
}

/* Addresses are never random here, so that flag changes nothing; other kinds of system are not
 * imitated. */
int64_t sys_personality(const struct call *c)
{
    uint32_t wanted = (uint32_t)c->a[0], before = c->p->personality;

    if (wanted == UINT32_MAX)
        return before;
    if (wanted & ~(uint32_t)ADDR_NO_RANDOMIZE)
        return -EINVAL;
    c->p->personality = wanted;
    return before;
}
