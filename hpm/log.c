/*
 * See log.h. The logs are few and stay in place: a bit for each tells whether it is in use. Each
 * CPU reads the bits with interrupts off, so a log that is closed is used no more once every CPU
 * has answered a call.
 */
#include "hpm/log.h"
#include "hpm/internal.h"
#include "hpm/wanted.h"
#include "hpm/watch.h"
#include "kernel/mem/mem.h"
#include "kernel/trace/telemetry.h"

struct hpm_log {
    struct hpm_watch *watch; /* its threads; NULL: not in use */
    uint8_t figures;
    uint8_t count[GROUP_EVENTS_MAX]; /* logical count of each figure */
    uint32_t born;                   /* generation of their birth */
    uint64_t every_ns;
    unsigned cpus, next; /* next: where the reader looks first */
    /* By CPU. */
    struct log_cpu {
        struct log_ring ring;
        uint64_t due_ns; /* when the next record is due, while a watched thread runs */
        void *memory;
    } * cpu;
};

static struct hpm_log logs[HPM_LOGS_MAX];
uint32_t hpm_logs;

#define log_for_each(k)                                                           \
    for (uint32_t k##_left = __atomic_load_n(&hpm_logs, __ATOMIC_ACQUIRE), k = 0; \
         k##_left && (k = (uint32_t)__builtin_ctz(k##_left), true); k##_left &= k##_left - 1)

/* ---- Records; all with interrupts off -------------------------------------------------------- */

static bool is_watched(unsigned k, const struct hpm_thread *t)
{
    return watch_has(logs[k].watch, t);
}

/* Appends a record of `t`, whose counts are up to date. */
static void append(struct hpm_log *log, const struct hpm_thread *t, uint64_t now_ns,
                   enum log_why why)
{
    const struct mux_counts *c = &t->counts.counts;
    struct log_ring *ring = &log->cpu[this_cpu()->index].ring;
    struct log_record *r = log_place(ring, now_ns);
    /* Older counts by these numbers are of other events. */
    bool counted = c->generation >= log->born;

    r->tid = t->tid;
    r->pid = t->pid;
    r->why = (uint8_t)why;
    r->length = counted ? c->event[log->count[0]].length + c->open_length : 0;
    for (unsigned i = 0; i < log->figures; i++)
        r->figure[i] = counted ? mux_raw(c, log->count[i]) : (struct mux_raw){0};
    for (unsigned i = 0; telemetry_wants(TELEMETRY_VALUES) && i < log->figures; i++)
        telemetry_value((unsigned)(log - logs), i, r->tid, r->figure[i].counted, r->figure[i].seen,
                        r->length);
    log_commit(ring, r);
}

void log_switch(const struct hpm_thread *out, const struct hpm_thread *in)
{
    uint64_t now_ns = arch_clock_ns();

    log_for_each (k) {
        if (out && is_watched(k, out))
            append(&logs[k], out, now_ns, out->ends ? LOG_ENDED : LOG_LEFT);
        if (in && is_watched(k, in))
            logs[k].cpu[this_cpu()->index].due_ns = now_ns + logs[k].every_ns;
    }
}

uint64_t log_due_ns(const struct hpm_thread *current)
{
    uint64_t at = UINT64_MAX;

    log_for_each (k)
        if (logs[k].every_ns && is_watched(k, current))
            at = MIN(at, logs[k].cpu[this_cpu()->index].due_ns);
    return at;
}

void log_timer(struct hpm_cpu *hpm)
{
    uint64_t now_ns = arch_clock_ns();

    if (log_due_ns(hpm->current) > now_ns)
        return;
    counting_follow(NULL);
    log_for_each (k) {
        struct log_cpu *cpu = &logs[k].cpu[this_cpu()->index];
        if (!logs[k].every_ns || cpu->due_ns > now_ns || !is_watched(k, hpm->current))
            continue;
        append(&logs[k], hpm->current, now_ns, LOG_TIME);
        cpu->due_ns = now_ns + logs[k].every_ns;
    }
    hpm->own_ticks += arch_ticks_near() - hpm->profiler.time;
}

static void tell_here(UNUSED void *unused)
{
    struct hpm_cpu *hpm = hpm_counted(this_cpu());
    uint64_t now_ns = arch_clock_ns();

    if (!hpm)
        return;
    counting_follow(NULL);
    log_for_each (k) {
        log_tell_rest(&logs[k].cpu[this_cpu()->index].ring, now_ns);
        if (hpm->current && is_watched(k, hpm->current))
            append(&logs[k], hpm->current, now_ns, LOG_ASKED);
    }
}

void hpm_thread_ends(struct hpm_thread *t)
{
    t->ends = true;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static void take_figures(struct hpm_log *log, const struct hpm_session *s)
{
    for (unsigned i = 0; i < s->request.wishes; i++)
        if (!s->request.wish[i].metric)
            log->count[log->figures++] = s->count[s->request.wish[i].event[0]];
    if (log->figures)
        log->born = wanted_born(log->count[0]);
}

static void free_log(struct hpm_log *log)
{
    for (unsigned i = 0; log->cpu && i < log->cpus; i++)
        area_free(log->cpu[i].memory);
    kfree(log->cpu);
    watch_close(log->watch);
    *log = (struct hpm_log){0};
}

static int make_rings(struct hpm_log *log, uint32_t bytes)
{
    log->cpus = cpu_count();
    log->cpu = kmalloc(log->cpus * sizeof(*log->cpu));
    for (unsigned i = 0; log->cpu && i < log->cpus; i++) {
        log->cpu[i].memory = area_alloc(bytes);
        if (!log->cpu[i].memory)
            return -ENOMEM;
        uint32_t size = log_init(&log->cpu[i].ring, log->cpu[i].memory, bytes, log->figures, i);
        ASSERT(size);
    }
    return log->cpu ? 0 : -ENOMEM;
}

/* Tells the figures' names to the trace. */
static void tell_names(const struct hpm_session *s, unsigned k)
{
    unsigned figure = 0;

    for (unsigned i = 0; i < s->request.wishes; i++)
        if (!s->request.wish[i].metric)
            telemetry_value_name(k, figure++, s->request.wish[i].text);
}

int hpm_log_open(const struct hpm_session *s, const struct hpm_log_what *what, struct hpm_log **out)
{
    unsigned k = 0;

    _Static_assert(HPM_LOG_BYTES_MIN >=
                       3 * (sizeof(struct log_record) + GROUP_EVENTS_MAX * sizeof(struct mux_raw)),
                   "room for a record of any session");
    while (k < HPM_LOGS_MAX && logs[k].watch)
        k++;
    if (k == HPM_LOGS_MAX)
        return -ENOSPC;
    struct hpm_log *log = &logs[k];
    *log =
        (struct hpm_log){.watch = watch_open(what->pid, what->family), .every_ns = what->every_ns};
    ASSERT(log->watch);
    take_figures(log, s);
    int err = log->figures ? make_rings(log, what->bytes) : -EINVAL;
    if (err) {
        free_log(log);
        return err;
    }
    tell_names(s, k);
    __atomic_fetch_or(&hpm_logs, 1u << k, __ATOMIC_RELEASE);
    *out = log;
    return 0;
}

static void leave_alone(UNUSED void *unused)
{
}

void hpm_log_close(struct hpm_log *log)
{
    __atomic_fetch_and(&hpm_logs, ~(1u << (log - logs)), __ATOMIC_RELAXED);
    ask_everywhere(leave_alone);
    free_log(log);
}

/* ---- Reading --------------------------------------------------------------------------------- */

unsigned hpm_log_figures(const struct hpm_log *log)
{
    return log->figures;
}

size_t hpm_log_record_bytes(const struct hpm_log *log)
{
    return log_record_bytes(log->figures);
}

void hpm_log_ask(void)
{
    ask_everywhere(tell_here);
}

size_t hpm_log_peek(const struct hpm_log *log, void *out, size_t bytes, unsigned *cpu)
{
    size_t record = hpm_log_record_bytes(log), n = 0;

    for (unsigned c = 0; c < log->cpus && !n; c++) {
        *cpu = (log->next + c) % log->cpus;
        const struct log_ring *ring = &log->cpu[*cpu].ring;
        n = MIN((size_t)log_waiting(ring), bytes / record);
        for (size_t i = 0; i < n; i++)
            memcpy((uint8_t *)out + i * record, log_at(ring, i), record);
    }
    return n;
}

void hpm_log_taken(struct hpm_log *log, unsigned cpu, size_t n)
{
    log_taken(&log->cpu[cpu].ring, n);
    log->next = cpu + 1;
}
