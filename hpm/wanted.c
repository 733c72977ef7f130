/* The plan of all that is counted. The breakdown's figures are always wanted; sessions come and go.
 * Each time a new plan of all that is wanted is made, in the memory of the plan before the present
 * one, and every CPU is told to follow it. When all have followed, the present plan's memory is
 * free (see hpm/policy/context.h).
 *
 * What is pinned: first what sessions ask for; then the counts that the scheduler acts on, unless
 * these take a counter that a session's pinned events need; then what is liked to be, one by
 * one. */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "hpm/wanted.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

#define ANSWER_NS (100 * NS_PER_MS)
/* Least length of a round: R of [A] 2.7, and more while no interval of a count is asked for. */
#define ROUND_CYCLES       2000000
#define ROUGH_ROUND_CYCLES 8000000

/* Callers are serialised. */
static struct {
    struct plan_request request; /* of the present plan, without the sessions' sets */
    uint64_t figures;            /* counts that the scheduler acts on: pinned if possible */
    bool scaled;                 /* they are not, for sessions' pinned events need their counters */
    struct hpm_session *session[SESSIONS_MAX + EXACT_SESSIONS_MAX];
    struct hpm_plan plan[2];
    bool made; /* the one that is not followed is that of the request that was tried last */
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

/* Wants `figure`, for quanta, if it can be counted all the time beside those that are. */
static bool can_count_always(unsigned figure)
{
    struct group_cause cause;
    uint64_t before = wanted.request.wanted;
    unsigned count = want_first(&hpm_state.event[figure]);

    wanted.request.pinned = wanted.request.rough = wanted.request.wanted;
    if (!plan_make(&wanted.plan[0], &wanted.request, &wanted.work, &cause)) {
        hpm_state.figures.event[figure] = (uint8_t)count;
        return true;
    }
    wanted.request.wanted = wanted.request.pinned = wanted.request.rough = before;
    return false;
}

static void want_figures(void)
{
    struct context_figures *figures = &hpm_state.figures;

    *figures = (struct context_figures){.remote_latency = 0};
    memset(figures->event, GROUP_NIL, sizeof figures->event);
    figures->instructions = GROUP_NIL;
    if (hpm_state.always[1].modes)
        figures->instructions = want_first(&hpm_state.always[1]);
    exact_take(can_count_always);
    if (exact_wanted()) {
        wanted.request.pinned = wanted.request.rough = wanted.request.wanted;
        return;
    }
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
    wanted.figures = wanted.request.pinned;
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

/* Adds the sets of the session's metrics and braces, by logical counts. wish_of[s]: the wish that
 * set s belongs to. */
static void add_sets(struct plan_request *r, const struct hpm_session *s, uint8_t *wish_of)
{
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish[EVENT_WISHES_MAX];
    unsigned sets = event_request_sets(&s->request, set, wish);

    for (unsigned i = 0; i < sets && r->sets < GROUP_SETS_MAX; i++, r->sets++) {
        r->set[r->sets] = session_numbers(s, set[i]);
        r->tied |= (uint32_t)(s->request.wish[wish[i]].tie != 0) << r->sets;
        wish_of[r->sets] = wish[i];
    }
}

/* Adds what session `s`, if not NULL, and the others ask for beside their events: sets, those of
 * `s` first, and the shortest round. */
static void collect_terms(struct plan_request *r, const struct hpm_session *s, uint8_t *wish_of)
{
    uint64_t round = s && s->request.round ? s->request.round : UINT64_MAX;

    r->sets = 0;
    r->tied = 0;
    if (s)
        add_sets(r, s, wish_of);
    for (unsigned i = 0; i < ARRAY_SIZE(wanted.session); i++) {
        const struct hpm_session *other = wanted.session[i];
        if (!other || other == s)
            continue;
        add_sets(r, other, wish_of);
        round = other->request.round ? MIN(round, other->request.round) : round;
    }
    r->round = r->wanted & ~r->rough ? ROUND_CYCLES : ROUGH_ROUND_CYCLES;
    r->round = round == UINT64_MAX ? r->round : round;
}

/* Makes the plan of `request`, with these counts pinned, in the memory of the next one. Returns as
 * plan_make. */
static int try_plan(struct plan_request *request, uint64_t pinned, struct group_cause *cause)
{
    request->pinned = pinned;
    int err =
        plan_make(&wanted.plan[hpm_state.plan == &wanted.plan[0]], request, &wanted.work, cause);
    wanted.made = !err;
    return err;
}

/* Makes the plan of `request` the present one. Returns as plan_make. */
static int change_plan(struct plan_request *request, struct group_cause *cause)
{
    struct hpm_plan *next = &wanted.plan[hpm_state.plan == &wanted.plan[0]];
    int err = wanted.made ? 0 : try_plan(request, request->pinned, cause);

    if (err)
        return err;
    draw_images(hpm_state.ops, next);
    wanted.request = *request;
    wanted.made = false;
    __atomic_store_n(&hpm_state.plan, next, __ATOMIC_RELEASE);
    follow_everywhere();
    return 0;
}

/* Pins those of the session's counts that it likes to be and that can be counted all the time. */
static void pin_liked(struct plan_request *request, const struct hpm_session *s)
{
    struct group_cause cause;
    uint64_t pinned = request->pinned;

    for (uint64_t left = s && !s->exact ? s->liked & ~pinned : 0; left; left &= left - 1)
        if (!try_plan(request, pinned | (left & -left), &cause))
            pinned |= left & -left;
    request->pinned = pinned;
}

static uint64_t exact_of(const struct hpm_session *s)
{
    return s && s->exact ? s->liked : 0;
}

/* Pins what all sessions like that are to be exact, if all of it can be. */
static void pin_exact(struct plan_request *request, const struct hpm_session *s)
{
    struct group_cause cause;
    uint64_t pinned = request->pinned, exact = exact_of(s);

    for (unsigned i = 0; i < ARRAY_SIZE(wanted.session); i++)
        exact |= exact_of(wanted.session[i]);
    if (!(exact & request->wanted & ~pinned) ||
        !try_plan(request, pinned | (exact & request->wanted), &cause))
        return;
    request->pinned = pinned;
    wanted.made = false;
}

static uint64_t pins_of(const struct hpm_session *s)
{
    return s ? session_numbers(s, s->request.pinned) : 0;
}

/* Chooses what is pinned: see the head of this file. Returns as plan_make. */
static int pin_counts(struct plan_request *request, const struct hpm_session *s, bool *scaled,
                      struct group_cause *cause)
{
    uint64_t required = pins_of(s), figures = wanted.figures;

    for (unsigned i = 0; i < ARRAY_SIZE(wanted.session); i++)
        required |= wanted.session[i] == s ? 0 : pins_of(wanted.session[i]);
    int err = try_plan(request, required | figures, cause);
    /* Only a session's pins outrank the figures; nothing outranks the counts of quanta. */
    *scaled = err && figures && required && (pins_of(s) || wanted.scaled) && !exact_wanted();
    if (*scaled)
        err = try_plan(request, required, cause);
    if (err)
        return err;
    for (unsigned i = 0; i < ARRAY_SIZE(wanted.session); i++)
        if (wanted.session[i] != s)
            pin_liked(request, wanted.session[i]);
    pin_liked(request, s);
    pin_exact(request, s);
    return 0;
}

static void tell_scaled(bool scaled)
{
    if (scaled != wanted.scaled)
        kprintf(scaled ? "hpm: event=scaled figures=remote: pinned events take their counters: "
                         "remote-cache stalls take turns until those are closed\n"
                       : "hpm: event=exact figures=remote: remote-cache stalls are counted all the "
                         "time again\n");
    wanted.scaled = scaled;
}

/* ---- Sessions' part -------------------------------------------------------------------------- */

bool wanted_room(bool exact)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(wanted.session); i++)
        n += wanted.session[i] && wanted.session[i]->exact == exact;
    return n < (exact ? EXACT_SESSIONS_MAX : SESSIONS_MAX);
}

