/* Sessions, and the plan of all that is counted. The breakdown's figures are always wanted;
 * sessions come and go. Each time a new plan of all that is wanted is made, in the memory of the
 * plan before the present one, and every CPU is told to follow it. When all have followed, the
 * present plan's memory is free (see hpm/policy/context.h). */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "hpm/events/nest.h"
#include "hpm/events/request.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define SESSIONS_MAX 16
#define ANSWER_NS    (100 * NS_PER_MS)
/* Least length of a round: R of [A] 2.7, and more while no interval of a count is asked for. */
#define ROUND_CYCLES       2000000
#define ROUGH_ROUND_CYCLES 8000000

struct hpm_session {
    struct event_request request;
    uint8_t count[GROUP_EVENTS_MAX];      /* logical count of each event */
    struct fit_set nest[EVENT_NESTS_MAX]; /* events that contain other ones */
    unsigned nests;
    struct fit_event fit[GROUP_EVENTS_MAX]; /* work space of hpm_session_fit */
    struct fit_set known[EVENT_NESTS_MAX];  /* work space of hpm_session_fit */
};

/* Callers are serialised. */
static struct {
    struct plan_request request; /* of the present plan, without the sessions' sets */
    uint64_t pinned;             /* pinned counts of the figures */
    struct hpm_session *session[SESSIONS_MAX];
    struct hpm_plan plan[2];
    struct plan_work work;
} wanted;

/* ---- Boot ------------------------------------------------------------------------------------ */

static uint8_t want_first(const struct event *event)
{
    unsigned i = (unsigned)__builtin_popcountll(wanted.request.wanted);

    wanted.request.event[i] = *event;
    wanted.request.born[i] = wanted.request.generation;
    wanted.request.wanted |= (uint64_t)1 << i;
    return (uint8_t)i;
}

/* Returns the logical count of `figure` as a set; 0: it is not counted. */
static uint64_t count_of(unsigned figure)
{
    unsigned count = hpm_state.figures.event[figure];

    return count == GROUP_NIL ? 0 : (uint64_t)1 << count;
}

/* Returns the counts that the scheduler acts on, which are not scaled if possible: stalls for
 * remote caches, or, if these are not counted, the accesses, if they can be recorded. */
static uint64_t counts_to_pin(void)
{
    uint64_t stalls =
        count_of(EVENT_DCACHE(SOURCE_REMOTE_L2)) | count_of(EVENT_DCACHE(SOURCE_REMOTE_L3));

    if (stalls || (SOURCES_REMOTE_CACHE & ~hpm_state.pmu.sample_sources))
        return stalls;
    return count_of(EVENT_SERVED(SOURCE_REMOTE_L2)) | count_of(EVENT_SERVED(SOURCE_REMOTE_L3));
}

static void want_figures(void)
{
    struct context_figures *figures = &hpm_state.figures;

    *figures = (struct context_figures){.remote_latency = 0};
    memset(figures->event, GROUP_NIL, sizeof figures->event);
    figures->instructions = GROUP_NIL;
    if (hpm_state.always[1].modes)
        figures->instructions = want_first(&hpm_state.always[1]);
    for (unsigned f = 0; f < HPM_EVENTS; f++)
        if (hpm_state.event[f].counters)
            figures->event[f] = want_first(&hpm_state.event[f]);
    wanted.request.pinned = counts_to_pin();
    wanted.request.rough = wanted.request.wanted;
}

static void draw_images(const struct pmu_ops *ops, struct hpm_plan *plan)
{
    for (unsigned g = 0; g < plan->mux.rounds.groups; g++)
        plan->programme[g].image = ops->image(plan->programme[g].event);
}

