/* System calls of counters and samples. */
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/figures.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/sample_session.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "kernel/trace/telemetry.h"
#include "hpm/count.h"

#define NAMES_MAX  4096 /* of events and metrics, in one session */
#define VALUES_MAX 64   /* of one session */

int64_t vigil_mark(const struct call *c)
{
    char label[64];
    int err = user_copy_string(label, sizeof(label), c->a[0]);

    if (!err && telemetry_wants(TELEMETRY_MARKS)) {
        sched_quanta_cut();
        telemetry_mark(c->t->tid, label);
    }
    hpm_mark(label);
    return err;
}

/* Reads the breakdown that a program asks for at `at`. */
static int read_breakdown(struct process *p, uint64_t at, struct sys_hpm_read *what,
                          struct hpm_breakdown *out)
{
    if (arch_copy_from_user(what, at, sizeof(*what)))
        return -EFAULT;
    if (what->scope >= SYS_SCOPES || what->session || what->since_last || what->reserved)
        return -EINVAL;
    if (what->scope == SYS_SCOPE_MACHINE) {
        if (!visible_machine())
            return -EACCES;
        hpm_read_machine(out);
        return 0;
    }
    struct process *other = process_to_read(p, what->pid);
    if (!other)
        return -ESRCH;
    int err = 0;
    if (what->scope == SYS_SCOPE_PROCESS)
        process_hpm(other, out);
    else if (what->scope == SYS_SCOPE_FAMILY)
        err = process_hpm_family(other, out);
    else
        err = process_hpm_thread(other, what->tid ? what->tid : thread_current()->tid, out);
    process_put(other);
    return err;
}

int64_t vigil_hpm_read(const struct call *c)
{
    struct {
        struct hpm_breakdown b;
        struct sys_breakdown result;
    } *work = kmalloc(sizeof(*work)); /* too large for a stack */
    struct sys_hpm_read what;

    if (!work)
        return -ENOMEM;
    int64_t err = read_breakdown(c->p, c->a[0], &what, &work->b);
    if (!err) {
        sysinfo_breakdown(&work->b, &work->result);
        work->result.own_cycles = what.scope == SYS_SCOPE_MACHINE ? hpm_own_cycles() : 0;
        err = user_put_struct(c->a[1], c->a[2], &work->result, sizeof(work->result));
    }
    kfree(work);
    return err;
}

static void put_text(char *to, size_t size, const char *from)
{
    size_t n = MIN(text_length(from), size - 1);

    memcpy(to, from, n);
}

int64_t vigil_hpm_list(const struct call *c)
{
    struct {
        struct event_listed from;
        struct sys_hpm_listed to;
    } * work;
    uint32_t cursor;

    if (arch_copy_from_user(&cursor, c->a[0], sizeof(cursor)))
        return -EFAULT;
    work = kmalloc(sizeof(*work)); /* too large for a stack */
    if (!work)
        return -ENOMEM;
    int64_t err = hpm_list(&cursor, &work->from);
    if (!err) {
        work->to = (struct sys_hpm_listed){
            .kind = work->from.kind, .counters = work->from.counters, .fixed = work->from.fixed};
        work->to.groups = counts_groups(work->from.text);
        put_text(work->to.text, sizeof(work->to.text), work->from.text);
        put_text(work->to.means, sizeof(work->to.means), work->from.means);
        put_text(work->to.about, sizeof(work->to.about), work->from.about);
        put_text(work->to.unit, sizeof(work->to.unit), work->from.unit);
        err = user_put_struct(c->a[1], c->a[2], &work->to, sizeof(work->to));
    }
    if (!err && arch_copy_to_user(c->a[0], &cursor, sizeof(cursor)))
        err = -EFAULT;
    kfree(work);
    return err;
}

/* Charges kernel memory for a session. */
static int charge_session(struct process *p, uint64_t bytes, char *why, size_t size)
{
    int err = process_charge(p, bytes);

    if (err)
        ksnprintf(why, size, "this process has all the kernel memory that mem.kernel allows");
    return err;
}

int64_t vigil_hpm_open(const struct call *c)
{
    char *names, why[160] = "";
    int err = user_take_string(&names, NAMES_MAX, c->a[0]);

    if (err)
        return err;
    int session = charge_session(c->p, hpm_session_bytes(), why, sizeof(why));
    if (!session) {
        session = counts_open(c->p, names, why, sizeof(why));
        if (session < 0)
            process_uncharge(c->p, hpm_session_bytes());
    }
    kfree(names);
    /* The session failed, and so may the copy of the reason. */
    if (session < 0 && c->a[2] &&
        user_put_struct(c->a[1], c->a[2], why, MIN(c->a[2], (uint64_t)sizeof(why))))
        return -EFAULT;
    return session;
}

int64_t vigil_hpm_values(const struct call *c)
{
    struct sys_hpm_read read;

    if (arch_copy_from_user(&read, c->a[0], sizeof(read)))
        return -EFAULT;
    return counts_read(c->p, &read, c->a[1],
                       (size_t)MIN(c->a[2] / sizeof(struct sys_hpm_value), (uint64_t)VALUES_MAX));
}

