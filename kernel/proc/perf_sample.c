/*
 * Samples of perf events. A profile of hpm samples all threads for the events that ask for the
 * same; a kernel thread takes the samples out, a hundred times a second, and writes each to the
 * buffers of the events that count its thread on its CPU.
 */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/perf_internal.h"
#include <asm/mman.h>

#define PUMP_NS   (10 * NS_PER_MS)
#define WINDOW_NS (100 * NS_PER_MS) /* the first windows are shorter */
#define FIRST_NS  (10 * NS_PER_MS)
#define LATE_NS   (100 * NS_PER_US) /* an interrupt has stored its samples after that */
#define PERMILLE  250 /* of the time that samples may cost, as perf_cpu_time_max_percent says */
#define PART      64  /* samples taken at a time */
_Static_assert(PERF_STACK_BYTES <= HPM_DUMP_STACK_MAX, "a dump has what a record may have");

/* A profile for all events that sample the same. */
struct perf_sampler {
    struct list link; /* [G] */
    unsigned refs;    /* [G] */
    uint32_t rate;    /* [-] */
    bool chains;      /* [-] */
    bool accesses;    /* [-] it takes the hardware's records */
    uint32_t dump;    /* [-] bytes of stack in a sample's dump; 0: none */
    struct hpm_profile *profile;
    uint64_t window_ns, window_end_ns; /* perf_rings: of adapted periods */
    bool throttled;                    /* perf_rings: it takes fewer samples than asked for */
    char text[];
};

struct mutex perf_rings = MUTEX(perf_rings, "perf records");
uint32_t perf_wide;
static uint32_t access_samplers;                      /* atomic */
static struct list samplers = {&samplers, &samplers}; /* perf_rings and [G] */
static struct hpm_sample batch[PART];                 /* perf_rings */
static uint64_t chain[PERF_CHAIN_MAX];                /* perf_rings */
static uint8_t record[PERF_RECORD_BYTES];             /* perf_rings */

static struct {
    struct spinlock lock;
    struct wait_queue idle;
    bool started;    /* perf_rings */
    unsigned wanted; /* lock: samplers */
} pump = {.lock = SPINLOCK(LOCK_PROC, "pump of samples"),
          .idle = {{&pump.idle.waiters, &pump.idle.waiters}}};

/* ---- Records; perf_rings held ---------------------------------------------------------------- */

bool perf_tells_of(struct perf_event *e, uint32_t tid, unsigned cpu)
{
    bool found = !e->scope.tid;

    if ((!e->ring && !e->hastened) || !e->on || !e->leader->on || e->ended ||
        (e->scope.cpu != -1 && (unsigned)e->scope.cpu != cpu))
        return false;
    bool irq = spin_lock(&perf_lock);
    for (struct list *it = e->nodes.next; !found && it != &e->nodes; it = it->next)
        found = container_of(it, struct perf_node, in_event)->thread->tid == tid;
    spin_unlock(&perf_lock, irq);
    return found;
}

/* Disables an event that has had as many samples as it was to have. */
static void end_event(struct perf_event *e)
{
    e->ended = false;
    perf_hasten(e, false);
    gate_enter(&sessions_gate);
    perf_pause(e->leader);
    e->on = false;
    perf_resume(e->leader);
    gate_leave(&sessions_gate);
}

void perf_tell_readers(void)
{
    list_for_each (it, &perf_events) {
        struct perf_event *e = container_of(it, struct perf_event, all);
        if (!e->written)
            continue;
        e->written = false;
        int news = e->ended ? POLL_HUP : POLL_IN;
        if (e->ended)
            end_event(e);
        bool irq = spin_lock(&perf_lock);
        poll_changed(&e->changes, PERF_READY);
        spin_unlock(&perf_lock, irq);
        perf_signal(e, news);
    }
}

/* Counts a sample of those that the event is to have. */
static void count_down(struct perf_event *e)
{
    if (!e->left || --e->left)
        return;
    e->ended = e->written = true;
}

