/*
 * See sample_session.h. A kernel thread, the collector, moves samples from the CPUs' rings to a
 * buffer for each session, a hundred times a second, and ends the windows in which periods are
 * adapted. When a buffer is full, samples stay in the rings; when a ring is full, it counts the
 * samples lost.
 *
 * All is done under sessions_gate.
 */
#include "kernel/mem/mem.h"
#include "kernel/proc/sample_session.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/session.h"
#include "kernel/core/printf.h"

#define SESSIONS     4
#define COLLECT_NS   (10 * NS_PER_MS)
#define WINDOW_NS    (100 * NS_PER_MS) /* the first windows are shorter */
#define FIRST_NS     (10 * NS_PER_MS)
#define BUFFER_ORDER 7
#define PART         64 /* samples copied to user memory at a time */

_Static_assert(SAMPLES_SESSION_BYTES == PAGE_SIZE << BUFFER_ORDER,
               "what a session's owner is charged");
_Static_assert(sizeof(struct sys_sample) == sizeof(struct hpm_sample) &&
                   offsetof(struct sys_sample, period) == offsetof(struct hpm_sample, period) &&
                   offsetof(struct sys_sample, criterion) ==
                       offsetof(struct hpm_sample, criterion) &&
                   offsetof(struct sys_sample, store) == offsetof(struct hpm_sample, store) &&
                   offsetof(struct sys_sample, fetch) == offsetof(struct hpm_sample, fetch) &&
                   offsetof(struct sys_sample, modified) == offsetof(struct hpm_sample, modified) &&
                   offsetof(struct sys_sample, chain) == offsetof(struct hpm_sample, chain) &&
                   (int)SYS_SOURCE_NONE == (int)SOURCE_COUNT,
               "as in abi.h");

_Static_assert((int)SYS_CHAINS_FP == (int)HPM_CHAINS_FP &&
                   (int)SYS_CHAINS_TABLE == (int)HPM_CHAINS_TABLE,
               "as in abi.h");

enum { BUFFER_SAMPLES = (PAGE_SIZE << BUFFER_ORDER) / sizeof(struct hpm_sample) };

struct sample_session {
    struct session base;
    struct hpm_profile *profile;
    bool by_tables;            /* its chains are made by tables of frames */
    struct hpm_sample *buffer; /* samples first to count - 1 wait */
    size_t first, count;
    uint64_t window_ns, window_end_ns;
};

/* Guarded by sessions_gate, except for the queue. */
static struct {
    struct spinlock lock; /* for sleeping and waking */
    struct wait_queue idle;
    bool started;
    unsigned open; /* lock */
} collector = {.lock = SPINLOCK(LOCK_PROC, "collector of samples"),
               .idle = {{&collector.idle.waiters, &collector.idle.waiters}}};

/* sessions_gate */
static struct sample_session sessions[SESSIONS];
static struct session_table table = {.what = "sessions of samples",
                                     .first = sessions,
                                     .bytes = sizeof(sessions[0]),
                                     .count = SESSIONS,
                                     .process_max = SYS_SAMPLE_SESSIONS,
                                     .family_max = SYS_SAMPLE_FAMILY};

/* ---- Collector ------------------------------------------------------------------------------- */

static void collect_samples(struct sample_session *s)
{
    uint64_t now_ns = arch_clock_ns();

    if (s->first == s->count)
        s->first = s->count = 0;
    s->count += hpm_profile_take(s->profile, s->buffer + s->count, BUFFER_SAMPLES - s->count);
    if (now_ns >= s->window_end_ns) {
        hpm_profile_window(s->profile);
        s->window_ns = MIN(2 * s->window_ns, (uint64_t)WINDOW_NS);
        s->window_end_ns = now_ns + s->window_ns;
    }
}

static void wait_for_session(void)
{
    bool irq = spin_lock(&collector.lock);

    while (!collector.open)
        wait_sleep(&collector.idle, &collector.lock, &irq, UINT64_MAX);
    spin_unlock(&collector.lock, irq);
}