int64_t vigil_hpm_turns(const struct call *c)
{
    struct sys_hpm_turn *turn;
    struct sys_hpm_turns turns;
    size_t room = (size_t)MIN(c->a[4] / sizeof(*turn), (uint64_t)VALUES_MAX);

    if (c->a[0] > UINT32_MAX)
        return -ESRCH;
    turn = kmalloc(VALUES_MAX * sizeof(*turn));
    if (!turn)
        return -ENOMEM;
    int n = counts_turns(c->p, (uint32_t)c->a[0], &turns, turn);
    int err = n < 0 ? n : user_put_struct(c->a[1], c->a[2], &turns, sizeof(turns));
    if (!err && arch_copy_to_user(c->a[3], turn, MIN((size_t)n, room) * sizeof(*turn)))
        err = -EFAULT;
    kfree(turn);
    return err ? err : n;
}

int64_t vigil_hpm_close(const struct call *c)
{
    return c->a[0] > UINT32_MAX ? -ESRCH : counts_close(c->p, (uint32_t)c->a[0]);
}

int64_t vigil_hpm_log(const struct call *c)
{
    char why[160] = "";
    struct sys_hpm_log what;

    if (c->a[0] > UINT32_MAX)
        return -ESRCH;
    if (arch_copy_from_user(&what, c->a[1], sizeof(what)))
        return -EFAULT;
    int figures = counts_log(c->p, (uint32_t)c->a[0], &what, why, sizeof(why));
    if (figures < 0 && c->a[3] &&
        user_put_struct(c->a[2], c->a[3], why, MIN(c->a[3], (uint64_t)sizeof(why))))
        return -EFAULT;
    return figures;
}

int64_t vigil_hpm_log_take(const struct call *c)
{
    return c->a[0] > UINT32_MAX
               ? -ESRCH
               : counts_log_take(c->p, (uint32_t)c->a[0], c->a[1], (size_t)c->a[2]);
}

int64_t vigil_hpm_show(const struct call *c)
{
    return c->a[0] > UINT32_MAX ? -ESRCH : counts_show(c->p, (uint32_t)c->a[0]);
}

/* ---- Samples --------------------------------------------------------------------------------- */

int64_t vigil_sample_open(const struct call *c)
{
    char *text, why[160] = "";
    struct sys_profiling what;

    if (arch_copy_from_user(&what, c->a[0], sizeof(what)))
        return -EFAULT;
    if (what.chains >= SYS_CHAINS || what.family > 1 || what.reserved)
        return -EINVAL;
    int err = user_take_string(&text, NAMES_MAX, what.criteria);
    if (err)
        return err;
    const struct hpm_profiling profiling = {.criteria = text,
                                            .pid = what.pid,
                                            .family = what.family,
                                            .rate = what.rate,
                                            .permille = what.permille,
                                            .chains = (enum hpm_chains)what.chains};
    int session = charge_session(c->p, SAMPLES_SESSION_BYTES, why, sizeof(why));
    if (!session) {
        session = samples_open(c->p, &profiling, why, sizeof(why));
        if (session < 0)
            process_uncharge(c->p, SAMPLES_SESSION_BYTES);
    }
    kfree(text);
    if (session < 0 && c->a[2] &&
        user_put_struct(c->a[1], c->a[2], why, MIN(c->a[2], (uint64_t)sizeof(why))))
        return -EFAULT;
    return session;
}

int64_t vigil_sample_take(const struct call *c)
{
    if (c->a[0] > UINT32_MAX)
        return -ESRCH;
    return samples_take(c->p, (uint32_t)c->a[0], c->a[1],
                        (size_t)(c->a[2] / sizeof(struct sys_sample)));
}

int64_t vigil_sample_account(const struct call *c)
{
    struct sys_sample_account account;

    if (c->a[0] > UINT32_MAX || c->a[1] > UINT32_MAX)
        return c->a[0] > UINT32_MAX ? -ESRCH : -ENOENT;
    int err = samples_account(c->p, (uint32_t)c->a[0], (uint32_t)c->a[1], &account);
    return err ? err : user_put_struct(c->a[2], c->a[3], &account, sizeof(account));
}

int64_t vigil_sample_chain(const struct call *c)
{
    uint64_t *address;

    if (c->a[0] > UINT32_MAX || c->a[1] > UINT32_MAX)
        return c->a[0] > UINT32_MAX ? -ESRCH : -ENOENT;
    address = kmalloc(SYS_CHAIN_MAX * sizeof *address);
    if (!address)
        return -ENOMEM;
    int n = samples_chain(c->p, (uint32_t)c->a[0], (uint32_t)c->a[1], address);
    if (n > 0 && arch_copy_to_user(c->a[2], address,
                                   MIN((uint64_t)n, c->a[3] / sizeof *address) * sizeof *address))
        n = -EFAULT;
    kfree(address);
    return n;
}

int64_t vigil_sample_close(const struct call *c)
{
    int err = c->a[0] > UINT32_MAX ? -ESRCH : samples_close(c->p, (uint32_t)c->a[0]);

    if (!err)
        process_uncharge(c->p, SAMPLES_SESSION_BYTES);
    return err;
}
