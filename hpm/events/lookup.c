/* Vendors' names of events. Parts of an event come in groups; a part of each group must be named,
 * unless the group has a default; some parts exclude each other (libpfm4's rules for unit masks).
 * The text comes from outside: nothing here relies on its form. Pure: no clock, lock, allocation or
 * register. */
#include "hpm/events/lookup.h"
#include "kernel/lib/text.h"

#define GROUPS_MAX 4

/* An event while its parts are being chosen. */
struct choice {
    const struct event_table *table;
    const struct event_entry *entry;
    uint64_t config, extra;
    const struct event_unit *in_group[GROUPS_MAX]; /* the latest part of each group */
    const struct event_unit *ends;                 /* excludes the groups behind its own */
    struct event_limit limit;                      /* of all parts */
    bool limited, imprecise;                       /* limit is valid; a part is not precise */
};

static unsigned group_of(const struct event_unit *u)
{
    return u->high >> 4 & (GROUPS_MAX - 1);
}

/* Compares names, ignoring the case of the word. */
static bool is_named(struct word w, const char *name)
{
    size_t i = 0;

    for (; i < w.n && name[i]; i++)
        if ((w.at[i] >= 'a' && w.at[i] <= 'z' ? w.at[i] - 32 : w.at[i]) != name[i])
            return false;
    return i == w.n && !name[i];
}

static int clash_of_parts(const struct choice *c, const struct event_unit *a,
                          const struct event_unit *b, const char *why, struct text *err)
{
    text_put_word(err, word_of(unit_name(c->table, a)));
    text_put(err, " and ");
    text_put_word(err, word_of(unit_name(c->table, b)));
    text_put(err, why);
    return -EINVAL;
}

/* Keeps only the counters that can count all parts. */
static int narrow_limit(struct choice *c, const struct event_unit *u, struct text *err)
{
    const struct event_limit *l = unit_limit(c->table, c->entry, u);

    if (!c->limited) {
        c->limit = *l;
        c->limited = true;
        return 0;
    }
    c->limit.counters &= l->counters;
    if (c->limit.fixed != l->fixed)
        c->limit.fixed = EVENT_NO_FIXED;
    c->limit.exclusion = MAX(c->limit.exclusion, l->exclusion);
    if (c->limit.counters || c->limit.fixed != EVENT_NO_FIXED)
        return 0;
    text_put(err, "no counter counts all these parts of ");
    text_put(err, entry_name(c->table, c->entry));
    return -EINVAL;
}

static int choose_part(struct choice *c, const struct event_unit *u, struct text *err)
{
    const struct event_unit *other = c->in_group[group_of(u)];

    if (other == u) /* given twice */
        return 0;
    if (other && ((other->flags | u->flags) & UNIT_ALONE))
        return clash_of_parts(c, other, u, " do not go together", err);
    c->in_group[group_of(u)] = u;
    if (u->flags & UNIT_ENDS)
        c->ends = u;
    c->config = unit_config(c->config, u);
    if (u->extra != UNIT_NO_EXTRA)
        c->extra |= c->table->extras[u->extra];
    c->imprecise |= !(u->flags & UNIT_PRECISE);
    return narrow_limit(c, u, err);
}

static int choose_named(struct choice *c, struct word w, struct text *err)
{
    struct nearest near = {.text = w.at, .n = w.n};

    event_each_unit (u, c->table, c->entry) {
        if (is_named(w, unit_name(c->table, u)))
            return choose_part(c, u, err);
        nearest_consider(&near, unit_name(c->table, u));
    }
    text_put_word(err, w);
    text_put(err,
             c->entry->units ? " is no part of " : " stands behind an event that has no parts, ");
    text_put(err, entry_name(c->table, c->entry));
    text_put_nearest(err, &near);
    return -ENOENT;
}

static int needs_part(const struct choice *c, unsigned group, struct text *err)
{
    text_put(err, entry_name(c->table, c->entry));
    text_put(err, " needs one of its parts:");
    event_each_unit (u, c->table, c->entry) {
        if (group_of(u) != group)
            continue;
        text_put(err, " ");
        text_put(err, unit_name(c->table, u));
    }
    return -EINVAL;
}

static bool is_chosen_behind(const struct choice *c, unsigned group)
{
    while (++group < GROUPS_MAX)
        if (c->in_group[group])
            return true;
    return false;
}

/* A default that excludes a named part is not used. */
static int choose_default(struct choice *c, unsigned group, struct text *err)
{
    bool behind = is_chosen_behind(c, group);
    int r = 0;

    event_each_unit (u, c->table, c->entry)
        if (!r && group_of(u) == group && (u->flags & UNIT_DEFAULT) &&
            !(behind && (u->flags & UNIT_ENDS)))
            r = choose_part(c, u, err);
    return !r && !c->in_group[group] ? needs_part(c, group, err) : r;
}

