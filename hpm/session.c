/* Sessions: events and metrics counted by name; see count.h. */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "hpm/wanted.h"
#include "kernel/mem/mem.h"
#include "kernel/core/printf.h"

/* ---- Opening --------------------------------------------------------------------------------- */

static int say_error(char *err, size_t err_size, const char *what, int error)
{
    ksnprintf(err, err_size, "%s", what);
    return error;
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
        unsigned i = (unsigned)__builtin_ctzll(~r->wanted);
        s->count[e] = (uint8_t)i;
        r->wanted |= (uint64_t)1 << i;
        r->event[i] = s->request.event[e];
        r->born[i] = r->generation;
        r->weight[i] = s->request.weight[e];
        if (!slots)
            continue;
        r->slot[i] = slots[e];
        r->sampled |= (uint64_t)1 << i;
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

/* Returns those of the session's pinned events that are among logical counts `crowd`. */
static uint64_t pinned_in(const struct hpm_session *s, const struct plan_request *r, uint64_t crowd)
{
    uint64_t events = 0;

    for (; crowd; crowd &= crowd - 1) {
        unsigned e = event_of(s, r, (unsigned)__builtin_ctzll(crowd));
        events |= e == GROUP_EVENTS_MAX ? 0 : (uint64_t)1 << e;
    }
    return events & s->request.pinned;
}

/* Explains why `r` was refused, in the session's own names if the cause is its events alone, or
 * pinned ones of them. */
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
                         "rounds of this number of groups, by their weights, are too long: lower "
                         "the weights or hpm.slice_cycles",
                         error);
    bool foreign = event == GROUP_EVENTS_MAX || other == GROUP_EVENTS_MAX ||
                   (cause->set != GROUP_NIL && cause->set >= own_sets);
    named.crowd = pinned_in(s, r, cause->crowd);
    if (cause->why == GROUP_SIZES || (foreign && !named.crowd))
        return say_error(err, err_size, "there are too few counters beside what is counted already",
                         error);
    named.event = foreign || cause->event == GROUP_NIL ? GROUP_NIL : (uint8_t)event;
    named.other = foreign || cause->other == GROUP_NIL ? GROUP_NIL : (uint8_t)other;
    named.set = foreign || cause->set == GROUP_NIL ? GROUP_NIL : wish_of[cause->set];
    event_request_explain(&s->request, &named, err, err_size);
    return error;
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
            if (always->modes && event->config == always->config && event->modes != always->modes &&
                !s->request.tie[e])
                counts |= session_count(s, e);
        }
    return counts;
}

