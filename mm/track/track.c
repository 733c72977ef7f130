/*
 * Which spaces are watched, and how logs reach the sinks.
 *
 * Gates: [T] one change of what is watched at a time. [D] one delivery at a time; only the end of a
 * space and the reading of curves wait for it, others leave the work to the thread inside. Lock:
 * [N] the numbers of spaces.
 */
#include "mm/track/track.h"
#include "hpm/policy/sample.h"
#include "hpm/path/path.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "mm/space.h"
#include "mm/track/curve.h"
#include "mm/track/internal.h"
#include "mm/policy/track_governor.h"
#include "sched/sched.h"

#define SINKS_MAX       4
#define DELIVER_AT      256 /* entries in a CPU's log */
#define WINDOW_NS       (10 * NS_PER_MS)
#define INTERRUPT_TICKS 1000 /* assumed cost: entry, return, and cache misses */

static struct {
    const struct tracker_ops *ops;    /* NULL: none */
    uint32_t watched;                 /* [T] spaces */
    struct spinlock lock;             /* [N] */
    uint16_t last;                    /* [N] the last number given out */
    struct space *space[PAGE_SPACES]; /* [N] by number, read under [D] */
    struct space *files; /* likewise: the store's that has the curve of files, or NULL */
    track_sink *sink[SINKS_MAX];
    unsigned sinks;
    uint64_t ticks;               /* [D] spent on delivery */
    uint32_t is_short;            /* [A] spaces that are short of memory */
    struct track_governor govern; /* [D] */
    struct {
        uint64_t cost, ran;
    } told; /* [D] at the last call of the governor */
} track = {.lock = SPINLOCK(LOCK_NUMBERS, "numbers of spaces")};
static struct gate watching = GATE(watching, GATE_WATCHING, "watched spaces");        /* [T] */
static struct gate delivery = GATE(delivery, GATE_DELIVERY, "delivery of page uses"); /* [D] */

static uint64_t mem_tracker, mem_track, mem_record;
uint64_t mem_pab = 2048, mem_epoch_ms = 1000, mem_active_pages = 2048, mem_scan_ms = 100,
         mem_sample_period = 100, mem_curves_print;
uint64_t mem_curves = TRACK_CURVES_LRU;
static uint64_t mem_track_permille = 10;
static const struct tracker_ops automatic = {.name = "auto"}, none = {.name = "none"};
static const struct tracker_ops *const choices[] = {
    &automatic, &track_path, &track_soft, &track_scan, &track_sampled, &none, NULL};
enum { TRACK_AUTO, TRACK_ALWAYS };
static const char *const track_choices[] = {[TRACK_AUTO] = "auto", [TRACK_ALWAYS] = "always", NULL};
static const char *const curves_choices[] = {"off", "lru", "on", NULL};

const struct arg track_args[] = {
    {"mem.tracker", ARG_TABLE, &mem_tracker, 0, 0, choices, ARG_BOOT,
     "what sees which pages are used; auto: path where there is such hardware"},
    {"mem.track", ARG_CHOICE, &mem_track, 0, 0, track_choices, ARG_BOOT,
     "when: while a process's memory is short, or always"},
    {"mem.pab", ARG_U64, &mem_pab, 128, 32768, NULL, ARG_BOOT,
     "tracker path: entries of each CPU's page access buffer, a power of two; what fits is hot"},
    {"mem.active_pages", ARG_U64, &mem_active_pages, 16, 1 << 20, NULL, ARG_BOOT,
     "tracker soft: pages of a process's active set"},
    {"mem.scan_ms", ARG_U64, &mem_scan_ms, 1, 100000, NULL, ARG_BOOT,
     "tracker scan: looks this often, milliseconds"},
    {"mem.sample_period", ARG_U64, &mem_sample_period, 1, HPM_SAMPLING_PERIOD_MAX, NULL, ARG_BOOT,
     "tracker sampled: one access of N is sampled, of those beyond the first-level cache"},
    {"mem.curves", ARG_CHOICE, &mem_curves, 0, 0, curves_choices, ARG_BOOT,
     "curves of misses by memory are made of what trackers see; lru: LRU's, and MRU's only where "
     "it decides anything; on: both"},
    {"mem.epoch_ms", ARG_U64, &mem_epoch_ms, 1, 1000000, NULL, ARG_BOOT,
     "a curve is of so long a time, mixed with those before it unless memory is divided by them, "
     "milliseconds"},
    {"mem.curves_print", ARG_BOOL, &mem_curves_print, 0, 0, NULL, ARG_BOOT,
     "print a process's curves at its end"},
    {"mem.track_permille", ARG_U64, &mem_track_permille, 1, 1000, NULL, ARG_BOOT,
     "part of a process's time that its tracking may cost while memory is not short, thousandths: "
     "above it pages are sampled"},
    {"mem.record", ARG_BOOL, &mem_record, 0, 0, NULL, ARG_BOOT,
     "what trackers see is written to a file of the simulated machine's host "
     "(docs/use/page-traces.md)"},
    {0},
};