int plans_init(const struct pmu_ops *ops)
{
    struct group_cause cause;

    memset(&wanted, 0, sizeof wanted);
    wanted.request =
        (struct plan_request){.counters = hpm_state.pmu.counters,
                              .fixed = hpm_state.pmu.events.fixed,
                              .generation = 1,
                              .cpus = 1,
                              .unit = hpm_state.by_instructions ? MUX_INSTRUCTIONS : MUX_CYCLES,
                              .slice = hpm_slice_cycles,
                              .round = ROUGH_ROUND_CYCLES,
                              .always = {hpm_state.always[0], hpm_state.always[1]}};
    want_figures();
    int err = plan_make(&wanted.plan[0], &wanted.request, &wanted.work, &cause);
    if (err == -ENOSPC && wanted.request.pinned) {
        kprintf("hpm: too few counters to have remote-cache stalls counted all the time: they are "
                "scaled\n");
        wanted.request.pinned = 0;
        err = plan_make(&wanted.plan[0], &wanted.request, &wanted.work, &cause);
    }
    if (err)
        return err;
    wanted.pinned = wanted.request.pinned;
    draw_images(ops, &wanted.plan[0]);
    hpm_state.plan = &wanted.plan[0];
    return 0;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Has `cpu` call `what`. Waits until it answers: it may be late, or busy with another call. */
static void ask_cpu(struct cpu *cpu, void (*what)(void *))
{
    while (__atomic_load_n(&cpu->online, __ATOMIC_ACQUIRE) && call_cpu(cpu, what, NULL, ANSWER_NS))
        arch_cpu_relax();
}

/* The calling thread may migrate between these calls, so its own CPU is called, too. */
void ask_everywhere(void (*what)(void *))
{
    cpu_for_each (cpu)
        ask_cpu(cpu, what);
}

void follow_everywhere(void)
{
    ask_everywhere(counting_follow);
}

void hpm_update(uint32_t pid)
{
    if (!hpm_state.ops)
        return;
    cpu_for_each (cpu)
        if (cpu != this_cpu() && hpm_counted(cpu) &&
            (!pid || __atomic_load_n(&cpu->hpm->current_pid, __ATOMIC_RELAXED) == pid))
            ask_cpu(cpu, counting_follow);
}

/* Adds the sets of the session's metrics, by logical counts. wish_of[s]: the wish that set s
 * belongs to. */
static void add_sets(struct plan_request *r, const struct hpm_session *s, uint8_t *wish_of)
{
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish[EVENT_WISHES_MAX];
    unsigned sets = event_request_sets(&s->request, set, wish);

    for (unsigned i = 0; i < sets && r->sets < GROUP_SETS_MAX; i++, r->sets++) {
        r->set[r->sets] = 0;
        for (uint64_t left = set[i]; left; left &= left - 1)
            r->set[r->sets] |= (uint64_t)1 << s->count[__builtin_ctzll(left)];
        wish_of[r->sets] = wish[i];
    }
}

/* Collects all sessions' sets, those of `s` first. */
static void collect_sets(struct plan_request *r, const struct hpm_session *s, uint8_t *wish_of)
{
    r->sets = 0;
    if (s)
        add_sets(r, s, wish_of);
    for (unsigned i = 0; i < SESSIONS_MAX; i++)
        if (wanted.session[i] && wanted.session[i] != s)
            add_sets(r, wanted.session[i], wish_of);
}

/* Makes the plan of `request` the present one. Returns as plan_make. */
static int change_plan(struct plan_request *request, struct group_cause *cause)
{
    struct hpm_plan *next = &wanted.plan[hpm_state.plan == &wanted.plan[0]];

    request->generation = wanted.request.generation + 1;
    request->cpus = 0;
    cpu_for_each (cpu)
        request->cpus += hpm_counted(cpu) != NULL;
    request->round = request->wanted & ~request->rough ? ROUND_CYCLES : ROUGH_ROUND_CYCLES;
    int err = plan_make(next, request, &wanted.work, cause);
    if (err)
        return err;
    draw_images(hpm_state.ops, next);
    wanted.request = *request;
    __atomic_store_n(&hpm_state.plan, next, __ATOMIC_RELEASE);
    follow_everywhere();
    return 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int say_error(char *err, size_t err_size, const char *what, int error)
{
    ksnprintf(err, err_size, "%s", what);
    return error;
}

/* Returns the length of the name at *at, and moves *at behind it; 0: there is none. */
static size_t next_name(const char **at, const char **name)
{
    size_t n = 0;

    while (**at == ',' || **at == ' ')
        (*at)++;
    *name = *at;
    while ((*at)[n] && (*at)[n] != ',' && (*at)[n] != ' ')
        n++;
    *at += n;
    return n;
}

static int read_names(struct event_request *r, const char *names, char *err, size_t err_size)
{
    char text[EVENT_TEXT_MAX];
    const char *name;
    size_t n;

    while ((n = next_name(&names, &name))) {
        if (n >= sizeof text)
            return say_error(err, err_size, "a name is too long", -EINVAL);
        memcpy(text, name, n);
        text[n] = '\0';
        int number = event_request_add(r, text, err, err_size);
        if (number < 0)
            return number;
    }
    return r->wishes ? 0 : say_error(err, err_size, "no event or metric is named", -EINVAL);
}

static int number_counts(struct hpm_session *s, struct plan_request *r, const uint8_t *slots,
                         char *err, size_t err_size)
{
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish[EVENT_WISHES_MAX];

    if (r->sets + event_request_sets(&s->request, set, wish) > GROUP_SETS_MAX)
        return say_error(err, err_size, "too many metrics at a time: other sessions have their own",
                         -ENOSPC);
    for (unsigned e = 0; e < s->request.events; e++) {
        if (!~r->wanted)
            return say_error(
                err, err_size,
                "too many events at a time: other sessions and the breakdown have theirs", -ENOSPC);
        s->count[e] = (uint8_t)__builtin_ctzll(~r->wanted);
        r->wanted |= (uint64_t)1 << s->count[e];
        r->event[s->count[e]] = s->request.event[e];
        r->born[s->count[e]] = wanted.request.generation + 1;
        if (!slots)
            continue;
        r->slot[s->count[e]] = slots[e];
        r->sampled |= (uint64_t)1 << s->count[e];
    }
    return 0;
}

/* Returns the session's event that `r` counts as logical count `count`; GROUP_EVENTS_MAX: none. */
static unsigned event_of(const struct hpm_session *s, const struct plan_request *r, unsigned count)
{
    for (unsigned e = 0; e < s->request.events; e++)
        if (event_same(&s->request.event[e], &r->event[count]))
            return e;
    return GROUP_EVENTS_MAX;
}

/* Explains why `r` was refused, in the session's own names if the cause is its events alone. */
static int explain_refusal(const struct hpm_session *s, const struct plan_request *r,
                           const struct group_cause *cause, const uint8_t *wish_of, int error,
                           char *err, size_t err_size)
{
    struct group_cause named = *cause;
    unsigned event = cause->event == GROUP_NIL ? 0 : event_of(s, r, cause->event);
    unsigned other = cause->other == GROUP_NIL ? 0 : event_of(s, r, cause->other);
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish[EVENT_WISHES_MAX];
    unsigned own_sets = event_request_sets(&s->request, set, wish);

    if (error == -ERANGE)
        return say_error(err, err_size,
                         "rounds of this number of groups are too long: lower hpm.slice_cycles",
                         error);
    if (event == GROUP_EVENTS_MAX || other == GROUP_EVENTS_MAX ||
        (cause->set != GROUP_NIL && cause->set >= own_sets) || cause->why == GROUP_SIZES)
        return say_error(err, err_size, "there are too few counters beside what is counted already",
                         error);
    named.event = cause->event == GROUP_NIL ? GROUP_NIL : (uint8_t)event;
    named.other = cause->other == GROUP_NIL ? GROUP_NIL : (uint8_t)other;
    if (cause->set != GROUP_NIL)
        named.set = wish_of[cause->set];
    event_request_explain(&s->request, &named, err, err_size);
    return error;
}

/* Pins those of `counts` that can be counted all the time. */
static void pin_if_possible(struct plan_request *request, uint64_t counts)
{
    struct hpm_plan *trial = &wanted.plan[hpm_state.plan == &wanted.plan[0]];
    struct group_cause cause;

    for (; counts; counts &= counts - 1) {
        uint64_t count = counts & -counts;
        request->pinned |= count;
        if (plan_make(trial, request, &wanted.work, &cause))
            request->pinned &= ~count;
    }
}

/* Returns the counts of cycles or instructions in one mode. Those of both modes are always counted;
 * those of one mode should not wait for a turn either, which may not come while a short program
 * runs. Only if there is room: not beside many events, which would then have half as many turns. */
static uint64_t by_mode(const struct hpm_session *s)
{
    uint64_t counts = 0;

    if (s->request.events > hpm_state.pmu.counters)
        return 0;
    for (unsigned e = 0; e < s->request.events; e++)
        for (unsigned which = 0; which < ARRAY_SIZE(hpm_state.always); which++) {
            const struct event *event = &s->request.event[e], *always = &hpm_state.always[which];
            if (always->modes && event->config == always->config && event->modes != always->modes)
                counts |= session_count(s, e);
        }
    return counts;
}

static int want_events(struct hpm_session *s, const uint8_t *slots, char *err, size_t err_size)
{
    static struct plan_request request;
    uint8_t wish_of[GROUP_SETS_MAX];
    struct group_cause cause;

    request = wanted.request;
    int error = number_counts(s, &request, slots, err, err_size);
    if (error)
        return error;
    collect_sets(&request, s, wish_of);
    pin_if_possible(&request, slots ? hpm_session_counts(s) : by_mode(s));
    error = change_plan(&request, &cause);
    /* What sessions pinned is preferred, not required. */
    if (error == -ENOSPC && (request.pinned & ~wanted.pinned)) {
        request.pinned &= wanted.pinned;
        error = change_plan(&request, &cause);
    }
    return error ? explain_refusal(s, &request, &cause, wish_of, error, err, err_size) : 0;
}

static unsigned session_order(void)
{
    unsigned order = 0;

    while (PAGE_SIZE << order < sizeof(struct hpm_session))
        order++;
    return order;
}

size_t hpm_session_bytes(void)
{
    return PAGE_SIZE << session_order();
}

static struct hpm_session **find_slot(const struct hpm_session *s)
{
    for (unsigned i = 0; i < SESSIONS_MAX; i++)
        if (wanted.session[i] == s)
            return &wanted.session[i];
    return NULL;
}

int session_open(const char *names, const uint8_t *slots, struct hpm_session **out, char *err,
                 size_t err_size)
{
    struct hpm_session **slot = find_slot(NULL);
    paddr_t pa;

    if (!hpm_state.ops)
        return say_error(err, err_size,
                         "this machine has no performance counters that are known, or hpm.pmu=none",
                         -ENODEV);
    if (!hpm_state.pmu.events.table)
        return say_error(err, err_size,
                         event_vendors ? "no events of this processor's PMU are known by name"
                                       : EVENT_NO_VENDORS,
                         -ENODEV);
    if (!slot)
        return say_error(err, err_size, "too many sessions at a time", -ENOSPC);
    if (frame_alloc(session_order(), &pa))
        return say_error(err, err_size, "no memory", -ENOMEM);
    struct hpm_session *s = phys_to_virt(pa);
    event_request_init(&s->request, &hpm_state.pmu.events);
    int error = read_names(&s->request, names, err, err_size);
    /* Found before the events are wanted, for counting begins there. */
    s->nests = event_nests(&s->request.pmu, s->request.event, s->request.events, s->nest);
    if (!error)
        error = want_events(s, slots, err, err_size);
    if (error) {
        frame_free(pa, session_order());
        return error;
    }
    *slot = *out = s;
    return 0;
}

int hpm_session_open(const char *names, struct hpm_session **out, char *err, size_t err_size)
{
    return session_open(names, NULL, out, err, err_size);
}

int hpm_list(uint32_t *cursor, struct event_listed *out)
{
    if (!hpm_state.ops || !hpm_state.pmu.events.table)
        return -ENODEV;
    return event_list(&hpm_state.pmu.events, cursor, out) ? 0 : -ENOENT;
}

void hpm_session_close(struct hpm_session *s)
{
    static struct plan_request request;
    uint8_t wish_of[GROUP_SETS_MAX];
    struct group_cause cause;

    *find_slot(s) = NULL;
    request = wanted.request;
    request.wanted &= ~hpm_session_counts(s);
    request.sampled &= request.wanted;
    request.pinned &= request.wanted;
    collect_sets(&request, NULL, wish_of);
    /* A part of what could be packed can be packed. At worst the effort runs out; then the closed
     * session's counts are counted in vain until the next plan. */
    if (change_plan(&request, &cause)) {
        wanted.request.wanted = request.wanted;
        wanted.request.sampled = request.sampled;
        wanted.request.pinned = request.pinned;
    }
    frame_free(virt_to_phys(s), session_order());
}

/* ---- Readings -------------------------------------------------------------------------------- */

unsigned session_user(const struct hpm_session *s, struct hpm_user_page *page)
{
    unsigned n = MIN(s->request.wishes, (unsigned)HPM_USER_COUNTS);

    for (unsigned i = 0; i < n; i++) {
        const struct event_wish *wish = &s->request.wish[i];
        unsigned number = s->count[wish->event[0]];
        page->of[i].number = number;
        page->of[i].born = wish->metric ? 0 : wanted.request.born[number];
    }
    return n;
}

uint64_t session_count(const struct hpm_session *s, unsigned i)
{
    return (uint64_t)1 << s->count[i];
}

uint64_t hpm_session_counts(const struct hpm_session *s)
{
    uint64_t counts = 0;

    for (unsigned e = 0; e < s->request.events; e++)
        counts |= (uint64_t)1 << s->count[e];
    return counts;
}

unsigned hpm_session_values(const struct hpm_session *s)
{
    return s->request.wishes;
}

void hpm_sums_copy(struct hpm_sums *to, const struct hpm_sums *from)
{
    to->generation = from->generation;
    to->cycles = from->cycles;
    to->fitted = from->fitted;
    to->held = from->held;
    for (uint64_t left = from->held; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        to->count[i] = from->count[i];
    }
}

void hpm_sums_add(struct hpm_sums *sum, const struct hpm_sums *part)
{
    if (!part->generation)
        return;
    ASSERT(!sum->generation || sum->generation == part->generation);
    sum->generation = part->generation;
    sum->cycles += part->cycles;
    for (uint64_t left = part->held; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        if (sum->held >> i & 1)
            mux_sum_add(&sum->count[i], &part->count[i]);
        else
            sum->count[i] = part->count[i];
    }
    sum->held |= part->held;
}

void hpm_sums_sub(struct hpm_sums *from, const struct hpm_sums *earlier)
{
    from->cycles -= earlier->cycles;
    for (uint64_t left = from->held & earlier->held; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        mux_sum_sub(&from->count[i], &earlier->count[i]);
    }
}

/* Returns the sum of the session's event. The session's counts are as old as its birth; an older
 * value in `sums` belongs to another count. */
static struct mux_sum sum_of(const struct hpm_session *s, unsigned event,
                             const struct hpm_sums *sums)
{
    unsigned i = s->count[event];

    return sums->generation < wanted.request.born[i] ? (struct mux_sum){0}
                                                     : hpm_sums_count(sums, i);
}

void hpm_session_fit(struct hpm_session *s, struct hpm_sums *sums)
{
    unsigned known = 0;

    /* A whole that was never counted says nothing about its parts. */
    for (unsigned i = 0; i < s->nests; i++)
        if (sum_of(s, s->nest[i].whole, sums).seen)
            s->known[known++] = s->nest[i];
    for (unsigned e = 0; e < s->request.events; e++) {
        struct mux_sum sum = sum_of(s, e, sums);
        s->fit[e] =
            (struct fit_event){sum.count, sum.counted, sum.length && sum.seen == sum.length};
    }
    for (uint64_t left = fit_events(s->fit, s->known, known); left; left &= left - 1) {
        unsigned e = (unsigned)__builtin_ctzll(left), i = s->count[e];
        mux_sum_settle(&sums->count[i]);
        sums->count[i].count = s->fit[e].count;
        sums->fitted |= (uint64_t)1 << i;
    }
}

static uint32_t permille(const struct mux_sum *sum)
{
    return sum->length ? (uint32_t)fixed_muldiv(MIN(sum->seen, sum->length), 1000, sum->length) : 0;
}

static void read_metric(const struct hpm_session *s, unsigned wish, const struct hpm_sums *sums,
                        struct hpm_value *out)
{
    uint64_t count[GROUP_EVENTS_MAX] = {0}, counted = 0;

    out->seen_permille = 1000;
    for (uint64_t left = s->request.wish[wish].events; left; left &= left - 1) {
        unsigned e = (unsigned)__builtin_ctzll(left);
        struct mux_sum sum = sum_of(s, e, sums);
        out->fitted |= sums->fitted >> s->count[e] & 1;
        count[e] = sum.count;
        counted |= (uint64_t)(sum.seen != 0) << e;
        out->seen_permille = MIN(out->seen_permille, permille(&sum));
    }
    out->metric = event_request_value(&s->request, wish, count, counted);
}

void hpm_session_value(const struct hpm_session *s, unsigned i, const struct hpm_sums *sums,
                       struct hpm_value *out)
{
    const struct event_wish *wish = &s->request.wish[i];

    *out = (struct hpm_value){.name = wish->text};
    if (wish->metric) {
        out->unit = wish->metric->unit;
        read_metric(s, i, sums, out);
        return;
    }
    struct mux_sum sum = sum_of(s, wish->event[0], sums);
    out->counted = sum.counted;
    out->seen = sum.seen;
    out->length = sum.length;
    out->fitted = sums->fitted >> s->count[wish->event[0]] & 1;
    bool irq = arch_irq_save();
    struct mux_rounds rounds = __atomic_load_n(&hpm_state.plan, __ATOMIC_ACQUIRE)->mux.rounds;
    arch_irq_restore(irq);
    estimate_make(&sum, &rounds, sum.counted ? 0 : hpm_spread(s->count[wish->event[0]]),
                  &out->estimate);
    out->seen_permille = permille(&sum);
}
