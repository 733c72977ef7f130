/* Any bytes as the name of an event, on any PMU: no crash; what is accepted can be counted; what is refused writes nothing. */
#include <stdlib.h>
#include <string.h>
#include "hpm/events/table.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static void check(const struct event_table *t, const struct event *e)
{
    if (!e->modes || (!e->counters && e->fixed == EVENT_NO_FIXED) || e->exclusion > EVENT_LATENCY)
        abort();
    if (e->config & ~(t->raw_bits | 0xffff))
        abort();
    if (e->extra && !e->exclusion)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned tables;
    struct event event, before;
    char err[64], *text;

    while (event_tables[tables])
        tables++;
    if (!size)
        return 0;
    const struct event_table *t = event_tables[data[0] % tables];
    text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    memset(&event, 0x5a, sizeof event);
    before = event;
    memset(err, 'x', sizeof err);
    int r = event_parse(t, text, &event, err, sizeof err);
    if (!memchr(err, '\0', sizeof err))
        abort();
    if (!r)
        check(t, &event);
    else if (memcmp(&event, &before, sizeof event) || !*err)
        abort();
    event_of_generic(t, text);
    event_table_named(text);
    free(text);
    return 0;
}
