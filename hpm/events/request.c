/* Names to events, and events to the demands of packing; see request.h. */
#include "hpm/events/request.h"
#include "hpm/events/lookup.h"

_Static_assert(EVENT_NO_FIXED == GROUP_NIL,
               "events say that they have no fixed counter as packing does");

void event_request_init(struct event_request *r, const struct event_pmu *pmu)
{
    memset(r, 0, sizeof *r);
    r->pmu = *pmu;
}

/* ---- Wishes ---------------------------------------------------------------------------------- */

bool event_same(const struct event *a, const struct event *b)
{
    return a->config == b->config && a->extra == b->extra && a->counters == b->counters &&
           a->fixed == b->fixed && a->exclusion == b->exclusion && a->modes == b->modes;
}

/* Returns the number of `event` among the request's first *events, adding it if it is new;
 * GROUP_EVENTS_MAX: no room. */
static unsigned number_event(struct event_request *r, unsigned *events, const struct event *event)
{
    unsigned e = 0;

    while (e < *events && (r->tie[e] != r->tying || !event_same(&r->event[e], event)))
        e++;
    if (e == *events && e < GROUP_EVENTS_MAX) {
        r->event[e] = *event;
        r->tie[e] = r->tying;
        r->weight[e] = 0;
        ++*events;
    }
    return e;
}

static bool is_metric(struct word w)
{
    for (const struct metric *m = metrics; m->name; m++)
        if (text_same(m->name, w.at, w.n))
            return true;
    return false;
}

/* Finds the metric of a wish and its events, in the modes behind its name. */
static int read_metric(const struct event_pmu *pmu, const struct event_words *words,
                       struct event_wish *wish, struct event *event, char *err, size_t err_size)
{
    char name[EVENT_TEXT_MAX] = "";
    int r;

    memcpy(name, words->word[0].at, words->word[0].n);
    r = metric_find(pmu, name, &wish->metric, &wish->program, event, err, err_size);
    for (unsigned i = 0; !r && i < wish->program.events; i++) {
        event[i].modes = words->modes;
        if (event[i].exclusion == EVENT_TOPDOWN)
            event[i].extra = words->modes;
    }
    return r;
}

/* Parses a wish. Returns the number of its events, or an error. */
static int read_wish(const struct event_pmu *pmu, const char *text, struct event_wish *wish,
                     struct event *event, char *err, size_t err_size)
{
    struct text message = {err, err_size};
    struct event_words words;
    struct word all = {text, 0};
    int r;

    memset(wish, 0, sizeof *wish);
    while (all.n < EVENT_TEXT_MAX && text[all.n])
        all.n++;
    text_put(&message, "");
    r = event_split(all, &words, &message);
    if (r)
        return r;
    memcpy(wish->text, text, all.n);
    if (words.count == 1 && is_metric(words.word[0])) {
        r = read_metric(pmu, &words, wish, event, err, err_size);
        return r ? r : (int)wish->program.events;
    }
    r = event_parse(pmu, text, event, err, err_size);
    return r ? r : 1;
}

static int no_room(const char *what, char *err, size_t err_size)
{
    struct text message = {err, err_size};

    text_put(&message, what);
    return -ENOSPC;
}

int event_request_add(struct event_request *r, const char *text, char *err, size_t err_size)
{
    struct event event[METRIC_EVENTS_MAX];
    unsigned events = r->events;

    if (r->wishes == EVENT_WISHES_MAX)
        return no_room("too many events and metrics", err, err_size);
    struct event_wish *wish = &r->wish[r->wishes]; /* the first free one */
    int n = read_wish(&r->pmu, text, wish, event, err, err_size);
    if (n < 0)
        return n;
    for (int i = 0; i < n; i++) {
        unsigned e = number_event(r, &events, &event[i]);
        if (e == GROUP_EVENTS_MAX)
            return no_room("too many different events", err, err_size);
        wish->event[i] = (uint8_t)e;
        wish->events |= (uint64_t)1 << e;
    }
    wish->tie = r->tying;
    r->events = events;
    return (int)r->wishes++;
}

/* ---- Packing --------------------------------------------------------------------------------- */

/* Returns the counters kept for wide events, which need the counter above theirs as well. Packing
 * does not know pairs, so if there are wide events, the highest even counter is kept for them, and
 * the one above it left free. */
static uint32_t pair_of(const struct event *event, unsigned events, unsigned counters)
{
    for (unsigned e = 0; e < events; e++)
        if (event[e].wide)
            return counters < 2 ? 0 : 3u << ((counters - 2) & ~1u);
    return 0;
}

static struct group_event demand_of(const struct event *e, uint32_t pair)
{
    uint32_t merged = pair & pair << 1;

    return (struct group_event){
        .mask = e->wide ? e->counters & pair & ~merged : e->counters & ~merged,
        .fixed = e->fixed,
        .exclusion = e->exclusion,
        .extra = e->extra,
    };
}

void event_demands(const struct event *event, unsigned events, unsigned counters,
                   struct group_event *out)
{
    uint32_t pair = pair_of(event, events, counters);

    for (unsigned e = 0; e < events; e++)
        out[e] = demand_of(&event[e], pair);
}

