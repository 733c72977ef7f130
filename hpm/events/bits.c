/* Events given by the bits of their selector. Their constraints are taken from the table: the
 * counters that can count them, and whether they need more than a selector. */
#include "hpm/events/lookup.h"

#define PART_BITS 0xff00u /* of x86's selectors; Arm's have no parts */

/* The constraint of the event with exactly these bits, or else what all events with the same select
 * have in common. */
struct known {
    struct event_limit limit;
    bool listed; /* the table has an event with the same select */
    /* name of an event with the same parts that needs a second register, or NULL */
    const char *needs;
    bool exact, wide;
};

static void consider_event(struct known *known, const struct event_table *t,
                           const struct event_entry *e, const struct event_unit *u, uint64_t bits)
{
    const struct event_limit *l = unit_limit(t, e, u);
    uint64_t config = u ? unit_config(entry_config(e), u) : entry_config(e);

    if (((config ^ bits) & t->select_bits))
        return;
    known->listed = true;
    known->wide = e->high & ENTRY_WIDE;
    if (l->exclusion && !((config ^ bits) & PART_BITS)) /* whatever the other bits are */
        known->needs = entry_name(t, e);
    if (known->exact)
        return;
    known->exact = config == bits;
    if (known->exact)
        known->limit = *l;
    else if (l->counters)
        known->limit.counters &= l->counters;
}

static struct known look_up(const struct event_table *t, uint64_t bits)
{
    struct known known = {.limit = {t->raw_counters, EVENT_NO_FIXED, EVENT_SHARES_NOTHING}};

    for (unsigned i = 0; i < t->entry_count; i++) {
        const struct event_entry *e = &t->entries[i];
        if (!entry_is_here(t, e))
            continue;
        if (!e->units)
            consider_event(&known, t, e, NULL, bits);
        event_each_unit (u, t, e)
            consider_event(&known, t, e, u, bits);
    }
    return known;
}

bool event_lists(const struct event_table *t, uint64_t bits)
{
    return look_up(t, bits).listed;
}

bool event_is_raw(struct word w)
{
    for (size_t i = 1; i < w.n; i++)
        if (text_digit(w.at[i], 16) < 0)
            return false;
    return w.n > 1 && (w.at[0] | 32) == 'r';
}

static void put_hex(struct text *err, uint64_t bits)
{
    char digits[17], *d = digits + sizeof(digits) - 1;

    *d = '\0';
    do
        *--d = "0123456789abcdef"[bits & 15];
    while (bits >>= 4);
    text_put(err, "0x");
    text_put(err, d);
}

static int refuse_bits(struct word w, const char *why, struct text *err)
{
    text_put_word(err, w);
    text_put(err, why);
    return -EINVAL;
}

int event_parse_raw(const struct event_table *t, struct word w, struct event *out, struct text *err)
{
    uint64_t bits = 0;

    for (size_t i = 1; i < w.n; i++) {
        if (bits >> 60)
            return refuse_bits(w, " has more than 64 bits", err);
        bits = bits << 4 | (unsigned)text_digit(w.at[i], 16);
    }
    if (bits & ~t->raw_bits) {
        refuse_bits(w, " has bits that do not select an event: ", err);
        put_hex(err, bits & ~t->raw_bits);
        return -EINVAL;
    }
    struct known known = look_up(t, bits);
    if (known.needs) {
        refuse_bits(w, " needs a second register's value too: name it, as ", err);
        text_put(err, known.needs);
        return -EINVAL;
    }
    *out = (struct event){
        .config = bits,
        .counters = known.limit.counters,
        .fixed = known.limit.fixed,
        .wide = known.wide,
    };
    return 0;
}