static int want_events(struct hpm_session *s, const uint8_t *slots, char *err, size_t err_size)
{
    uint8_t wish_of[GROUP_SETS_MAX];
    struct group_cause cause;
    struct plan_request *draft = wanted_draft();
    int error = number_counts(s, draft, slots, err, err_size);

    if (error)
        return error;
    s->liked = slots || s->exact ? hpm_session_counts(s) : by_mode(s);
    error = wanted_add(s, wish_of, &cause);
    if (!error)
        return 0;
    explain_refusal(s, draft, &cause, wish_of, error, err, err_size);
    size_t n = 0;
    while (n < err_size && err[n])
        n++;
    if (exact_taken() && n < err_size)
        ksnprintf(err + n, err_size - n, "; trace.counts=topdown holds %u counters all the time",
                  exact_taken());
    return error;
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

/* Finds events that contain others, except tied ones, which are of other times. */
static void find_nests(struct hpm_session *s)
{
    uint64_t tied = event_request_tied(&s->request, 0);
    unsigned found = event_nests(&s->request.pmu, s->request.event, s->request.events, s->nest);

    for (unsigned i = 0; i < found; i++) {
        struct fit_set nest = s->nest[i];
        nest.parts &= ~tied;
        if (nest.parts && !(tied >> nest.whole & 1))
            s->nest[s->nests++] = nest;
    }
}

/* Makes a session of the names, which nothing counts. */
static int make_session(const char *names, bool exact, struct hpm_session **out, char *err,
                        size_t err_size)
{
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
    if (!wanted_room(exact))
        return say_error(err, err_size, "too many sessions at a time", -ENOSPC);
    if (frame_alloc(session_order(), &pa))
        return say_error(err, err_size, "no memory", -ENOMEM);
    *out = phys_to_virt(pa);
    (*out)->nests = 0;
    (*out)->weighed = (struct hpm_weighed){0};
    (*out)->exact = exact;
    event_request_init(&(*out)->request, &hpm_state.pmu.events);
    return event_request_read(&(*out)->request, names, err, err_size);
}

static void free_session(struct hpm_session *s)
{
    if (s)
        frame_free(virt_to_phys(s), session_order());
}

static int open_as(const char *names, const uint8_t *slots, bool exact, struct hpm_session **out,
                   char *err, size_t err_size)
{
    struct hpm_session *s = NULL;
    int error = make_session(names, exact, &s, err, err_size);

    /* Found before the events are wanted, for counting begins there. */
    if (!error) {
        find_nests(s);
        error = want_events(s, slots, err, err_size);
    }
    if (error)
        free_session(s);
    else
        *out = s;
    return error;
}

int session_open(const char *names, const uint8_t *slots, struct hpm_session **out, char *err,
                 size_t err_size)
{
    return open_as(names, slots, false, out, err, err_size);
}

int hpm_groups_more(const char *names)
{
    struct hpm_session *s = NULL;
    char why[1]; /* not used: the caller asks for the number only */
    int more = make_session(names, true, &s, why, sizeof why);

    if (!more)
        more = number_counts(s, wanted_draft(), NULL, why, sizeof why);
    if (!more) {
        s->liked = by_mode(s);
        more = wanted_groups_more(s);
    }
    free_session(s);
    return more;
}

int hpm_session_open(const char *names, struct hpm_session **out, char *err, size_t err_size)
{
    return session_open(names, NULL, out, err, err_size);
}

int hpm_session_open_exact(const char *names, struct hpm_session **out, char *err, size_t err_size)
{
    return open_as(names, NULL, true, out, err, err_size);
}

int hpm_list(uint32_t *cursor, struct event_listed *out)
{
    if (!hpm_state.ops || !hpm_state.pmu.events.table)
        return -ENODEV;
    return event_list(&hpm_state.pmu.events, cursor, out) ? 0 : -ENOENT;
}

void hpm_session_close(struct hpm_session *s)
{
    wanted_remove(s);
    free_session(s);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

void hpm_read_turns(struct hpm_turns *out)
{
    const struct mux_rounds *r = &hpm_state.plan->mux.rounds;

    *out = (struct hpm_turns){.groups = r->groups,
                              .slices = r->slots,
                              .passes = r->passes,
                              .slice = r->slice,
                              .pass = r->pass,
                              .round = r->round,
                              .by_instructions = hpm_state.by_instructions,
                              .scaled = wanted_scaled()};
}

void hpm_session_turn(const struct hpm_session *s, unsigned i, struct hpm_turn *out)
{
    const struct event_wish *wish = &s->request.wish[i];

    *out = (struct hpm_turn){.weight = 1, .slices = ~0u, .tied = wish->tie, .pinned = true};
    for (uint64_t left = wish->events; left; left &= left - 1) {
        unsigned e = (unsigned)__builtin_ctzll(left);
        out->slices = MIN(out->slices, (unsigned)hpm_state.plan->mux.slots_with[s->count[e]]);
        out->weight = MAX(out->weight, (unsigned)s->request.weight[e]);
        out->pinned = out->pinned && s->request.pinned >> e & 1;
        out->automatic |= s->request.automatic >> e & 1;
    }
}

/* ---- Readings -------------------------------------------------------------------------------- */

unsigned session_user(const struct hpm_session *s, struct hpm_user_page *page)
{
    unsigned n = MIN(s->request.wishes, (unsigned)HPM_USER_COUNTS);

    for (unsigned i = 0; i < n; i++) {
        const struct event_wish *wish = &s->request.wish[i];
        unsigned number = s->count[wish->event[0]];
        page->of[i].number = number;
        page->of[i].born = wish->metric ? 0 : wanted_born(number);
    }
    return n;
}

uint64_t session_count(const struct hpm_session *s, unsigned i)
{
    return (uint64_t)1 << s->count[i];
}

uint64_t hpm_session_counts(const struct hpm_session *s)
{
    unsigned events = s->request.events;

    return session_numbers(s, events == 64 ? UINT64_MAX : ((uint64_t)1 << events) - 1);
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

    return sums->generation < wanted_born(i) ? (struct mux_sum){0} : hpm_sums_count(sums, i);
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
