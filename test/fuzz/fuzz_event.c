/*
 * Any bytes as the names of events and metrics, on any PMU: no crash; what is accepted can be
 * counted; what is refused writes nothing. The first byte chooses the PMU, the second how many
 * counters it has; names are lines.
 */
#include <stdlib.h>
#include <string.h>
#include "hpm/events/request.h"
#include "hpm/events/table.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static void check(const struct event_table *t, const struct event *e)
{
    if (!e->modes || (!e->counters && e->fixed == EVENT_NO_FIXED) || e->exclusion > EVENT_TOPDOWN)
        abort();
    if (e->config & ~(t->raw_bits | 0xffff))
        abort();
    if (!e->extra != !e->exclusion) /* events of a class with extra 0 could never share a group */
        abort();
}

static void parse(const struct event_pmu *pmu, const char *text)
{
    struct event event, before;
    const char *found;
    char err[64];

    memset(&event, 0x5a, sizeof event);
    before = event;
    memset(err, 'x', sizeof err);
    int r = event_parse(pmu, text, &event, err, sizeof err);
    if (!memchr(err, '\0', sizeof err))
        abort();
    if (!r)
        check(pmu->table, &event);
    else if (memcmp(&event, &before, sizeof event) || !*err)
        abort();
    event_of_generic(pmu, text, &found);
    event_table_named(text);
}

static void add(struct event_request *r, const char *text)
{
    unsigned wishes = r->wishes, events = r->events;
    char err[64];
    int number = event_request_add(r, text, err, sizeof err);

    if (number < 0 ? r->wishes != wishes || r->events != events || !*err : number != (int)wishes)
        abort();
}

/* Names with what stands beside them: what is accepted has weights and ties in their ranges. */
static void read_text(const struct event_pmu *pmu, const char *text)
{
    static struct event_request request;
    char err[64];

    event_request_init(&request, pmu);
    memset(err, 'x', sizeof err);
    err[0] = '\0';
    if (event_request_read(&request, text, err, sizeof err)) {
        if (!*err || !memchr(err, '\0', sizeof err))
            abort();
        return;
    }
    if (!request.wishes || request.tying || request.round > EVENT_ROUND_MAX)
        abort();
    for (unsigned e = 0; e < request.events; e++)
        if (request.weight[e] > EVENT_WEIGHT_MAX || request.tie[e] > request.ties ||
            (request.tie[e] && request.pinned >> e & 1))
            abort();
}

static void pack(const struct event_request *r)
{
    static struct group_plan plan;
    static struct group_work work;
    char err[64];

    int result = event_request_pack(r, 0, &plan, &work, err, sizeof err);
    if (!result == !!*err)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_request request;
    static unsigned tables;

    while (event_tables[tables])
        tables++;
    if (size < 3)
        return 0;
    const struct event_pmu pmu = {
        .table = event_tables[data[0] % tables],
        .counters = data[1] % 9,
        .fixed = 0xff000f,
        .says = data[1] & 0x80,
        .present = {data[1] * 0x0101010101010101u, data[0] * 0x0101010101010101u}};
    char *text = malloc(size - 1);
    memcpy(text, data + 2, size - 2);
    text[size - 2] = '\0';
    event_request_init(&request, &pmu);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        parse(&pmu, line);
        read_text(&pmu, line);
        add(&request, line);
    }
    pack(&request);
    free(text);
    return 0;
}
