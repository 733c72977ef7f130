/* System calls of Linux: futexes (futex(2)). */
#include "kernel/proc/deadline.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include <linux/futex.h>

/* Reads the time at which a wait ends, as arch_clock_ns() counts; UINT64_MAX: never. */
static int read_deadline(const struct call *c, int command, bool realtime, uint64_t *deadline)
{
    uint64_t ns;

    *deadline = UINT64_MAX;
    if (!c->a[3])
        return 0;
    int err = user_get_time(c->a[3], &ns);
    if (err)
        return err;
    *deadline = command == FUTEX_WAIT ? deadline_after(ns) : realtime ? deadline_of_date(ns) : ns;
    return 0;
}

static int64_t wait(const struct call *c, int command, bool realtime)
{
    uint32_t bits = command == FUTEX_WAIT ? FUTEX_ANY : (uint32_t)c->a[5];
    uint64_t deadline;
    int err = bits ? read_deadline(c, command, realtime, &deadline) : -EINVAL;

    if (err)
        return err;
    deadline = signals_deadline(deadline);
    err = futex_wait(c->p->space, c->a[0], (uint32_t)c->a[2], bits, deadline);
    return err == -ERESTARTSYS && c->a[3] ? -ERESTART_RESTARTBLOCK : err;
}

static int64_t requeue(const struct call *c, bool compares)
{
    struct futex_requeue what = {
        .from = c->a[0],
        .to = c->a[4],
        .wake = (uint32_t)c->a[2],
        .move = (uint32_t)c->a[3],
        .compares = compares,
        .expected = (uint32_t)c->a[5],
    };

    if (what.wake > INT32_MAX || what.move > INT32_MAX)
        return -EINVAL;
    return futex_requeue(c->p->space, &what);
}

/* The operation of FUTEX_WAKE_OP on the second word, and the comparison of its old value. */
struct wake_op {
    unsigned operation, comparison;
    int32_t operand, compared;
};

static struct wake_op decode_op(uint32_t code)
{
    struct wake_op op = {
        .operation = code >> 28 & 7,
        .comparison = code >> 24 & 15,
        .operand = (int32_t)(code << 8) >> 20,
        .compared = (int32_t)(code << 20) >> 20,
    };

    if (code >> 28 & FUTEX_OP_OPARG_SHIFT)
        op.operand = (int32_t)((uint32_t)1 << (op.operand & 31));
    return op;
}

static int apply_op(const struct wake_op *op, int32_t old, int32_t *new)
{
    switch (op->operation) {
    case FUTEX_OP_SET:
        *new = op->operand;
        return 0;
    case FUTEX_OP_ADD:
        *new = (int32_t)((uint32_t)old + (uint32_t)op->operand);
        return 0;
    case FUTEX_OP_OR:
        *new = old | op->operand;
        return 0;
    case FUTEX_OP_ANDN:
        *new = old & ~op->operand;
        return 0;
    case FUTEX_OP_XOR:
        *new = old ^ op->operand;
        return 0;
    default:
        return -ENOSYS;
    }
}

static int compare_op(const struct wake_op *op, int32_t old)
{
    switch (op->comparison) {
    case FUTEX_OP_CMP_EQ:
        return old == op->compared;
    case FUTEX_OP_CMP_NE:
        return old != op->compared;
    case FUTEX_OP_CMP_LT:
        return old < op->compared;
    case FUTEX_OP_CMP_GE:
        return old >= op->compared;
    case FUTEX_OP_CMP_LE:
        return old <= op->compared;
    case FUTEX_OP_CMP_GT:
        return old > op->compared;
    default:
        return -ENOSYS;
    }
}

/* Changes the word at `at` by the operation. Returns whether its old value passes the comparison,
 * or an error. */
static int change_word(vaddr_t at, const struct wake_op *op)
{
    uint32_t old, seen;
    int32_t new;

    if (!IS_ALIGNED(at, sizeof(old)))
        return -EINVAL;
    if (arch_copy_from_user(&old, at, sizeof(old)))
        return -EFAULT;
    for (;; old = seen) {
        int err = apply_op(op, (int32_t)old, &new);
        if (!err)
            err = arch_swap_user32(at, old, (uint32_t) new, &seen);
        if (err)
            return err;
        if (seen == old)
            return compare_op(op, (int32_t)old);
        sched_point();
    }
}

static int64_t wake_op(const struct call *c)
{
    struct wake_op op = decode_op((uint32_t)c->a[5]);
    int both = change_word(c->a[4], &op), woken, more = 0;

    if (both < 0)
        return both;
    woken = futex_wake(c->p->space, c->a[0], (uint32_t)c->a[2], FUTEX_ANY);
    if (woken >= 0 && both)
        more = futex_wake(c->p->space, c->a[4], (uint32_t)c->a[3], FUTEX_ANY);
    return woken < 0 ? woken : more < 0 ? more : woken + more;
}

int64_t sys_futex(const struct call *c)
{
    int op = (int)c->a[1], command = op & FUTEX_CMD_MASK;
    bool realtime = op & FUTEX_CLOCK_REALTIME;

    if (realtime && command != FUTEX_WAIT_BITSET)
        return -ENOSYS;
    switch (command) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        return wait(c, command, realtime);
    case FUTEX_WAKE:
        return futex_wake(c->p->space, c->a[0], (uint32_t)c->a[2], FUTEX_ANY);
    case FUTEX_WAKE_BITSET:
        if (!(uint32_t)c->a[5])
            return -EINVAL;
        return futex_wake(c->p->space, c->a[0], (uint32_t)c->a[2], (uint32_t)c->a[5]);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        return requeue(c, command == FUTEX_CMP_REQUEUE);
    case FUTEX_WAKE_OP:
        return wake_op(c);
    default: /* futexes that lend priority */
        return -ENOSYS;
    }
}
