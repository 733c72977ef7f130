/* See list.h. A cursor has the kind in bits 30 and 31, then a row's number, and for a vendor's
 * event the number of its part, from 1. */
#include "hpm/events/list.h"
#include "hpm/events/metric.h"
#include "hpm/events/table.h"
#include "kernel/lib/text.h"

enum { ROW_BITS = 16, PART_BITS = 14 };

static uint32_t cursor_of(unsigned kind, unsigned row, unsigned part)
{
    return (uint32_t)kind << (ROW_BITS + PART_BITS) | (uint32_t)row << PART_BITS | part;
}

/* Appends `text`, as far as there is room. */
static void append_text(char out[EVENT_TEXT_MAX], const char *text, size_t length)
{
    size_t at = text_length(out), n = MIN(length, EVENT_TEXT_MAX - 1 - at);

    memcpy(out + at, text, n);
    out[at + n] = '\0';
}

/* Describes the event. Returns false if this PMU cannot count it. */
static bool describe_listed(const struct event_pmu *pmu, struct event_listed *out)
{
    struct event event;
    char why[1]; /* not used: the event is not listed */

    if (event_parse(pmu, out->text, &event, why, sizeof why))
        return false;
    out->counters = event.counters & (uint32_t)((1ull << pmu->counters) - 1);
    out->fixed = event.fixed != EVENT_NO_FIXED && event.fixed < 32;
    return out->counters || out->fixed;
}

static bool list_generic(const struct event_pmu *pmu, unsigned row, struct event_listed *out)
{
    const struct event_generic *g = &event_generics[row];
    const char *means;
    size_t length = event_of_generic(pmu, g->name, &means);

    append_text(out->text, g->name, text_length(g->name));
    append_text(out->means, means, length);
    out->about = g->about;
    return length && describe_listed(pmu, out);
}

/* Of several rows of one name, only the one that this PMU uses is listed. */
static bool list_metric(const struct event_pmu *pmu, unsigned row, struct event_listed *out)
{
    struct event event[METRIC_EVENTS_MAX];
    struct metric_program program;
    const struct metric *found;
    char why[1];

    if (metric_find(pmu, metrics[row].name, &found, &program, event, why, sizeof why) ||
        found != &metrics[row])
        return false;
    append_text(out->text, found->name, text_length(found->name));
    out->about = found->about;
    out->unit = found->unit;
    return true;
}

static bool list_vendor(const struct event_pmu *pmu, unsigned row, unsigned part,
                        struct event_listed *out)
{
    const struct event_entry *e = &pmu->table->entries[row];

    append_text(out->text, entry_name(pmu->table, e), text_length(entry_name(pmu->table, e)));
    if (part) {
        const char *name = unit_name(pmu->table, &pmu->table->units[e->unit + part - 1]);
        append_text(out->text, ":", 1);
        append_text(out->text, name, text_length(name));
    }
    return describe_listed(pmu, out);
}

static bool list_one(const struct event_pmu *pmu, unsigned row, unsigned part,
                     struct event_listed *out)
{
    switch (out->kind) {
    case EVENT_LISTED_GENERIC:
        return list_generic(pmu, row, out);
    case EVENT_LISTED_METRIC:
        return list_metric(pmu, row, out);
    default:
        return list_vendor(pmu, row, part, out);
    }
}

static unsigned rows_of(const struct event_pmu *pmu, unsigned kind)
{
    unsigned n = 0;

    if (kind == EVENT_LISTED_VENDOR)
        return pmu->table->entry_count;
    while (kind == EVENT_LISTED_GENERIC ? event_generics[n].name != NULL : metrics[n].name != NULL)
        n++;
    return n;
}

bool event_list(const struct event_pmu *pmu, uint32_t *cursor, struct event_listed *out)
{
    unsigned kind = *cursor >> (ROW_BITS + PART_BITS),
             row = *cursor >> PART_BITS & ((1u << ROW_BITS) - 1);
    unsigned part = *cursor & ((1u << PART_BITS) - 1);

    for (; pmu->table && kind <= EVENT_LISTED_VENDOR; kind++, row = part = 0)
        for (unsigned rows = rows_of(pmu, kind); row < rows; row++, part = 0)
            for (unsigned parts = kind == EVENT_LISTED_VENDOR ? pmu->table->entries[row].units : 0;
                 part <= parts;) {
                *out = (struct event_listed){
                    .kind = (enum event_listed_kind)kind, .about = "", .unit = ""};
                bool listed = list_one(pmu, row, part++, out);
                *cursor = cursor_of(kind, row, part);
                if (listed)
                    return true;
            }
    *cursor = cursor_of(EVENT_LISTED_VENDOR + 1, 0, 0);
    return false;
}