/* Returns the tracker asked for, or NULL: none is, or it cannot work here. */
static const struct tracker_ops *find_tracker(void)
{
    const struct tracker_ops *ops = choices[mem_tracker];

    if (ops == &none)
        return NULL;
    int err = (ops == &automatic ? &track_path : ops)->probe();
    if (!err)
        return ops == &automatic ? &track_path : ops;
    if (ops != &automatic)
        kprintf("tracker: event=refused name=%s reason=%s: %s\n", ops->name,
                err == -ENODEV ? "no-device" : "memory",
                err == -ENODEV ? ops->lacks : "out of memory");
    return NULL;
}

void track_init(bool divided)
{
    if (path_logs_init()) {
        kprintf("tracker: event=none reason=memory: no memory for the page logs\n");
        return;
    }
    track.ops = find_tracker();
    track_governor_init(&track.govern, (unsigned)mem_track_permille, 0, path_sample_max(),
                        WINDOW_NS * (arch_ticks_hz() / 1000) / (NS_PER_S / 1000));
    if (track_makes_curves())
        track_curves_start(!divided);
    if (track.ops && mem_record)
        track_record_start();
    if (track.ops)
        kprintf("tracker: event=ready name=%s when=%s\n", track.ops->name,
                mem_track == TRACK_ALWAYS ? "always" : "short-of-memory");
    else
        kprintf("tracker: event=none\n");
}

static void set_sample(unsigned shift)
{
    if (shift != path_sample_shift())
        telemetry_tracker_sample(shift);
    path_sample(shift);
}

/* ---- Cost ------------------------------------------------------------------------------------ */

static uint64_t cost_of(const struct path_account *a)
{
    return a->ticks + a->interrupts * INTERRUPT_TICKS + track.ticks;
}

/* Adjusts the sampling of pages so that tracking costs no more than allowed. */
static void watch_cost(void)
{
    struct path_account a;

    path_account(&a);
    uint64_t cost = cost_of(&a);
    /* While memory is short, or a record is made, every page counts. */
    bool all = mem_record || __atomic_load_n(&track.is_short, __ATOMIC_RELAXED);
    set_sample(
        all ? 0
            : track_governor_tell(&track.govern, cost - track.told.cost, a.ran - track.told.ran));
    track.told.cost = cost;
    track.told.ran = a.ran;
}

/* ---- Delivery -------------------------------------------------------------------------------- */

bool track_makes_curves(void)
{
    return track.ops && mem_curves != TRACK_CURVES_OFF;
}

void track_attach(track_sink *sink)
{
    ASSERT(track.sinks < SINKS_MAX);
    track.sink[track.sinks++] = sink;
}

static void deliver_run(const struct page_run *run)
{
    struct space *s = track.space[run->space];

    for (unsigned i = 0; s && i < track.sinks; i++)
        track.sink[i](s, run);
}

/* Delivers what was logged until now. What is logged meanwhile waits, because it may come faster
 * than it is delivered. [D] held. */
