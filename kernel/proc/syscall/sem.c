/* Linux's system calls of System V's semaphores (semaphores.h). */
#include "kernel/mem/mem.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/semaphores.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include <asm/sembuf.h>

int64_t sys_semget(const struct call *c)
{
    return (int)c->a[1] < 0 ? -EINVAL
                            : semaphores_get((uint32_t)c->a[0], c->a[1], (uint32_t)c->a[2]);
}

static int64_t operate(const struct call *c, uint64_t deadline_ns)
{
    uint64_t n = c->a[2];

    if (!n || (int)c->a[0] < 0)
        return -EINVAL;
    if (n > SEM_OPS_MAX)
        return -E2BIG;
    struct sembuf *ops = kmalloc(n * sizeof(*ops));
    if (!ops)
        return -ENOMEM;
    int err = arch_copy_from_user(ops, c->a[1], n * sizeof(*ops))
                  ? -EFAULT
                  : semaphores_operate(c->p, c->a[0], ops, (unsigned)n, deadline_ns);
    kfree(ops);
    return err;
}

int64_t sys_semop(const struct call *c)
{
    return operate(c, UINT64_MAX);
}

int64_t sys_semtimedop(const struct call *c)
{
    uint64_t ns = UINT64_MAX;
    int err = c->a[3] ? user_get_time(c->a[3], &ns) : 0;

    if (err)
        return err;
    return operate(c, deadline_after(ns));
}

/* ---- semctl ---------------------------------------------------------------------------------- */

static int64_t put_state(const struct call *c, bool place)
{
    struct sem_state s;
    int64_t id = semaphores_state((uint32_t)c->a[0], place, &s);

    if (id < 0)
        return id;
    struct semid64_ds out = {.sem_perm = {.key = (__kernel_key_t)s.ipc.key,
                                          .uid = s.ipc.uid,
                                          .gid = s.ipc.gid,
                                          .cuid = s.ipc.maker_uid,
                                          .cgid = s.ipc.maker_gid,
                                          .mode = (__kernel_mode_t)s.ipc.mode},
                             .sem_otime = s.used,
                             .sem_ctime = s.ipc.changed,
                             .sem_nsems = s.count};
    return arch_copy_to_user(c->a[3], &out, sizeof(out)) ? -EFAULT : place ? id : 0;
}

/* Stores the limits, and for SEM_INFO what there is. */
static int64_t put_info(const struct call *c, uint32_t command)
{
    struct seminfo info = {.semmap = IPC_ENTRIES * SEM_SET_MAX,
                           .semmni = IPC_ENTRIES,
                           .semmns = IPC_ENTRIES * SEM_SET_MAX,
                           .semmnu = IPC_ENTRIES * SEM_SET_MAX,
                           .semmsl = SEM_SET_MAX,
                           .semopm = SEM_OPS_MAX,
                           .semume = SEM_OPS_MAX,
                           .semusz = 20,
                           .semvmx = SEM_VALUE,
                           .semaem = SEM_VALUE};
    uint64_t semaphores;
    unsigned sets;
    int last = semaphores_count(&sets, &semaphores);

    if (command == SEM_INFO) {
        info.semusz = (int)sets;
        info.semaem = (int)semaphores;
    }
    return arch_copy_to_user(c->a[3], &info, sizeof(info)) ? -EFAULT : last;
}

/* GETALL and SETALL. */
static int64_t move_all(const struct call *c, bool sets)
{
    struct sem_state s;
    int64_t err = semaphores_state((uint32_t)c->a[0], false, &s);

    if (err < 0)
        return err;
    uint16_t *values = kmalloc(s.count * sizeof(*values));
    if (!values)
        return -ENOMEM;
    if (sets)
        err = arch_copy_from_user(values, c->a[3], s.count * sizeof(*values))
                  ? -EFAULT
                  : semaphores_set(c->p, c->a[0], 0, values, s.count);
    else
        err = semaphores_values(c->a[0], values, s.count)
                  ?: arch_copy_to_user(c->a[3], values, s.count * sizeof(*values)) ? -EFAULT
                                                                                   : 0;
    kfree(values);
    return err;
}

static int64_t set_state(const struct call *c)
{
    struct semid64_ds in;

    if (arch_copy_from_user(&in, c->a[3], sizeof(in)))
        return -EFAULT;
    return semaphores_set_owner(c->a[0], in.sem_perm.uid, in.sem_perm.gid, in.sem_perm.mode);
}

static int64_t set_value(const struct call *c)
{
    int value = (int)c->a[3];
    uint16_t stored = (uint16_t)value;

    if (value < 0 || value > SEM_VALUE)
        return -ERANGE;
    return (int)c->a[1] < 0 ? -EINVAL : semaphores_set(c->p, c->a[0], c->a[1], &stored, 1);
}

int64_t sys_semctl(const struct call *c)
{
    uint32_t command = (uint32_t)c->a[2] & ~(uint32_t)IPC_64;

    if ((int)c->a[0] < 0)
        return -EINVAL;
    switch (command) {
    case IPC_INFO:
    case SEM_INFO:
        return put_info(c, command);
    case IPC_STAT:
        return put_state(c, false);
    case SEM_STAT:
    case SEM_STAT_ANY:
        return put_state(c, true);
    case IPC_SET:
        return set_state(c);
    case IPC_RMID:
        return semaphores_remove(c->a[0]);
    case GETALL:
    case SETALL:
        return move_all(c, command == SETALL);
    case SETVAL:
        return set_value(c);
    case GETVAL:
    case GETPID:
    case GETNCNT:
    case GETZCNT:
        return (int)c->a[1] < 0 ? -EINVAL : semaphores_number(c->a[0], c->a[1], command);
    default:
        return -EINVAL;
    }
}
