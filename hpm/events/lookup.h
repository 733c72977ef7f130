/* What the files of hpm/events share: the steps from texts and tables to events. */
#pragma once
#include "hpm/events/table.h"
#include "kernel/lib/text.h"

/* n characters of a longer text. */
struct word {
    const char *at;
    size_t n;
};

/* Parses a vendor's event or one given by its bits, with modes: all that event_parse takes except
 * generic names. */
int event_parse_specific(const struct event_pmu *pmu, struct word text, struct event *out,
                         struct text *err);

/* words.c: splits a text at its colons. Modes are taken out; the other words keep their order, the
 * name being the first. */
#define EVENT_WORDS_MAX 16
struct event_words {
    struct word word[EVENT_WORDS_MAX];
    unsigned count;
    uint8_t modes;
};
int event_split(struct word text, struct event_words *out, struct text *err); /* 0 or -EINVAL */

/* bits.c: rHEX. */
bool event_is_raw(struct word w);
int event_parse_raw(const struct event_table *t, struct word w, struct event *out,
                    struct text *err);
/* Returns whether the table has an event with the same select, whatever its parts. */
bool event_lists(const struct event_table *t, uint64_t bits);
/* lookup.c: returns whether the CPU reports the event, or, if it reports nothing, the table lists
 * it. */
bool event_is_known(const struct event_pmu *pmu, uint64_t bits);

/* generic.c: returns whether this PMU's map has a text for event_generics[i]. */
bool event_maps_generic(const struct event_table *t, unsigned i);

static inline void text_put_word(struct text *t, struct word w)
{
    text_put_quoted(t, w.at, w.n);
}

static inline struct word word_of(const char *s)
{
    return (struct word){s, text_length(s)};
}

static inline bool entry_is_here(const struct event_table *t, const struct event_entry *e)
{
    return e->variants & t->variant;
}

/* Iterates over the parts that this PMU's variant of the event has. */
#define event_each_unit(u, t, e)                              \
    for (const struct event_unit *u = (t)->units + (e)->unit; \
         u < (t)->units + (e)->unit + (e)->units; u++)        \
        if (u->variants & (t)->variant)

static inline uint64_t entry_config(const struct event_entry *e)
{
    return e->config | (uint64_t)(e->high & EVENT_CONFIG_HIGH) << 32;
}

/* Returns the selector with an additional part. */
static inline uint64_t unit_config(uint64_t config, const struct event_unit *u)
{
    if (u->flags & UNIT_OVERRIDES)
        config &= ~(uint64_t)0xff;
    return config | u->config | (uint64_t)(u->high & EVENT_CONFIG_HIGH) << 32;
}

/* Returns the constraint of part `u`; NULL: of the event itself. */
static inline const struct event_limit *
unit_limit(const struct event_table *t, const struct event_entry *e, const struct event_unit *u)
{
    return &t->limits[u && u->limit != UNIT_LIMIT_OF_ENTRY ? u->limit : e->limit];
}