/* A chain begins with the sample's own address. */
static unsigned read_chain(const struct perf_sampler *by, const struct hpm_sample *s,
                           const uint64_t **callers)
{
    unsigned n = by->chains && s->chain
                     ? hpm_profile_chain(by->profile, s->chain, chain, PERF_CHAIN_MAX)
                     : 0;

    n = MIN(n, (unsigned)PERF_CHAIN_MAX);
    bool own = n && chain[0] == s->pc;
    *callers = chain + own;
    return n - own;
}

/* Returns whether an event samples the access. One that reads and writes in one is both. */
static bool is_sampled(const struct perf_event *e, const struct hpm_sample *s)
{
    return !e->found.is_access || s->atomic || s->store == e->found.stores;
}

static struct perf_access access_of(const struct perf_event *e, const struct hpm_sample *s)
{
    static const enum perf_level levels[] = {
        [SOURCE_L1] = PERF_LEVEL_L1,
        [SOURCE_LOCAL_L2] = PERF_LEVEL_L2,
        [SOURCE_LOCAL_L3] = PERF_LEVEL_L3,
        [SOURCE_REMOTE_L2] = PERF_LEVEL_OTHER_CACHE,
        [SOURCE_REMOTE_L3] = PERF_LEVEL_OTHER_CACHE,
        [SOURCE_LOCAL_MEMORY] = PERF_LEVEL_RAM,
        [SOURCE_REMOTE_MEMORY] = PERF_LEVEL_OTHER_RAM,
    };

    return (struct perf_access){.data = s->data,
                                .physical = s->data_phys,
                                .latency = (uint32_t)s->latency + s->walk,
                                .level = levels[s->source],
                                .store = e->found.stores,
                                .locked = s->atomic,
                                .modified = s->modified,
                                .walked = s->walk != 0};
}

static void write_sample(struct perf_event *e, const struct perf_sampler *by,
                         const struct hpm_sample *s)
{
    const struct perf_ident i = {s->pid, s->tid, s->cpu, s->time, e->id};
    struct perf_taken taken = {
        .ip = s->pc, .period = s->period, .user = s->user, .user_end = USER_MAX};
    struct perf_access access;

    if (s->source < SOURCE_COUNT) {
        access = access_of(e, s);
        taken.access = &access;
    }
    const struct hpm_dump *dump = hpm_profile_dump(by->profile, s);

    taken.chain_length = read_chain(by, s, &taken.chain);
    if (dump) {
        taken.registers = dump->registers;
        taken.register_count = dump->register_count;
        taken.stack = dump->stack;
        taken.stack_bytes = dump->bytes;
    }
    perf_ring_write(e, &i, record, perf_put_sample(&e->attr, &i, &taken, record));
    perf_ring_sampled(e);
    count_down(e);
}

static void write_samples(const struct perf_sampler *by, size_t n)
{
    for (size_t s = 0; s < n; s++) {
        list_for_each (it, &perf_events) {
            struct perf_event *e = container_of(it, struct perf_event, all);
            if (e->sampler == by && is_sampled(e, &batch[s]) && batch[s].tid &&
                batch[s].time >= e->on_ns && perf_tells_of(e, batch[s].tid, batch[s].cpu))
                write_sample(e, by, &batch[s]);
        }
        hpm_profile_let_dump(by->profile, &batch[s]);
    }
}

/* Tells the buffers of its events that fewer samples come than were asked for, or that they come
 * again. */
static void tell_throttled(struct perf_sampler *by, uint64_t now_ns)
{
    struct hpm_profile_account account;

    hpm_profile_account(by->profile, 0, &account);
    if ((account.stretched != HPM_NOT_STRETCHED) == by->throttled)
        return;
    by->throttled = !by->throttled;
    list_for_each (it, &perf_events) {
        struct perf_event *e = container_of(it, struct perf_event, all);
        const struct perf_ident i = {.time = now_ns, .id = e->id};
        if (e->sampler == by)
            perf_ring_write(e, &i, record, perf_put_throttle(&e->attr, &i, by->throttled, record));
    }
}