static int complete_choice(struct choice *c, struct text *err)
{
    unsigned groups = ENTRY_GROUPS(c->entry->high);
    int r = 0;

    for (unsigned g = 0; g < groups && !r; g++)
        if (!c->in_group[g] && !(c->ends && group_of(c->ends) < g))
            r = choose_default(c, g, err);
    for (unsigned g = 0; g < groups && !r && c->ends; g++)
        if (c->in_group[g] && g > group_of(c->ends))
            r = clash_of_parts(c, c->ends, c->in_group[g], " do not go together", err);
    if (r || c->limited)
        return r;
    c->imprecise = !(c->entry->high & ENTRY_PRECISE); /* it has no parts */
    return narrow_limit(c, NULL, err);
}

static int parse_parts(const struct event_table *t, const struct event_entry *e,
                       const struct event_words *w, struct event *out, struct text *err)
{
    struct choice c = {.table = t, .entry = e, .config = entry_config(e)};
    int r = 0;

    for (unsigned i = 1; i < w->count && !r; i++)
        r = choose_named(&c, w->word[i], err);
    if (!r)
        r = complete_choice(&c, err);
    if (r)
        return r;
    *out = (struct event){
        .config = c.config,
        .extra = c.extra,
        .counters = c.limit.counters,
        .fixed = c.limit.fixed,
        .exclusion = c.limit.exclusion,
        .precise = !c.imprecise,
        .wide = e->high & ENTRY_WIDE,
    };
    return 0;
}

static int unknown_event(const struct event_table *t, struct word w, struct text *err)
{
    struct nearest near = {.text = w.at, .n = w.n};

    text_put_word(err, w);
    text_put(err, " is no event of ");
    text_put(err, t->name);
    for (unsigned i = 0; event_generics[i].name; i++)
        if (event_maps_generic(t, i))
            nearest_consider(&near, event_generics[i].name);
    for (unsigned i = 0; i < t->entry_count; i++)
        if (entry_is_here(t, &t->entries[i]))
            nearest_consider(&near, entry_name(t, &t->entries[i]));
    text_put_nearest(err, &near);
    if (!event_vendors)
        text_put(err, "; " EVENT_NO_VENDORS);
    return -ENOENT;
}

static int parse_words(const struct event_table *t, const struct event_words *w, struct event *out,
                       struct text *err)
{
    for (unsigned i = 0; i < t->entry_count; i++)
        if (entry_is_here(t, &t->entries[i]) && is_named(w->word[0], entry_name(t, &t->entries[i])))
            return parse_parts(t, &t->entries[i], w, out, err);
    if (!event_is_raw(w->word[0]))
        return unknown_event(t, w->word[0], err);
    if (w->count == 1)
        return event_parse_raw(t, w->word[0], out, err);
    text_put_word(err, w->word[1]);
    text_put(err, " stands behind bits, which have no parts");
    return -EINVAL;
}

/* Arm's common events: of each block, PMCEID reports 64 (DDI 0487, D13.12). */
#define COMMON_BLOCK 0x4000
#define COMMON_TOLD  64

static bool is_told(const struct event_pmu *pmu, uint64_t config)
{
    return pmu->says && config / COMMON_BLOCK < ARRAY_SIZE(pmu->present) &&
           config % COMMON_BLOCK < COMMON_TOLD;
}

static bool is_lacking(const struct event_lacks *lacks, uint64_t config)
{
    for (unsigned i = 0; i < lacks->configs; i++)
        if (lacks->config[i] == config)
            return true;
    return config & lacks->bits;
}

bool event_counts(const struct event_pmu *pmu, uint64_t config)
{
    if (is_lacking(&pmu->lacks, config))
        return false;
    return !is_told(pmu, config) ||
           (pmu->present[config / COMMON_BLOCK] >> config % COMMON_BLOCK & 1);
}

bool event_is_known(const struct event_pmu *pmu, uint64_t config)
{
    return is_told(pmu, config) ? event_counts(pmu, config) : event_lists(pmu->table, config);
}

int event_parse_specific(const struct event_pmu *pmu, struct word text, struct event *out,
                         struct text *err)
{
    struct event_words words;
    struct event event;

    int r = event_split(text, &words, err);
    if (!r)
        r = parse_words(pmu->table, &words, &event, err);
    if (r)
        return r;
    event.counters &= ~pmu->lacks.counters;
    if (!event_counts(pmu, event.config) || (pmu->lacks.exclusions >> event.exclusion & 1) ||
        (!event.counters && event.fixed == EVENT_NO_FIXED)) {
        text_put_word(err, words.word[0]);
        text_put(err, " is not counted by this CPU");
        return -ENOTSUP;
    }
    event.modes = words.modes;
    if (event.exclusion == EVENT_TOPDOWN)
        event.extra = words.modes;
    *out = event;
    return 0;
}

const char *event_name(const struct event_table *table, unsigned i)
{
    for (unsigned k = 0; k < table->entry_count; k++)
        if (entry_is_here(table, &table->entries[k]) && !i--)
            return entry_name(table, &table->entries[k]);
    return NULL;
}

const char *event_table_name(const struct event_table *table)
{
    return table->name;
}
