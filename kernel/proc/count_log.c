/*
 * Logs of sessions of counts, see count_session.h. A program takes records by a call that copies
 * them: rings that it mapped would have a tail that it may overwrite, and one call for hundreds of
 * records costs little.
 */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/count_held.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/internal.h"

#define PART_BYTES 4096 /* of records copied to user memory at a time */

_Static_assert(sizeof(struct sys_hpm_logged) == sizeof(struct log_record) &&
                   sizeof(struct sys_hpm_pair) == sizeof(struct mux_raw) &&
                   offsetof(struct sys_hpm_logged, lost) == offsetof(struct log_record, lost) &&
                   offsetof(struct sys_hpm_logged, cpu) == offsetof(struct log_record, cpu) &&
                   offsetof(struct sys_hpm_logged, why) == offsetof(struct log_record, why) &&
                   (int)SYS_LOG_REST == (int)LOG_REST && (int)SYS_LOG_ENDED == (int)LOG_ENDED,
               "as in abi.h");
_Static_assert(PART_BYTES >= HPM_LOG_BYTES_MIN, "room for a record");

static const char *what_is_wrong(const struct sys_hpm_log *what)
{
    uint32_t bytes = what->bytes;

    if (what->every_ns &&
        (what->every_ns < HPM_LOG_EVERY_MIN_NS || what->every_ns > HPM_LOG_EVERY_MAX_NS))
        return "every_ns: a log's period is 20 us to an hour, or 0 for none";
    if (what->scope != SYS_SCOPE_PROCESS && what->scope != SYS_SCOPE_FAMILY &&
        what->scope != SYS_SCOPE_MACHINE)
        return "scope: a log is of a process, of a family or of the machine";
    if (what->scope == SYS_SCOPE_MACHINE && what->pid)
        return "pid: the machine has none: it must be 0";
    if (bytes < HPM_LOG_BYTES_MIN || bytes > HPM_LOG_BYTES_MAX || !is_pow2(bytes))
        return "bytes: a log has 4 KB to 1 MB for each CPU, a power of two";
    return what->reserved ? "reserved: it must be 0" : NULL;
}

static const char *explain(int err)
{
    return err == -EBUSY    ? "the session has a log already"
           : err == -EINVAL ? "the session counts no event, and metrics are not logged"
           : err == -ENOSPC ? "all 4 logs are in use"
           : err == -EDQUOT ? "this process has all the kernel memory that mem.kernel allows"
           : err == -ESRCH  ? "there is no such session"
                            : "no memory";
}

/* Starts the log, whose memory has been charged. */
static int start_log(const struct process *owner, uint32_t session, const struct hpm_log_what *what,
                     uint64_t charged)
{
    gate_enter(&sessions_gate);
    struct count_session *s = count_session_find(owner, session);
    int err = !s ? -ESRCH : s->log ? -EBUSY : hpm_log_open(s->hpm, what, &s->log);
    int figures = err ? 0 : (int)hpm_log_figures(s->log);
    if (!err)
        s->log_bytes = charged;
    gate_leave(&sessions_gate);
    return err ? err : figures;
}

int counts_log(struct process *owner, uint32_t session, const struct sys_hpm_log *what, char *why,
               size_t size)
{
    bool machine = what->scope == SYS_SCOPE_MACHINE;
    const struct hpm_log_what log = {.every_ns = what->every_ns,
                                     .pid = machine     ? 0
                                            : what->pid ? what->pid
                                                        : owner->pid,
                                     .family = what->scope == SYS_SCOPE_FAMILY,
                                     .bytes = what->bytes};
    const char *wrong = what_is_wrong(what);
    uint64_t charged = (uint64_t)cpu_count() * what->bytes;

    if (wrong) {
        ksnprintf(why, size, "%s", wrong);
        return -EINVAL;
    }
    int err = session_may_watch(owner, log.pid, why, size);
    if (err)
        return err;
    int figures = process_charge(owner, charged);
    if (!figures) {
        figures = start_log(owner, session, &log, charged);
        if (figures < 0)
            process_uncharge(owner, charged);
    }
    if (figures < 0)
        ksnprintf(why, size, "%s", explain(figures));
    return figures;
}

/* ---- Taking: records are copied to user memory outside of the gate, and stay in the ring until
 * that is done ---- */

/* What was copied: of which CPU, how many bytes each, at which position of the session. */
struct peeked {
    struct session_position at;
    unsigned cpu;
    size_t record;
};

static int64_t peek(const struct process *owner, uint32_t session, void *part, size_t bytes,
                    struct peeked *out)
{
    int64_t n = -ESRCH;

    gate_enter(&sessions_gate);
    const struct count_session *s = count_session_find(owner, session);
    if (s && s->log) {
        out->at = session_position(&s->base);
        out->record = hpm_log_record_bytes(s->log);
        n = bytes < out->record ? -EINVAL : (int64_t)hpm_log_peek(s->log, part, bytes, &out->cpu);
    }
    gate_leave(&sessions_gate);
    return n;
}

static bool commit(const struct process *owner, uint32_t session, size_t n,
                   const struct peeked *seen)
{
    gate_enter(&sessions_gate);
    struct count_session *s = count_session_find_at(owner, session, &seen->at);
    if (s) {
        hpm_log_taken(s->log, seen->cpu, n);
        s->base.delivered += n;
    }
    gate_leave(&sessions_gate);
    return s != NULL;
}

/* Takes records of one CPU. Returns their number, and advances `done` by their bytes. */
static int64_t take_part(const struct process *owner, uint32_t session, vaddr_t to, size_t bytes,
                         void *part, size_t *done)
{
    struct peeked seen;
    int64_t n;

    do {
        n = peek(owner, session, part, MIN(bytes, (size_t)PART_BYTES), &seen);
        if (n <= 0)
            return n;
        if (arch_copy_to_user(to, part, (size_t)n * seen.record))
            return -EFAULT;
    } while (!commit(owner, session, (size_t)n, &seen));
    *done += (size_t)n * seen.record;
    return n;
}

static int ask_all(const struct process *owner, uint32_t session)
{
    gate_enter(&sessions_gate);
    const struct count_session *s = count_session_find(owner, session);
    bool is = s && s->log;
    if (is)
        hpm_log_ask();
    gate_leave(&sessions_gate);
    return is ? 0 : -ESRCH;
}

int64_t counts_log_take(const struct process *owner, uint32_t session, vaddr_t to, size_t bytes)
{
    size_t done = 0;
    int64_t n, taken = 0;

    if (!bytes)
        return ask_all(owner, session);
    void *part = kmalloc_unfilled(PART_BYTES);
    if (!part)
        return -ENOMEM;
    do {
        n = take_part(owner, session, to + done, bytes - done, part, &done);
        taken += n > 0 ? n : 0;
        sched_point();
    } while (n > 0 && !process_ending(owner)); /* until there is no record, or no room for one */
    kfree(part);
    return taken ? taken : n;
}