/* Ends the windows that are over. until_ns: all samples until then were written. */
static void end_window(struct perf_sampler *by, uint64_t until_ns)
{
    uint64_t now_ns = arch_clock_ns();

    if (now_ns < by->window_end_ns)
        return;
    gate_enter(&sessions_gate);
    hpm_profile_window(by->profile);
    gate_leave(&sessions_gate);
    tell_throttled(by, until_ns);
    by->window_ns = MIN(2 * by->window_ns, (uint64_t)WINDOW_NS);
    by->window_end_ns = now_ns + by->window_ns;
}

/* Finds the sampler with the earliest sample, and until when it has that. */
static struct perf_sampler *find_next(uint64_t *until_ns)
{
    struct perf_sampler *first = NULL;
    uint64_t first_ns = UINT64_MAX, next_ns;

    list_for_each (it, &samplers) {
        struct perf_sampler *by = container_of(it, struct perf_sampler, link);
        next_ns = hpm_profile_next(by->profile);
        if (next_ns < first_ns) {
            *until_ns = MIN(*until_ns, first_ns);
            first = by;
            first_ns = next_ns;
        } else {
            *until_ns = MIN(*until_ns, next_ns);
        }
    }
    return first_ns <= *until_ns ? first : NULL;
}

void perf_pump_until(uint64_t until_ns)
{
    struct perf_sampler *by;
    uint64_t part_ns = until_ns;

    while ((by = find_next(&part_ns))) {
        gate_enter(&sessions_gate);
        size_t n = hpm_profile_take_until(by->profile, part_ns, batch, PART);
        gate_leave(&sessions_gate);
        write_samples(by, n);
        part_ns = until_ns;
    }
    list_for_each (it, &samplers)
        end_window(container_of(it, struct perf_sampler, link), until_ns);
    perf_tell_readers();
}

void perf_pump_locked(void)
{
    perf_pump_until(arch_clock_ns());
}

uint64_t perf_take_records(void)
{
    uint64_t now_ns = arch_clock_ns();

    if (__atomic_load_n(&access_samplers, __ATOMIC_RELAXED))
        hpm_profiles_flush();
    return now_ns;
}

void perf_pump(void)
{
    hpm_update(0);
    hpm_update_here();
    perf_take_records();
    mutex_lock(&perf_rings);
    perf_pump_until(arch_clock_ns());
    mutex_unlock(&perf_rings);
}

static void run_pump(UNUSED void *unused)
{
    for (;;) {
        bool irq = spin_lock(&pump.lock);
        while (!pump.wanted)
            wait_sleep(&pump.idle, &pump.lock, &irq, UINT64_MAX);
        spin_unlock(&pump.lock, irq);
        uint64_t until_ns = perf_take_records() - LATE_NS;
        mutex_lock(&perf_rings);
        perf_pump_until(until_ns);
        mutex_unlock(&perf_rings);
        sched_sleep_until(arch_clock_ns() + PUMP_NS);
    }
}

static void count_samplers(int more)
{
    bool irq = spin_lock(&pump.lock);

    pump.wanted += (unsigned)more;
    wait_wake(&pump.idle, 1);
    spin_unlock(&pump.lock, irq);
}

/* ---- Samplers; perf_rings held --------------------------------------------------------------- */

/* Writes what is sampled as a criterion of hpm's. Returns its rate, if its period is adapted. */
static uint32_t describe(const struct perf_event *e, const char *name, char *out, size_t size)
{
    bool time = e->found.is_software;
    uint64_t period = e->attr.freq ? NS_PER_S / MAX((uint64_t)e->attr.sample_freq, (uint64_t)1)
                                   : e->attr.sample_period;

    if (!time && e->attr.freq) {
        ksnprintf(out, size, "%s", name);
        return (uint32_t)MAX((uint64_t)e->attr.sample_freq, (uint64_t)1);
    }
    ksnprintf(out, size, "%s@%llu%s", name, (unsigned long long)period, time ? "ns" : "");
    return 1000;
}

/* Returns the bytes of stack that the event's samples dump. With registers alone it is a word, as 0
 * is no dump. */