static void deliver_logs(void)
{
    unsigned count;
    struct page_log *const *logs = path_logs(&count), *l;
    struct page_run run;

    path_flush();
    uint64_t begun = arch_ticks_near();
    while ((l = page_log_earliest(logs, count, begun))) {
        page_log_next(l, &run);
        deliver_run(&run);
        page_log_taken(l);
    }
    if (track.files && track_makes_curves())
        track_curve_files(track.files);
    track.ticks += arch_ticks_near() - begun;
    watch_cost();
}

/* Ends a delivery. A CPU that found its log full meanwhile came too late to deliver by itself; its
 * log goes on now. */
static void leave_delivery(void)
{
    gate_leave(&delivery);
    path_resume();
}

void track_deliver(void)
{
    if (!gate_try_enter(&delivery))
        return;
    deliver_logs();
    leave_delivery();
}

/* ---- Spaces ---------------------------------------------------------------------------------- */

uint16_t track_space_added(struct space *s)
{
    uint16_t number = 0;
    bool irq = spin_lock(&track.lock);

    for (unsigned i = 1; i < PAGE_SPACES && !number; i++) {
        uint16_t n = (uint16_t)(1 + (track.last + i - 1) % (PAGE_SPACES - 1));
        if (!track.space[n])
            number = n;
    }
    if (number) {
        track.space[number] = s;
        track.last = number;
        if (s->files && !track.files)
            track.files = s;
    }
    spin_unlock(&track.lock, irq);
    return number;
}

/* [T] held. */
static void watch_locked(struct space *s, bool on)
{
    if (!track.ops || !s->number)
        return;
    if (s->watched != on && (!on || track.watched || !track.ops->start())) {
        s->watched = on;
        track.ops->watch(s, on);
        track.watched += on ? 1 : -1u;
        if (s->pid)
            telemetry_tracker_watch(s->pid, track.ops->name, on);
        if (!track.watched)
            track.ops->stop();
    }
}

/* Starts or stops watching s by what holds now, in this thread's turn: of two threads that report a
 * change, the later may come first. */
static void update_watch(struct space *s, bool ends)
{
    gate_enter(&watching);
    bool is_short = !ends && __atomic_load_n(&s->told_short, __ATOMIC_RELAXED);
    if (is_short != s->is_short)
        __atomic_fetch_add(&track.is_short, is_short ? 1 : -1u, __ATOMIC_RELAXED);
    s->is_short = is_short;
    if (is_short)
        set_sample(0);
    watch_locked(s, !ends && (is_short || mem_track == TRACK_ALWAYS));
    gate_leave(&watching);
}

void track_space_begins(struct space *s)
{
    if (mem_track == TRACK_ALWAYS)
        update_watch(s, false);
}

void track_space_named(const struct space *s)
{
    if (s->watched)
        telemetry_tracker_watch(s->pid, track.ops->name, true);
}

/* [D] and [N] held. */
static void choose_files_locked(void)
{
    track.files = NULL;
    for (unsigned i = 1; i < PAGE_SPACES && !track.files; i++)
        if (track.space[i] && track.space[i]->files)
            track.files = track.space[i];
}

void track_space_removed(struct space *s)
{
    update_watch(s, true);
    gate_enter(&delivery);
    deliver_logs();
    bool irq = spin_lock(&track.lock);
    track.space[s->number] = NULL;
    if (track.files == s)
        choose_files_locked();
    spin_unlock(&track.lock, irq);
    track_curve_end(s);
    track_soft_end(s);
    leave_delivery();
}

void track_short(struct space *s, bool is_short)
{
    if (__atomic_exchange_n(&s->told_short, is_short, __ATOMIC_RELAXED) != is_short)
        update_watch(s, false);
}

bool track_hot(struct space *s, vaddr_t va)
{
    return s->watched && track.ops->hot(s, va);
}

bool track_hides(struct space *s, vaddr_t va)
{
    return s->watched && track.ops->hides && track.ops->hot(s, va);
}

enum page_buffered track_buffered(struct space *s, vaddr_t va)
{
    return s->watched && track.ops->buffered ? track.ops->buffered(s, va) : BUFFER_UNKNOWN;
}

