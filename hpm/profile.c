/*
 * Opens, closes and reads profiles. A profile has a ring for each CPU, which that CPU fills
 * (hpm/slot.c), and a slot for each criterion. Its events are counted by a session (session.c).
 * Opening and closing go through the plan: when either returns, every CPU has followed, and none
 * uses a ring that is freed.
 *
 * Accesses are recorded by the hardware itself (access.c), for a handle of each criterion, whose
 * samples come to the profile's rings as well.
 */
#include "hpm/chain.h"
#include "hpm/count.h"
#include "hpm/dump.h"
#include "hpm/hpm.h"
#include "hpm/profile.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "hpm/sampling.h"

#define TIME_MIN_NS (10 * NS_PER_US)
#define RATE_MAX    1000000
#define FIRST_NS    NS_PER_MS

/* Opening and closing are serialised by their callers, windows and takings of a profile as well. */
static struct hpm_profile *profiles[HPM_PROFILES_MAX];
uint64_t profile_taking_ticks;

static int say_error(char *err, size_t err_size, const char *what, int error)
{
    ksnprintf(err, err_size, "%s", what);
    return error;
}

static unsigned order_of(uint64_t bytes)
{
    return bytes > PAGE_SIZE ? log2_floor(bytes - 1) + 1 - PAGE_SHIFT : 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int find_slots(struct hpm_profile *p)
{
    unsigned slot = 0;

    for (unsigned i = 0; i < p->criteria.count; i++) {
        p->of[i].slot = PROFILE_NONE;
        if (profile_is_access(p, i))
            continue;
        while (slot < PROFILE_SLOTS && profile_slots[slot].used)
            slot++;
        if (slot == PROFILE_SLOTS)
            return -ENOSPC;
        p->of[i].slot = (uint8_t)slot++;
    }
    return 0;
}

/* Windows last a second, which is long enough for a rate of one sample a second. */
static void begin_period(struct hpm_profile *p, unsigned i)
{
    /* Assumes an event each ns; the first window corrects it. */
    const uint64_t first[] = {[CRITERION_EVENT] = NS_PER_S / p->rate,
                              [CRITERION_TIME] = FIRST_NS,
                              [CRITERION_ENTRIES] = 100,
                              [CRITERION_ACCESS] = 1000};
    enum criterion_kind kind = p->criteria.criterion[i].kind;
    struct period_config config = {
        .samples = p->rate, .window = NS_PER_S, .min = 1, .max = PERIOD_MAX};

    if (kind == CRITERION_TIME)
        config.min = TIME_MIN_NS;
    if (kind == CRITERION_ACCESS) {
        config.min = hpm_caps()->sample_period_min;
        config.max = HPM_SAMPLING_PERIOD_MAX;
    }
    period_init(&p->of[i].period, &config, first[kind]);
    profile_set_mean(p, i);
}

static void begin_slot(struct hpm_profile *p, unsigned i)
{
    struct profile_slot *s = profile_slot(p, i);

    *s = (struct profile_slot){.used = true,
                               .criterion = (uint8_t)i,
                               .modes = p->criteria.criterion[i].modes,
                               .watch = p->watch,
                               .window = 1,
                               .name = p->criteria.criterion[i].name};
    profile_draw(p, i);
    cpu_for_each (cpu)
        if (cpu->hpm)
            profiler_slot_begin(cpu->hpm, cpu->index, p->of[i].slot,
                                p->criteria.criterion[i].kind == CRITERION_TIME,
                                &p->ring[cpu->index]);
}

static int begin_events(struct hpm_profile *p, char *err, size_t err_size)
{
    static char names[CRITERIA_MAX * (EVENT_TEXT_MAX + 1)];
    uint8_t slots[CRITERIA_MAX];
    unsigned events = 0;
    size_t used = 0;

    for (unsigned i = 0; i < p->criteria.count; i++) {
        if (p->criteria.criterion[i].kind != CRITERION_EVENT)
            continue;
        used += (size_t)ksnprintf(names + used, sizeof names - used, "%s,",
                                  p->criteria.criterion[i].name);
        p->of[i].event = (uint8_t)events;
        slots[events++] = p->of[i].slot;
    }
    if (!events)
        return 0;
    if (!hpm_state.pmu.arms)
        return say_error(
            err, err_size,
            "this PMU's counters do not interrupt by themselves: events cannot be sampled",
            -ENODEV);
    int error = session_open(names, slots, &p->events, err, err_size);
    return error;
}

/* Stops all of the profile's handles, waits until no CPU uses its rings for them, and gives them
 * back. */
static void end_accesses(struct hpm_profile *p)
{
    bool any = false;

    for (unsigned i = 0; i < p->criteria.count; i++) {
        if (!p->of[i].access)
            continue;
        hpm_access_stop(p->of[i].access);
        any = true;
    }
    if (any)
        access_follow();
    for (unsigned i = 0; i < p->criteria.count; i++) {
        if (p->of[i].access)
            access_release(p->of[i].access);
        p->of[i].access = NULL;
    }
}

static int begin_access(struct hpm_profile *p, unsigned i, char *err, size_t err_size)
{
    const struct criterion *c = &p->criteria.criterion[i];
    struct access_sink to = {.rings = p->ring,
                             .name = c->name,
                             .watch = p->watch,
                             .criterion = (uint8_t)i,
                             .profile = true};
    struct hpm_sampling config = {.sources = c->sources,
                                  .walks = c->walks,
                                  .fetches = c->fetches,
                                  .min_latency = c->min_latency,
                                  .period = profile_draw_access(p, i),
                                  .user = c->modes & EVENT_USER,
                                  .kernel = c->modes & EVENT_KERNEL};

    p->of[i].access = access_open(&to);
    if (!p->of[i].access) {
        ksnprintf(err, err_size, "%s: %d others record accesses already", c->name, ACCESS_HANDLES);
        return -EBUSY;
    }
    int error = hpm_access_start(p->of[i].access, &config);
    if (error)
        ksnprintf(err, err_size, "%s: this machine does not record accesses so", c->name);
    return error;
}

static int begin_accesses(struct hpm_profile *p, char *err, size_t err_size)
{
    int error = 0;

    for (unsigned i = 0; i < p->criteria.count && !error; i++)
        if (profile_is_access(p, i))
            error = begin_access(p, i, err, err_size);
    if (error)
        end_accesses(p);
    return error;
}

/* Starts or stops sampling by time and by entries on all CPUs. */
static void set_polled(const struct hpm_profile *p, bool on)
{
    for (unsigned i = 0; i < p->criteria.count; i++) {
        enum criterion_kind kind = p->criteria.criterion[i].kind;
        uint32_t *mask = kind == CRITERION_TIME      ? &profile_timed
                         : kind == CRITERION_ENTRIES ? &hpm_entries
                                                     : NULL;
        if (mask && on)
            __atomic_fetch_or(mask, 1u << p->of[i].slot, __ATOMIC_ACQ_REL);
        else if (mask)
            __atomic_fetch_and(mask, ~(1u << p->of[i].slot), __ATOMIC_ACQ_REL);
    }
}

static int validate_limits(const struct hpm_profiling *what, char *err, size_t err_size)
{
    if (!what->rate || what->rate > RATE_MAX)
        return say_error(err, err_size, "the rate must be 1 to 1000000 samples a second", -EINVAL);
    if (!what->permille || what->permille > 1000)
        return say_error(err, err_size, "the limit must be 1 to 1000 thousandths of the time",
                         -EINVAL);
    return 0;
}

static int parse_criteria(struct hpm_profile *p, const char *text, char *err, size_t err_size)
{
    struct criteria_caps caps = {.counters = hpm_state.ops != NULL,
                                 .events = &hpm_state.pmu.events,
                                 .sources = hpm_state.pmu.sample_sources,
                                 .walks = hpm_state.pmu.sample_walks,
                                 .fetches = hpm_state.pmu.sample_fetches,
                                 .latency = hpm_state.pmu.sample_latency,
                                 .access_min = hpm_caps()->sample_period_min,
                                 .time_min_ns = TIME_MIN_NS};
    int error = criteria_parse(text, &caps, &p->criteria, err, err_size);

    if (error)
        return error;
    for (unsigned i = 0; i < p->criteria.count; i++)
        for (unsigned j = 0; j < i; j++)
            if (text_same(p->criteria.criterion[i].name, p->criteria.criterion[j].name,
                          text_length(p->criteria.criterion[j].name)))
                return say_error(err, err_size, "a criterion is named twice", -EINVAL);
    return 0;
}

static int begin_profile(struct hpm_profile *p, char *err, size_t err_size)
{
    int error = begin_accesses(p, err, err_size);

    if (error)
        return error;
    for (unsigned i = 0; i < p->criteria.count; i++)
        if (!profile_is_access(p, i))
            begin_slot(p, i);
    error = begin_events(p, err, err_size);
    if (error) {
        end_accesses(p);
        for (unsigned i = 0; i < p->criteria.count; i++)
            if (!profile_is_access(p, i))
                profile_slot(p, i)->used = false;
        return error;
    }
    set_polled(p, true);
    return 0;
}

static void free_rings(struct hpm_profile *p)
{
    for (unsigned i = 0; i < cpu_count(); i++) {
        chains_free(p->ring[i].chains);
        dumps_free(p->ring[i].dumps);
        p->ring[i].chains = NULL;
        p->ring[i].dumps = NULL;
    }
    rings_free(p->ring);
}

static int make_chains(struct hpm_profile *p, bool by_frames)
{
    int error = 0;

    for (unsigned i = 0; i < cpu_count() && !error; i++)
        error = chains_make(&p->ring[i].chains, by_frames);
    return error;
}

static int make_dumps(struct hpm_profile *p, uint32_t stack_bytes)
{
    int error = 0;

    for (unsigned i = 0; i < cpu_count() && !error; i++)
        error = dumps_make(&p->ring[i].dumps, stack_bytes);
    return error;
}

static int prepare_profile(struct hpm_profile *p, const struct hpm_profiling *what, char *err,
                           size_t err_size)
{
    int error = parse_criteria(p, what->criteria, err, err_size);

    if (error)
        return error;
    if (find_slots(p))
        return say_error(err, err_size, "too many criteria at a time: other profiles have theirs",
                         -ENOSPC);
    p->rate = what->rate;
    p->permille = what->permille;
    p->random = arch_ticks() | 1;
    profile_windows_begin(p);
    for (unsigned i = 0; i < p->criteria.count; i++)
        begin_period(p, i);
    if (rings_make(p->ring))
        return say_error(err, err_size, "no memory for samples: lower hpm.samples", -ENOMEM);
    if (what->chains && make_chains(p, what->chains == HPM_CHAINS_TABLE)) {
        free_rings(p);
        return say_error(err, err_size, "no memory for chains of calls", -ENOMEM);
    }
    if (what->dump_bytes && make_dumps(p, what->dump_bytes)) {
        free_rings(p);
        return say_error(err, err_size, "no memory for dumps of stacks", -ENOMEM);
    }
    return 0;
}

int hpm_profile_open(const struct hpm_profiling *what, struct hpm_profile **out, char *err,
                     size_t err_size)
{
    unsigned n = 0;
    paddr_t pa;

    int error = validate_limits(what, err, err_size);
    if (error)
        return error;
    while (n < HPM_PROFILES_MAX && profiles[n])
        n++;
    if (n == HPM_PROFILES_MAX)
        return say_error(err, err_size, "too many profiles at a time", -ENOSPC);
    if (frame_alloc(order_of(sizeof(struct hpm_profile)), &pa))
        return say_error(err, err_size, "no memory", -ENOMEM);
    struct hpm_profile *p = phys_to_virt(pa);
    memset(p, 0, sizeof *p);
    p->watch = watch_open(what->pid, what->family);
    ASSERT(p->watch);
    error = prepare_profile(p, what, err, err_size);
    if (!error) {
        error = begin_profile(p, err, err_size);
        if (error)
            free_rings(p);
    }
    if (error) {
        watch_close(p->watch);
        frame_free(pa, order_of(sizeof *p));
        return error;
    }
    *out = profiles[n] = p;
    return 0;
}

void hpm_profile_close(struct hpm_profile *p)
{
    for (unsigned n = 0; n < HPM_PROFILES_MAX; n++)
        if (profiles[n] == p)
            profiles[n] = NULL;
    set_polled(p, false);
    end_accesses(p);
    if (p->events)
        hpm_session_close(p->events);
    else
        follow_everywhere();
    for (unsigned i = 0; i < p->criteria.count; i++)
        if (!profile_is_access(p, i))
            profile_slot(p, i)->used = false;
    free_rings(p);
    watch_close(p->watch);
    frame_free(virt_to_phys(p), order_of(sizeof *p));
}

/* ---- Taking ---------------------------------------------------------------------------------- */

unsigned hpm_profile_criteria(const struct hpm_profile *p)
{
    return p->criteria.count;
}

const char *hpm_profile_criterion(const struct hpm_profile *p, unsigned criterion)
{
    return p->criteria.criterion[criterion].name;
}

/* Moves successive samples of one criterion, which are counted together. Returns their number. */
static size_t take_row(struct hpm_profile *p, const struct hpm_sample *from, size_t n,
                       struct hpm_sample *out)
{
    struct profile_criterion *c = &p->of[from->criterion];
    uint8_t criterion = from->criterion;
    const struct hpm_sample *at = from, *end = from + n;
    uint64_t stood_for = 0;

    do {
        sample_copy(out, at);
        out->time = arch_ticks_ns(out->time);
        stood_for += out->period;
        out++;
    } while (++at < end && at->criterion == criterion);
    c->delivered += (size_t)(at - from);
    c->stood_for += stood_for;
    return (size_t)(at - from);
}

static size_t take_from(struct hpm_profile *p, struct sample_ring *ring, struct hpm_sample *out,
                        size_t max)
{
    size_t n = MIN(ring_waiting(ring), max), done = 0;

    while (done < n)
        done +=
            take_row(p, ring_at(ring, done), MIN(n - done, ring_in_row(ring, done)), out + done);
    ring_taken(ring, n);
    return n;
}

unsigned hpm_profile_chain(const struct hpm_profile *p, uint32_t chain, uint64_t *out, unsigned max)
{
    uint32_t cpu = chain >> CHAIN_NUMBER;

    if (cpu >= cpu_count() || !p->ring[cpu].chains)
        return 0;
    return chain_read(p->ring[cpu].chains, chain & ((1u << CHAIN_NUMBER) - 1), out, max);
}

const struct hpm_dump *hpm_profile_dump(const struct hpm_profile *p, const struct hpm_sample *s)
{
    const struct dump_ring *dumps = s->cpu < cpu_count() ? p->ring[s->cpu].dumps : NULL;

    return dumps && s->data && s->source == SOURCE_COUNT ? dump_at(dumps, s->data) : NULL;
}

void hpm_profile_let_dump(struct hpm_profile *p, const struct hpm_sample *s)
{
    if (hpm_profile_dump(p, s))
        dump_taken(p->ring[s->cpu].dumps, s->data);
}

void hpm_profiles_flush(void)
{
    if (hpm_caps()->can_sample)
        access_follow();
}

size_t hpm_profile_take(struct hpm_profile *p, struct hpm_sample *out, size_t max)
{
    uint64_t began = arch_ticks();
    size_t n = 0;

    for (unsigned i = 0; i < cpu_count() && n < max; i++)
        n += take_from(p, &p->ring[i], out + n, max - n);
    if (n)
        __atomic_fetch_add(&profile_taking_ticks, arch_ticks() - began, __ATOMIC_RELAXED);
    return n;
}

/* Finds the CPU whose first sample is the earliest. Returns its ring; NULL: no sample waits. */
static const struct sample_ring *earliest(const struct hpm_profile *p)
{
    const struct sample_ring *first = NULL;

    for (unsigned i = 0; i < cpu_count(); i++) {
        const struct sample_ring *r = &p->ring[i];
        if (ring_waiting(r) && (!first || ring_at(r, 0)->time < ring_at(first, 0)->time))
            first = r;
    }
    return first;
}

uint64_t hpm_profile_next(const struct hpm_profile *p)
{
    const struct sample_ring *r = earliest(p);

    return r ? arch_ticks_ns(ring_at(r, 0)->time) : UINT64_MAX;
}

size_t hpm_profile_take_until(struct hpm_profile *p, uint64_t until_ns, struct hpm_sample *out,
                              size_t max)
{
    uint64_t began = arch_ticks();
    const struct sample_ring *r;
    size_t n = 0;

    while (n < max && (r = earliest(p)) && arch_ticks_ns(ring_at(r, 0)->time) <= until_ns)
        n += take_from(p, &p->ring[r - p->ring], &out[n], 1);
    if (n)
        __atomic_fetch_add(&profile_taking_ticks, arch_ticks() - began, __ATOMIC_RELAXED);
    return n;
}