static uint32_t dump_of(const struct perf_event_attr *a)
{
    uint32_t bytes = a->sample_type & PERF_SAMPLE_STACK_USER ? a->sample_stack_user : 0;

    if (!(a->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)))
        return 0;
    return MIN(MAX(bytes, (uint32_t)sizeof(uint64_t)), (uint32_t)PERF_STACK_BYTES);
}

static struct perf_sampler *find_sampler(const char *text, uint32_t rate, bool chains,
                                         uint32_t dump)
{
    list_for_each (it, &samplers) {
        struct perf_sampler *s = container_of(it, struct perf_sampler, link);
        if (s->rate == rate && s->chains == chains && s->dump == dump &&
            text_same(s->text, text, text_length(text)))
            return s;
    }
    return NULL;
}

static int open_sampler(const char *text, uint32_t rate, bool chains, uint32_t dump,
                        struct perf_sampler **out)
{
    const struct hpm_profiling what = {.criteria = text,
                                       .rate = rate,
                                       .permille = PERMILLE,
                                       .chains = chains ? HPM_CHAINS_TABLE : HPM_CHAINS_NONE,
                                       .dump_bytes = dump};
    struct perf_sampler *s = kmalloc(sizeof(*s) + text_length(text) + 1);
    char why[160];

    if (!s)
        return -ENOMEM;
    gate_enter(&sessions_gate);
    int err = hpm_profile_open(&what, &s->profile, why, sizeof(why));
    gate_leave(&sessions_gate);
    if (err) {
        kfree(s);
        return err == -ENOMEM ? err : err == -EINVAL ? err : -EOPNOTSUPP;
    }
    memcpy(s->text, text, text_length(text));
    s->rate = rate;
    s->window_ns = FIRST_NS;
    s->window_end_ns = arch_clock_ns() + FIRST_NS;
    s->chains = chains;
    s->dump = dump;
    list_push_back(&samplers, &s->link);
    count_samplers(1);
    *out = s;
    return 0;
}

int perf_sampler_take(struct perf_event *e, const char *name)
{
    char text[PERF_NAME_MAX + 32];
    bool chains = e->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
    uint32_t rate = describe(e, name, text, sizeof(text));

    if (!pump.started && thread_create_kernel("perf", run_pump, NULL, NULL))
        return -ENOMEM;
    pump.started = true;
    uint32_t dump = dump_of(&e->attr);
    struct perf_sampler *s = find_sampler(text, rate, chains, dump);
    int err = s ? 0 : open_sampler(text, rate, chains, dump, &s);
    if (!err) {
        /* Samplers of one text are of one kind. */
        __atomic_fetch_add(&access_samplers, e->found.is_access && !s->accesses, __ATOMIC_RELAXED);
        s->accesses = e->found.is_access;
        s->refs++;
        e->sampler = s;
    }
    return err;
}

bool perf_sampler_name(const struct perf_event *e, char name[PERF_NAME_MAX])
{
    if (perf_samples_time(e))
        return perf_name(&e->attr, "time", name);
    if (e->found.is_access) {
        char access[PERF_NAME_MAX];
        perf_access_name(&e->found, access);
        return perf_name(&e->attr, access, name);
    }
    memcpy(name, e->name, sizeof(e->name));
    return name[0];
}

/* The old sampler gives its counter up before the new one has one. */
int perf_sampler_change(struct perf_event *e, uint64_t period)
{
    uint64_t before = e->attr.sample_period;
    char name[PERF_NAME_MAX];

    if (!e->sampler || !perf_sampler_name(e, name))
        return 0;
    perf_sampler_let(e);
    e->attr.sample_period = period;
    int err = perf_sampler_take(e, name);
    if (!err)
        return 0;
    e->attr.sample_period = before;
    return perf_sampler_take(e, name) ?: err;
}

void perf_sampler_let(struct perf_event *e)
{
    struct perf_sampler *s = e->sampler;

    e->sampler = NULL;
    if (!s || --s->refs)
        return;
    list_remove(&s->link);
    __atomic_fetch_sub(&access_samplers, s->accesses, __ATOMIC_RELAXED);
    count_samplers(-1);
    gate_enter(&sessions_gate);
    hpm_profile_close(s->profile);
    gate_leave(&sessions_gate);
    kfree(s);
}
