/* Rounds, and the order of turns in them; see mux.h. */
#include "hpm/policy/draw.h"
#include "hpm/policy/mux.h"

static uint64_t bit(unsigned n)
{
    return 1ull << n;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

int mux_rounds_init(struct mux_rounds *r, const struct mux_config *config, unsigned groups)
{
    unsigned passes = config->published ? 1 : config->passes;

    *r = (struct mux_rounds){
        .unit = config->unit, .published = config->published, .groups = groups, .passes = passes};
    if (!groups || groups > GROUP_MAX ||
        (config->unit != MUX_CYCLES && config->unit != MUX_INSTRUCTIONS) || !config->round ||
        config->round > MUX_ROUND_MAX || !passes || passes > MUX_PASSES_MAX)
        return -EINVAL;
    for (unsigned g = 0; g < groups; g++) {
        r->share[g] = config->published ? 1 : config->share[g];
        r->slots += r->share[g];
        if (!r->share[g] || r->share[g] > MUX_SHARE_MAX)
            return -EINVAL;
    }
    if (r->slots > MUX_SLOTS_MAX)
        return -EINVAL;
    r->round = config->round;
    r->pass = r->round / passes;
    r->slice = r->pass / r->slots;
    return r->slice < MUX_SLICE_MIN ? -ERANGE : 0;
}

static void add_seat(struct mux_plan *p, unsigned group, unsigned counter, unsigned event)
{
    struct mux_group *g = &p->group[group];

    g->seat[g->seats++] = (struct mux_seat){(uint8_t)counter, (uint8_t)event};
    g->events |= bit(event);
    p->events |= bit(event);
    p->slots_with[event] += p->rounds.share[group];
}

static bool seen_alike(const struct mux_plan *p, unsigned a, unsigned b)
{
    for (unsigned g = 0; g < p->rounds.groups; g++)
        if ((p->group[g].events >> a & 1) != (p->group[g].events >> b & 1))
            return false;
    return true;
}

static void put_in_order(struct mux_plan *p)
{
    unsigned n = 0;

    for (uint64_t left = p->events; left;) {
        unsigned first = (unsigned)__builtin_ctzll(left);
        for (uint64_t rest = left; rest; rest &= rest - 1) {
            unsigned e = (unsigned)__builtin_ctzll(rest);
            if (!seen_alike(p, first, e))
                continue;
            p->order[n++] = (uint8_t)e;
            left &= ~bit(e);
        }
    }
    p->counted = n;
}

/* Events that are in no group are not in the order. */
static void insert_behind(struct mux_plan *p, unsigned event, unsigned alias)
{
    unsigned at = 0;

    while (at < p->counted && p->order[at] != event)
        at++;
    if (at == p->counted)
        return;
    memmove(&p->order[at + 2], &p->order[at + 1], p->counted - at - 1);
    p->order[at + 1] = (uint8_t)alias;
    p->counted++;
}

int mux_plan_init(struct mux_plan *p, const struct mux_config *config,
                  const struct group_plan *groups)
{
    *p = (struct mux_plan){0};
    int err = mux_rounds_init(&p->rounds, config, groups->groups);
    if (err)
        return err;
    p->pool = p->rounds.pass;
    for (unsigned g = 0; g < groups->groups; g++)
        for (unsigned counter = 0; counter < GROUP_COUNTERS_ALL; counter++)
            if (groups->event[g][counter] != GROUP_NIL &&
                !(config->apart >> groups->event[g][counter] & 1))
                add_seat(p, g, counter, groups->event[g][counter]);
    put_in_order(p);
    return 0;
}

/* An event in the order that is seen alike is followed by this one. */
static void put_behind_alike(struct mux_plan *p, unsigned event)
{
    unsigned at = 0;

    while (at < p->counted && !seen_alike(p, p->order[at], event))
        at++;
    if (at < p->counted)
        insert_behind(p, p->order[at], event);
    else
        p->order[p->counted++] = (uint8_t)event;
}

void mux_plan_seat(struct mux_plan *p, unsigned group, unsigned counter, unsigned event)
{
    ASSERT(group < p->rounds.groups && !(p->events >> event & 1));
    add_seat(p, group, counter, event);
    put_behind_alike(p, event);
}

void mux_plan_seat_in_all(struct mux_plan *p, const uint8_t counter[GROUP_MAX], unsigned event)
{
    ASSERT(!(p->events >> event & 1));
    for (unsigned g = 0; g < p->rounds.groups; g++)
        add_seat(p, g, counter[g], event);
    put_behind_alike(p, event);
}

void mux_plan_alias(struct mux_plan *p, unsigned event, unsigned alias)
{
    ASSERT(!(p->events >> alias & 1));
    for (unsigned g = 0; g < p->rounds.groups; g++)
        for (unsigned i = 0, n = p->group[g].seats; i < n; i++)
            if (p->group[g].seat[i].event == event)
                add_seat(p, g, p->group[g].seat[i].counter, alias);
    insert_behind(p, event, alias);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Fisher-Yates shuffle. */
static void shuffle_order(struct mux_turns *t, const struct mux_rounds *r)
{
    for (unsigned left = r->slots; left > 1; left--) {
        unsigned pick = (unsigned)((draw_bits(&t->random) >> 32) * left >> 32);
        uint8_t swapped = t->order[left - 1];
        t->order[left - 1] = t->order[pick];
        t->order[pick] = swapped;
    }
}

static void begin_pass(struct mux_turns *t, const struct mux_rounds *r, unsigned pass)
{
    t->pass = pass;
    t->position = 0;
    t->left = r->slice;
    shuffle_order(t, r);
}

void mux_turns_init(struct mux_turns *t, const struct mux_rounds *r, uint64_t seed)
{
    unsigned slot = 0;

    *t = (struct mux_turns){.random = seed * 0x9e3779b97f4a7c15 | 1};
    for (unsigned g = 0; g < r->groups; g++)
        for (unsigned i = 0; i < r->share[g]; i++)
            t->order[slot++] = (uint8_t)g;
    begin_pass(t, r, 0);
}

HOT_CODE enum mux_step mux_turns_next(struct mux_turns *t, const struct mux_rounds *r)
{
    t->left = r->slice;
    if (++t->position < r->slots)
        return MUX_SLICE_ENDS;
    unsigned next = (t->pass + 1) % r->passes;
    begin_pass(t, r, next);
    return next ? MUX_PASS_ENDS : MUX_ROUND_ENDS;
}

enum mux_step mux_turns_spend(struct mux_turns *t, const struct mux_rounds *r, uint64_t length)
{
    if (length >= t->left)
        return mux_turns_next(t, r);
    t->left -= length;
    return MUX_STAYS;
}

uint64_t mux_turns_cut(struct mux_turns *t, const struct mux_rounds *r)
{
    uint64_t seen = 0;

    for (unsigned i = 0; i < t->position; i++)
        seen |= bit(t->order[i]);
    if (t->left < r->slice)
        seen |= bit(mux_turns_group(t));
    begin_pass(t, r, 0);
    return (r->groups == 64 ? ~0ull : bit(r->groups) - 1) & ~seen;
}

const char *mux_turns_check(const struct mux_turns *t, const struct mux_rounds *r)
{
    uint8_t slices[GROUP_MAX] = {0};

    if (!t->random)
        return "a generator that is stuck";
    if (t->position >= r->slots || t->pass >= r->passes)
        return "a position beyond the round";
    if (!t->left || t->left > r->slice)
        return "more or less left than a slice";
    for (unsigned i = 0; i < r->slots; i++) {
        if (t->order[i] >= r->groups)
            return "a turn of no group";
        slices[t->order[i]]++;
    }
    return memcmp(slices, r->share, sizeof slices) ? "a group whose slices are not its share"
                                                   : NULL;
}
