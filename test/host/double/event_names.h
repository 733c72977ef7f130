/* What the tests of events' names share. An accepted event is in `event`, the reason of a refusal
 * in `err`. */
#pragma once
#include "test/host/double/expect_panic.h"
#include "hpm/events/event.h"

static struct event event;
static char err[256];

/* Parses an event of that PMU's table. Returns as event_parse. */
static inline int parse(const char *pmu, const char *text)
{
    const struct event_pmu names = {.table = event_table_named(pmu)};

    assert_non_null(names.table);
    return event_parse(&names, text, &event, err, sizeof err);
}

/* Checks that the text is accepted with this selector. */
static inline void expect_event(const char *pmu, const char *text, uint64_t config)
{
    if (parse(pmu, text))
        fail_msg("%s: %s: %s", pmu, text, err);
    assert_int_equal(event.config, config);
}

static inline const char *table_name_for(struct event_identity id)
{
    const struct event_table *t = event_table_for(&id);

    return t ? event_table_name(t) : "none";
}