/* Returns the place of `s` among the sessions; of NULL: a free one. NULL: there is none. */
static struct hpm_session **wanted_slot(const struct hpm_session *s)
{
    for (unsigned i = 0; i < ARRAY_SIZE(wanted.session); i++)
        if (wanted.session[i] == s)
            return &wanted.session[i];
    return NULL;
}

static struct plan_request draft;

struct plan_request *wanted_draft(void)
{
    draft = wanted.request;
    draft.generation++;
    draft.cpus = 0;
    cpu_for_each (cpu)
        draft.cpus += hpm_counted(cpu) != NULL;
    return &draft;
}

int wanted_add(struct hpm_session *s, uint8_t wish_of[GROUP_SETS_MAX], struct group_cause *cause)
{
    struct hpm_session **slot = wanted_slot(NULL);
    bool scaled;

    collect_terms(&draft, s, wish_of);
    int err = pin_counts(&draft, s, &scaled, cause);
    if (!err)
        err = change_plan(&draft, cause);
    if (err)
        return err;
    tell_scaled(scaled);
    *slot = s;
    return 0;
}

int wanted_groups_more(const struct hpm_session *s)
{
    uint8_t wish_of[GROUP_SETS_MAX];
    struct group_cause cause;
    bool scaled;

    collect_terms(&draft, s, wish_of);
    int err = pin_counts(&draft, s, &scaled, &cause);
    if (!err && !wanted.made)
        err = try_plan(&draft, draft.pinned, &cause);
    if (err)
        return err;
    unsigned groups = wanted.plan[hpm_state.plan == &wanted.plan[0]].mux.rounds.groups,
             now = hpm_state.plan->mux.rounds.groups;
    return groups > now ? (int)(groups - now) : 0;
}

