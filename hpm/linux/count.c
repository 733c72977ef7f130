/* See count.h. */
#include "hpm/linux/count.h"
#include "kernel/lib/fixed.h"

/* Returns what has come to `begin`. A reading that is older than another says 0. */
static uint64_t grown(uint64_t begin, uint64_t end)
{
    return end > begin ? end - begin : 0;
}

void perf_count_add(struct perf_count *sum, const struct perf_count *begin,
                    const struct perf_count *end, bool blind)
{
    uint64_t ns = grown(begin->enabled_ns, end->enabled_ns);

    sum->enabled_ns += ns;
    sum->since_ns += ns;
    if (blind) {
        sum->blind_ns += ns;
        return;
    }
    sum->counted += grown(begin->counted, end->counted);
    sum->length += grown(begin->length, end->length);
    sum->seen += grown(begin->seen, end->seen);
}

void perf_count_reset(struct perf_count *c)
{
    *c = (struct perf_count){.enabled_ns = c->enabled_ns};
}

/* Returns the part `of` / `all` of ns, less than ns if it is not all. */
static uint64_t part_of(uint64_t ns, uint64_t of, uint64_t all)
{
    return of >= all ? ns : fixed_muldiv(ns, of, all);
}

uint64_t perf_running_ns(const struct perf_count *c)
{
    uint64_t sighted = part_of(c->enabled_ns, grown(c->blind_ns, c->since_ns), c->since_ns);

    return part_of(sighted, c->seen, c->length);
}

static size_t times_in(uint64_t format)
{
    return (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0) +
           (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0);
}

static size_t each_in(uint64_t format)
{
    return 1 + (format & PERF_FORMAT_ID ? 1 : 0) + (format & PERF_FORMAT_LOST ? 1 : 0);
}

size_t perf_read_words(uint64_t format, size_t events)
{
    if (!(format & PERF_FORMAT_GROUP))
        return each_in(format) + times_in(format);
    return 1 + times_in(format) + events * each_in(format);
}

static uint64_t *put_times(uint64_t format, const struct perf_count *c, uint64_t *out)
{
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        *out++ = c->enabled_ns;
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        *out++ = perf_running_ns(c);
    return out;
}

static uint64_t *put_rest(uint64_t format, const struct perf_shown *e, uint64_t *out)
{
    if (format & PERF_FORMAT_ID)
        *out++ = e->id;
    if (format & PERF_FORMAT_LOST)
        *out++ = e->lost;
    return out;
}

void perf_read_put(uint64_t format, const struct perf_shown *events, size_t n, uint64_t *out)
{
    if (!(format & PERF_FORMAT_GROUP)) {
        *out++ = events->count.counted;
        put_rest(format, events, put_times(format, &events->count, out));
        return;
    }
    *out++ = n;
    out = put_times(format, &events->count, out);
    for (size_t i = 0; i < n; i++) {
        *out++ = events[i].count.counted;
        out = put_rest(format, &events[i], out);
    }
}
