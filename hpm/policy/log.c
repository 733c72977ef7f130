/* See log.h. */
#include "hpm/policy/log.h"

size_t log_record_bytes(unsigned figures)
{
    return sizeof(struct log_record) + figures * sizeof(struct mux_raw);
}

uint32_t log_init(struct log_ring *r, void *memory, size_t bytes, unsigned figures, unsigned cpu)
{
    size_t record = log_record_bytes(figures);
    uint8_t *at = memory;

    ASSERT(figures && figures <= GROUP_EVENTS_MAX);
    if (bytes < 3 * record)
        return 0;
    *r = (struct log_ring){
        .size = (uint32_t)(bytes / record - 2),
        .bytes = (uint32_t)record,
        .cpu = (uint16_t)cpu,
        .figures = (uint8_t)figures,
        .spare = (struct log_record *)at,
        .rest = (struct log_record *)(at + record),
        .records = at + 2 * record,
    };
    return r->size;
}

static struct log_record *record_at(const struct log_ring *r, uint64_t number)
{
    return (struct log_record *)(r->records + number % r->size * r->bytes);
}

static bool is_full(const struct log_ring *r)
{
    return r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == r->size;
}

static void store(struct log_ring *r, struct log_record *record)
{
    record->lost = r->lost;
    record->cpu = r->cpu;
    record->figures = r->figures;
    r->lost = 0;
    __atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
}

static void add_to_rest(struct log_record *rest, const struct log_record *record, unsigned figures)
{
    rest->tid++;
    rest->length += record->length;
    for (unsigned i = 0; i < figures; i++) {
        rest->figure[i].counted += record->figure[i].counted;
        rest->figure[i].seen += record->figure[i].seen;
    }
}

void log_tell_rest(struct log_ring *r, uint64_t now_ns)
{
    if ((!r->rest->tid && !r->lost) || is_full(r))
        return;
    struct log_record *to = record_at(r, r->head);
    memcpy(to, r->rest, r->bytes);
    to->time_ns = now_ns;
    to->why = LOG_REST;
    store(r, to);
    memset(r->rest, 0, r->bytes);
}

struct log_record *log_place(struct log_ring *r, uint64_t now_ns)
{
    if (__builtin_expect(r->rest->tid != 0, 0))
        log_tell_rest(r, now_ns);
    struct log_record *to = is_full(r) ? r->spare : record_at(r, r->head);
    to->time_ns = now_ns;
    return to;
}

void log_commit(struct log_ring *r, struct log_record *record)
{
    if (record != r->spare) {
        store(r, record);
        return;
    }
    r->lost++;
    if (record->why == LOG_ENDED)
        add_to_rest(r->rest, record, r->figures);
}

uint64_t log_waiting(const struct log_ring *r)
{
    return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) - r->tail;
}

const struct log_record *log_at(const struct log_ring *r, uint64_t i)
{
    return record_at(r, r->tail + i);
}

void log_taken(struct log_ring *r, uint64_t n)
{
    __atomic_store_n(&r->tail, r->tail + n, __ATOMIC_RELEASE);
}