static void run_collector(UNUSED void *unused)
{
    for (;;) {
        wait_for_session();
        gate_enter(&sessions_gate);
        for (unsigned i = 0; i < SESSIONS; i++)
            if (sessions[i].base.pid)
                collect_samples(&sessions[i]);
        gate_leave(&sessions_gate);
        sched_sleep_until(arch_clock_ns() + COLLECT_NS);
    }
}

static int start_collector(void)
{
    int err = collector.started ? 0 : thread_create_kernel("collector", run_collector, NULL, NULL);

    collector.started |= !err;
    return err;
}

static void count_open(int more)
{
    bool irq = spin_lock(&collector.lock);

    collector.open += (unsigned)more;
    wait_wake(&collector.idle, 1);
    spin_unlock(&collector.lock, irq);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static struct sample_session *find_session(const struct process *owner, uint32_t number)
{
    return (struct sample_session *)session_find(&table, owner, number);
}

static int open_held(struct sample_session *s, const struct hpm_profiling *what, char *why,
                     size_t size)
{
    paddr_t pa;

    if (start_collector() || frame_alloc(BUFFER_ORDER, &pa)) {
        ksnprintf(why, size, "no memory");
        return -ENOMEM;
    }
    *s = (struct sample_session){.buffer = phys_to_virt(pa),
                                 .by_tables = what->chains == HPM_CHAINS_TABLE,
                                 .window_ns = FIRST_NS};
    s->window_end_ns = arch_clock_ns() + s->window_ns;
    int err = hpm_profile_open(what, &s->profile, why, size);
    if (err)
        frame_free(pa, BUFFER_ORDER);
    return err;
}

int samples_open(struct process *owner, const struct hpm_profiling *what, char *why, size_t size)
{
    int err = session_may_watch(owner, what->pid, why, size);

    if (err)
        return err;
    if (what->chains == HPM_CHAINS_TABLE)
        code_images_want();
    gate_enter(&sessions_gate);
    struct sample_session *s = (struct sample_session *)session_find_free(&table, owner, why, size);
    err = s ? open_held(s, what, why, size) : -ENOSPC;
    int number = err ? 0 : session_own(&table, &s->base, owner);
    gate_leave(&sessions_gate);
    if (err) {
        if (what->chains == HPM_CHAINS_TABLE)
            code_images_let();
        return err;
    }
    count_open(1);
    return number;
}

static void close_held(struct sample_session *s)
{
    hpm_profile_close(s->profile);
    if (s->by_tables)
        code_images_let();
    frame_free(virt_to_phys(s->buffer), BUFFER_ORDER);
    *s = (struct sample_session){0};
    count_open(-1);
}

int samples_close(const struct process *owner, uint32_t session)
{
    gate_enter(&sessions_gate);
    struct sample_session *s = find_session(owner, session);
    if (s)
        close_held(s);
    gate_leave(&sessions_gate);
    return s ? 0 : -ESRCH;
}

void samples_forget(const struct process *owner)
{
    gate_enter(&sessions_gate);
    for (unsigned i = 0; i < SESSIONS; i++)
        if (sessions[i].base.pid == owner->pid)
            close_held(&sessions[i]);
    gate_leave(&sessions_gate);
}

/* ---- Taking: samples are copied to user memory outside of the gate, and stay in the buffer until
 * that is done ---- */

/* Copies the next samples, up to `max`, and their position. Returns their number, or -ESRCH. */
static int64_t peek_samples(const struct process *owner, uint32_t session, struct hpm_sample *part,
                            size_t max, struct session_position *at)
{
    int64_t n = -ESRCH;

    gate_enter(&sessions_gate);
    struct sample_session *s = find_session(owner, session);
    if (s) {
        collect_samples(s);
        n = (int64_t)MIN(max, s->count - s->first);
        memcpy(part, s->buffer + s->first, (size_t)n * sizeof *part);
        *at = session_position(&s->base);
    }
    gate_leave(&sessions_gate);
    return n;
}

/* Takes the n samples at `at` out, as they have been copied. Returns false if another thread has
 * taken samples meanwhile, or the session was closed. */
static bool commit_samples(const struct process *owner, uint32_t session, size_t n,
                           const struct session_position *at)
{
    gate_enter(&sessions_gate);
    struct sample_session *s = (struct sample_session *)session_find_at(&table, owner, session, at);
    if (s) {
        s->first += n;
        s->base.delivered += n;
    }
    gate_leave(&sessions_gate);
    return s != NULL;
}

static int64_t take_part(const struct process *owner, uint32_t session, vaddr_t to, size_t max,
                         struct hpm_sample *part)
{
    struct session_position at;
    int64_t n;

    do {
        n = peek_samples(owner, session, part, max, &at);
        if (n <= 0)
            return n;
        if (arch_copy_to_user(to, part, (size_t)n * sizeof *part))
            return -EFAULT;
    } while (!commit_samples(owner, session, (size_t)n, &at));
    return n;
}

static bool is_open(const struct process *owner, uint32_t session)
{
    gate_enter(&sessions_gate);
    bool is = find_session(owner, session) != NULL;
    gate_leave(&sessions_gate);
    return is;
}

int64_t samples_take(const struct process *owner, uint32_t session, vaddr_t to, size_t max)
{
    struct hpm_sample *part = kmalloc(PART * sizeof *part);
    size_t done = 0;
    int64_t n;

    if (!part)
        return -ENOMEM;
    if (!max && is_open(owner, session))
        hpm_profiles_flush();
    do {
        n = take_part(owner, session, to + done * sizeof *part, MIN(max - done, (size_t)PART),
                      part);
        done += n > 0 ? (size_t)n : 0;
        sched_point();
    } while (n > 0 && done < max && !process_ending(owner)); /* a full buffer is not all */
    kfree(part);
    return done ? (int64_t)done : n;
}

static int account_held(const struct sample_session *s, uint32_t criterion,
                        struct sys_sample_account *out)
{
    struct hpm_profile_account a;

    if (criterion >= hpm_profile_criteria(s->profile))
        return -ENOENT;
    hpm_profile_account(s->profile, criterion, &a);
    *out = (struct sys_sample_account){.taken = a.taken,
                                       .delivered = a.delivered,
                                       .lost = a.lost,
                                       .stood_for = a.stood_for,
                                       .estimate = a.estimate,
                                       .period = a.period,
                                       .asked = a.asked,
                                       .throttled = a.throttled,
                                       .cycles = a.cycles,
                                       .passed = a.passed,
                                       .idle = a.idle,
                                       .seen_permille = a.seen_permille,
                                       .stretched = a.stretched,
                                       .chains_cut = a.chains_cut,
                                       .chains_full = a.chains_full};
    for (size_t i = s->first; i < s->count; i++)
        out->delivered -= s->buffer[i].criterion == criterion;
    ksnprintf(out->name, sizeof out->name, "%s", hpm_profile_criterion(s->profile, criterion));
    return 0;
}

int samples_account(const struct process *owner, uint32_t session, uint32_t criterion,
                    struct sys_sample_account *out)
{
    gate_enter(&sessions_gate);
    const struct sample_session *s = find_session(owner, session);
    int err = s ? account_held(s, criterion, out) : -ESRCH;
    gate_leave(&sessions_gate);
    return err;
}

int samples_chain(const struct process *owner, uint32_t session, uint32_t chain,
                  uint64_t out[SYS_CHAIN_MAX])
{
    gate_enter(&sessions_gate);
    const struct sample_session *s = find_session(owner, session);
    int n = s ? (int)hpm_profile_chain(s->profile, chain, out, SYS_CHAIN_MAX) : -ESRCH;
    gate_leave(&sessions_gate);
    return n ? n : -ENOENT;
}