void track_forget(struct space *s, vaddr_t va)
{
    if (s->watched)
        track.ops->forget(s, va);
}

/* Returns the watched space of number n, or NULL. A watched space cannot end because [T] is held;
 * the memory of others is only kept by [N]. */
static struct space *watched_space(unsigned n)
{
    if (!__atomic_load_n(&track.space[n], __ATOMIC_RELAXED))
        return NULL;
    bool irq = spin_lock(&track.lock);
    struct space *s = track.space[n];

    if (s && !s->watched)
        s = NULL;
    spin_unlock(&track.lock, irq);
    return s;
}

void track_each_watched(void (*f)(struct space *s, void *arg), void *arg)
{
    gate_enter(&watching);
    for (unsigned n = 1; n < PAGE_SPACES; n++) {
        struct space *s = watched_space(n);
        if (s)
            f(s, arg);
    }
    gate_leave(&watching);
}

void track_each_curve(void (*f)(struct space *s, void *arg), void *arg)
{
    gate_enter(&delivery);
    for (unsigned n = 1; n < PAGE_SPACES; n++)
        if (track.space[n] && track.space[n]->curve)
            f(track.space[n], arg);
    leave_delivery();
}

bool track_read_curve_of_files(struct track_curve *out)
{
    gate_enter(&delivery);
    deliver_logs();
    bool is = track.files && track_curve(track.files, out);
    leave_delivery();
    return is;
}

bool track_read_curve(struct space *s, bool last, struct track_curve *out)
{
    gate_enter(&delivery);
    deliver_logs();
    if (last)
        track_curve_last(s);
    bool is = track_curve(s, out);
    leave_delivery();
    return is;
}

/* ---- What trackers share --------------------------------------------------------------------- */

int track_start_nothing(void)
{
    return 0;
}

void track_stop_nothing(void)
{
}

void track_watch_nothing(UNUSED struct space *s, UNUSED bool on)
{
}

void track_forget_nothing(UNUSED struct space *s, UNUSED vaddr_t va)
{
}

bool track_marked(struct space *s, vaddr_t va)
{
    bool irq = spin_lock(&s->lock);
    unsigned marks = arch_space_mark(&s->arch, va, ARCH_USED, 0);

    spin_unlock(&s->lock, irq);
    return marks & ARCH_USED;
}

int track_thread_make(struct track_thread *t, const char *name, void (*entry)(void *))
{
    wait_init(&t->wait);
    return thread_create_kernel(name, entry, NULL, NULL);
}

void track_thread_run(struct track_thread *t, bool on)
{
    bool irq = spin_lock(&t->lock);

    t->wanted = on;
    wait_wake(&t->wait, 1);
    spin_unlock(&t->lock, irq);
}

void track_thread_wait(struct track_thread *t)
{
    bool irq = spin_lock(&t->lock);

    while (!t->wanted)
        wait_sleep(&t->wait, &t->lock, &irq, UINT64_MAX);
    spin_unlock(&t->lock, irq);
}

/* ---- The account, the end -------------------------------------------------------------------- */

void track_read_account(struct track_account *out)
{
    struct path_account logs;

    path_account(&logs);
    *out = (struct track_account){
        .tracker = track.ops ? track.ops->name : "none",
        .watched = __atomic_load_n(&track.watched, __ATOMIC_RELAXED),
        .entries = logs.entries,
        .lost = logs.lost,
        .interrupts = logs.interrupts,
        .log_ticks = logs.ticks,
        .deliver_ticks = __atomic_load_n(&track.ticks, __ATOMIC_RELAXED),
        .cost_ticks = cost_of(&logs),
        .ran_ticks = logs.ran,
        .sample_shift = path_sample_shift(),
    };
}

void track_end(void)
{
    track_deliver();
    track_record_end();
}

void track_user_return(void)
{
    if (path_waiting() < DELIVER_AT)
        return;
    arch_irq_restore(true);
    track_deliver();
    arch_irq_save();
}