void wanted_remove(const struct hpm_session *s)
{
    uint8_t wish_of[GROUP_SETS_MAX];
    struct group_cause cause;
    bool scaled = wanted.scaled;

    *wanted_slot(s) = NULL;
    wanted_draft();
    draft.wanted &= ~hpm_session_counts(s);
    draft.sampled &= draft.wanted;
    for (uint64_t left = hpm_session_counts(s); left; left &= left - 1)
        draft.weight[__builtin_ctzll(left)] = 0;
    collect_terms(&draft, NULL, wish_of);
    /* A part of what could be packed can be packed. At worst the effort runs out; then the closed
     * session's counts are counted in vain until the next plan. */
    if (!pin_counts(&draft, NULL, &scaled, &cause) && !change_plan(&draft, &cause)) {
        tell_scaled(scaled);
        return;
    }
    wanted.request.wanted = draft.wanted;
    wanted.request.sampled = draft.sampled;
    wanted.request.pinned &= draft.wanted;
}

/* Returns what shares_variance says of the session's events in `plan`. */
static uint64_t variance_in(const struct hpm_session *s, const struct mux_plan *plan,
                            const uint32_t *deviation)
{
    uint16_t slices[GROUP_EVENTS_MAX];

    for (unsigned e = 0; e < s->request.events; e++)
        slices[e] = plan->slots_with[s->count[e]];
    return shares_variance(deviation, slices, s->request.events, plan->rounds.slots);
}

bool wanted_reweigh(struct hpm_session *s, const uint8_t *weight, const uint32_t *deviation)
{
    const struct hpm_plan *now = hpm_state.plan,
                          *next = &wanted.plan[hpm_state.plan == &wanted.plan[0]];
    uint8_t wish_of[GROUP_SETS_MAX];
    struct group_cause cause;
    bool scaled;

    wanted_draft();
    for (unsigned e = 0; e < s->request.events; e++)
        draft.weight[s->count[e]] = weight[e];
    collect_terms(&draft, NULL, wish_of);
    if (pin_counts(&draft, NULL, &scaled, &cause) ||
        (!wanted.made && try_plan(&draft, draft.pinned, &cause)) ||
        variance_in(s, &next->mux, deviation) >= variance_in(s, &now->mux, deviation)) {
        wanted.made = false;
        return false;
    }
    memcpy(s->request.weight, weight, s->request.events);
    if (change_plan(&draft, &cause))
        return false;
    tell_scaled(scaled);
    return true;
}

uint32_t wanted_born(unsigned count)
{
    return wanted.request.born[count];
}

bool wanted_scaled(void)
{
    return wanted.scaled;
}
