/*
 * Any bytes as what is to be sampled, on any PMU: no crash; what is accepted can be sampled, with a
 * period in its range, and means the same when it is written again; what is refused says why. The
 * first byte chooses the PMU, the second what it records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hpm/policy/breakdown.h"
#include "hpm/policy/criteria.h"
#include "hpm/events/request.h"
#include "hpm/events/table.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

static void check(const struct criterion *c, const struct criteria_caps *caps)
{
    uint64_t most = c->kind == CRITERION_TIME ? CRITERION_PERIOD_NS_MAX : CRITERION_PERIOD_MAX;

    if (!memchr(c->name, '\0', sizeof c->name) || strpbrk(c->name, "@, \t\n") || !c->name[0])
        abort();
    if (!c->modes || c->modes & ~(EVENT_USER | EVENT_KERNEL) || c->period > most)
        abort();
    unsigned whats = !!c->sources + c->walks + c->fetches;
    if (whats != (c->kind == CRITERION_ACCESS) || c->sources & ~caps->sources ||
        c->walks > caps->walks || c->fetches > caps->fetches)
        abort();
    if (c->min_latency && (c->kind != CRITERION_ACCESS || !caps->latency))
        abort();
    if (c->kind == CRITERION_ACCESS && c->period && c->period < caps->access_min)
        abort();
    if (c->kind == CRITERION_EVENT &&
        (c->event.modes != c->modes || (!c->event.counters && c->event.fixed == EVENT_NO_FIXED)))
        abort();
}

static bool same(const struct criterion *a, const struct criterion *b)
{
    return a->kind == b->kind && !strcmp(a->name, b->name) && event_same(&a->event, &b->event) &&
           a->sources == b->sources && a->walks == b->walks && a->fetches == b->fetches &&
           a->min_latency == b->min_latency && a->modes == b->modes && a->period == b->period;
}

static void check_again(const struct criterion *c, const struct criteria_caps *caps)
{
    static struct criteria again;
    char text[EVENT_TEXT_MAX + 32], err[64];

    if (c->period)
        snprintf(text, sizeof text, "%s@%llu%s", c->name, (unsigned long long)c->period,
                 c->kind == CRITERION_TIME ? "ns" : "");
    else
        snprintf(text, sizeof text, "%s", c->name);
    if (criteria_parse(text, caps, &again, err, sizeof err) || again.count != 1 ||
        !same(&again.criterion[0], c))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct criteria criteria;
    static unsigned tables;
    char err[64];

    while (event_tables[tables])
        tables++;
    if (size < 3)
        return 0;
    const struct event_pmu pmu = {
        .table = event_tables[data[0] % tables], .counters = 8, .fixed = 0xff000f};
    const struct criteria_caps caps = {.counters = data[0] != 0xfe,
                                       .events = data[0] == 0xff ? NULL : &pmu,
                                       .sources = data[1] & ((1u << SOURCE_COUNT) - 1),
                                       .walks = data[1] & 1,
                                       .fetches = data[1] & 2,
                                       .latency = data[1] & 4,
                                       .access_min = data[1],
                                       .time_min_ns = data[1] * 100};
    char *text = malloc(size - 1);
    memcpy(text, data + 2, size - 2);
    text[size - 2] = '\0';
    memset(err, 'x', sizeof err);
    int r = criteria_parse(text, &caps, &criteria, err, sizeof err);
    if (!memchr(err, '\0', sizeof err) || !r != !*err || !r != !!criteria.count ||
        criteria.count > CRITERIA_MAX)
        abort();
    for (unsigned i = 0; i < criteria.count; i++) {
        check(&criteria.criterion[i], &caps);
        check_again(&criteria.criterion[i], &caps);
    }
    free(text);
    return 0;
}