/* Writes the name of event `e` as it was asked for. */
static void put_event(const struct event_request *r, unsigned e, struct text *err)
{
    const struct event_wish *w = r->wish;

    while (!(w->events >> e & 1))
        w++;
    for (unsigned i = 0; w->metric && i < w->program.events; i++)
        if (w->event[i] == e) {
            text_put(err, w->program.event[i]);
            text_put(err, " of ");
        }
    text_put(err, w->text);
}

/* Writes the metric, or the braces. */
static void put_set(const struct event_request *r, unsigned wish, struct text *err)
{
    unsigned tie = r->wish[wish].metric ? 0 : r->wish[wish].tie;

    if (!tie) {
        text_put(err, r->wish[wish].text);
        return;
    }
    for (unsigned w = wish; w < r->wishes && r->wish[w].tie == tie; w++) {
        text_put(err, w == wish ? "{" : ",");
        text_put(err, r->wish[w].text);
    }
    text_put(err, "}");
}

/* Writes the pinned events of `crowd`, as far as they are the request's. */
static void put_pinned(const struct event_request *r, uint64_t crowd, struct text *err)
{
    uint64_t named = crowd & r->pinned;

    for (uint64_t left = named; left; left &= left - 1) {
        text_put(err, left == named ? "" : ", ");
        put_event(r, (unsigned)__builtin_ctzll(left), err);
        text_put(err, "!");
    }
    if (!named)
        text_put(err, "events that are always counted");
}

static void explain_cause(const struct event_request *r, const struct group_cause *cause,
                          struct text *err)
{
    switch (cause->why) {
    case GROUP_POSSIBLE:
        return;
    case GROUP_SIZES:
    case GROUP_BAD_SET:
        text_put(err, "there is no counter, or an event is pinned that there is not");
        return;
    case GROUP_NO_COUNTER:
        put_event(r, cause->event, err);
        text_put(err, ": no counter of this CPU can count it");
        return;
    case GROUP_EXCLUDED:
        put_event(r, cause->event, err);
        text_put(err, " and ");
        put_event(r, cause->other, err);
        text_put(err, ": they cannot be counted at the same time");
        return;
    case GROUP_CROWDED:
        if (cause->set != GROUP_NIL)
            put_set(r, cause->set, err);
        else if (cause->event != GROUP_NIL)
            put_event(r, cause->event, err);
        else
            put_pinned(r, cause->crowd, err);
        text_put(err, ": there are fewer counters than it takes at the same time");
        return;
    case GROUP_TOO_MANY:
        text_put(err, "too many events to take turns");
        return;
    }
}

void event_request_explain(const struct event_request *r, const struct group_cause *cause,
                           char *err, size_t err_size)
{
    struct text message = {err, err_size};

    text_put(&message, "");
    explain_cause(r, cause, &message);
}

uint64_t event_request_tied(const struct event_request *r, unsigned tie)
{
    uint64_t events = 0;

    for (unsigned e = 0; e < r->events; e++)
        events |= (uint64_t)(tie ? r->tie[e] == tie : r->tie[e] != 0) << e;
    return events;
}

unsigned event_request_sets(const struct event_request *r, uint64_t set[EVENT_WISHES_MAX],
                            uint8_t wish[EVENT_WISHES_MAX])
{
    unsigned sets = 0;

    for (unsigned w = 0; w < r->wishes; w++)
        if (r->wish[w].metric && !r->wish[w].tie) {
            wish[sets] = (uint8_t)w;
            set[sets++] = r->wish[w].events;
        } else if (r->wish[w].tie && (!w || r->wish[w - 1].tie != r->wish[w].tie)) {
            wish[sets] = (uint8_t)w;
            set[sets++] = event_request_tied(r, r->wish[w].tie);
        }
    return sets;
}

int event_request_pack(struct event_request *r, unsigned groups_max, struct group_plan *plan,
                       struct group_work *work, char *err, size_t err_size)
{
    uint64_t set[EVENT_WISHES_MAX];
    uint8_t wish_of[EVENT_WISHES_MAX];
    struct group_cause cause;
    struct group_request request = {
        .events = r->events,
        .counters = MIN(r->pmu.counters, (unsigned)GROUP_COUNTERS_MAX),
        .fixed = r->pmu.fixed,
        .sets = event_request_sets(r, set, wish_of),
        .groups_max = groups_max,
        .pinned = r->pinned,
        .event = r->demand,
        .set = set,
    };

    event_demands(r->event, r->events, request.counters, r->demand);
    int result = group_pack(&request, plan, work, &cause);
    if (result && cause.set != GROUP_NIL)
        cause.set = wish_of[cause.set];
    event_request_explain(r, &cause, err, err_size);
    return result;
}

/* ---- Results --------------------------------------------------------------------------------- */

struct metric_value event_request_value(const struct event_request *r, unsigned wish,
                                        const uint64_t *count, uint64_t counted)
{
    const struct event_wish *w = &r->wish[wish];
    uint64_t own[METRIC_EVENTS_MAX] = {0};
    uint32_t have = 0;

    ASSERT(wish < r->wishes && w->metric);
    for (unsigned i = 0; i < w->program.events; i++) {
        own[i] = count[w->event[i]];
        have |= (uint32_t)(counted >> w->event[i] & 1) << i;
    }
    return metric_evaluate(&w->program, own, have);
}
