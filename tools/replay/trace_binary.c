/* Page traces as little-endian records: plain numbers, libCacheSim's, Vigil's. */
#include <stdlib.h>
#include "mm/track/page_trace.h"
#include "tools/replay/trace.h"

enum { ORACLE_BYTES = 24, ORACLE_LOOKED_AT = 256 };

static uint64_t little(const uint8_t *p, unsigned bytes)
{
    uint64_t x = 0;

    for (unsigned i = bytes; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

/* Checks that whole records fill the data after the header. */
static int whole_records(struct trace_reading *r, size_t header, size_t record)
{
    size_t left = (r->size - header) % record;

    return left ? trace_refuse(r, r->size - left, "expected a record of %zu bytes, found %zu",
                               record, left)
                : 0;
}

int trace_read_numbers(struct trace_reading *r)
{
    unsigned bytes = r->t->format == TRACE_U32 ? 4 : 8;
    int rc = whole_records(r, 0, bytes);

    for (size_t at = 0; !rc && at < r->size; at += bytes)
        rc = trace_add(r, 0, little(r->data + at, bytes), TRACE_ACCESS);
    return rc;
}

/* ---- oracleGeneral --------------------------------------------------------------------------- */

int trace_read_oracle(struct trace_reading *r)
{
    uint32_t before = 0;
    int rc = whole_records(r, 0, ORACLE_BYTES);

    for (size_t at = 0; !rc && at < r->size; at += ORACLE_BYTES) {
        uint32_t time = (uint32_t)little(r->data + at, 4);
        if (time < before)
            return trace_refuse(r, at, "expected a time of at least %u, found %u", before, time);
        before = time;
        rc = trace_add(r, 0, little(r->data + at + 4, 8), TRACE_ACCESS);
    }
    return rc;
}

static uint64_t oracle_object(const uint8_t *data, uint64_t record)
{
    return little(data + record * ORACLE_BYTES + 4, 8);
}

/* Returns whether the record at `next` has the same object, with records counted from 0 or from
 * 1. */
static bool same_object(const uint8_t *data, uint64_t records, uint64_t record, uint64_t next)
{
    uint64_t object = oracle_object(data, record);

    return (next < records && oracle_object(data, next) == object) ||
           (next > record + 1 && next - 1 < records && oracle_object(data, next - 1) == object);
}

/* Returns whether times never decrease and each object's next access is one of that object, with at
 * least one such object. */
bool trace_is_oracle(const uint8_t *data, size_t size)
{
    uint64_t before = 0, records = size / ORACLE_BYTES, again = 0;

    if (size % ORACLE_BYTES)
        return false;
    for (uint64_t i = 0; i < MIN(records, (uint64_t)ORACLE_LOOKED_AT); i++) {
        const uint8_t *p = data + i * ORACLE_BYTES;
        uint64_t time = little(p, 4), next = little(p + 16, 8);
        bool none = next == UINT64_MAX || next == INT64_MAX;
        if (time < before || (!none && (next <= i || !same_object(data, records, i, next))))
            return false;
        before = time;
        again += !none;
    }
    return again > 0;
}

/* ---- Vigil's own ----------------------------------------------------------------------------- */

#define HEADER(field) (unsigned)offsetof(struct page_trace_header, field)
#define RECORD(field) (unsigned)offsetof(struct page_trace_record, field)

struct header_field {
    const char *name;
    unsigned at, bytes;
    uint64_t least, most;
};

static const struct header_field header_fields[] = {
    {"version", HEADER(version), 2, PAGE_TRACE_VERSION, PAGE_TRACE_VERSION},
    {"header_bytes", HEADER(header_bytes), 2, sizeof(struct page_trace_header),
     sizeof(struct page_trace_header)},
    {"record_bytes", HEADER(record_bytes), 2, sizeof(struct page_trace_record),
     sizeof(struct page_trace_record)},
    {"page_shift", HEADER(page_shift), 2, PAGE_TRACE_PAGE_SHIFT_MIN, PAGE_TRACE_PAGE_SHIFT_MAX},
    {"cpus", HEADER(cpus), 4, 1, 1 << 16},
    {"reserved", HEADER(reserved), 4, 0, 0},
};

static int read_header(struct trace_reading *r)
{
    if (r->size < sizeof(struct page_trace_header))
        return trace_refuse(r, r->size, "expected a header of %zu bytes",
                            sizeof(struct page_trace_header));
    if (little(r->data + HEADER(magic), 8) != PAGE_TRACE_MAGIC)
        return trace_refuse(r, HEADER(magic), "expected the bytes \"vpgtrace\"");
    for (unsigned i = 0; i < ARRAY_SIZE(header_fields); i++) {
        const struct header_field *f = &header_fields[i];
        uint64_t found = little(r->data + f->at, f->bytes);
        if (found < f->least || found > f->most)
            return trace_refuse(r, f->at, "expected %s from %llu to %llu, found %llu", f->name,
                                (unsigned long long)f->least, (unsigned long long)f->most,
                                (unsigned long long)found);
    }
    return whole_records(r, sizeof(struct page_trace_header), sizeof(struct page_trace_record));
}

static bool one_at_most(uint64_t bits)
{
    return (bits & (bits - 1)) == 0;
}

static int read_record(struct trace_reading *r, size_t at)
{
    const uint8_t *p = r->data + at;
    uint64_t page = little(p + RECORD(page), 8), space = little(p + RECORD(space), 4);
    uint64_t cpu = little(p + RECORD(cpu), 2), flags = little(p + RECORD(flags), 2);
    uint64_t time = little(p + RECORD(time), 8), cpus = little(r->data + HEADER(cpus), 4),
             shift = little(r->data + HEADER(page_shift), 2);

    if (cpu >= cpus)
        return trace_refuse(r, at + RECORD(cpu), "expected a cpu below %llu, found %llu",
                            (unsigned long long)cpus, (unsigned long long)cpu);
    if (flags & ~(uint64_t)PAGE_TRACE_FLAGS || !one_at_most(flags & ~(uint64_t)PAGE_TRACE_WRITE))
        return trace_refuse(r, at + RECORD(flags), "expected flags of one kind, found %#llx",
                            (unsigned long long)flags);
    if (time < r->time[cpu])
        return trace_refuse(
            r, at + RECORD(time), "expected a time of at least %llu on CPU %llu, found %llu",
            (unsigned long long)r->time[cpu], (unsigned long long)cpu, (unsigned long long)time);
    r->time[cpu] = time;
    if (flags & PAGE_TRACE_LOST) {
        r->t->lost += page;
        return 0;
    }
    if (space >= PAGE_TRACE_SPACES_MAX)
        return trace_refuse(r, at + RECORD(space), "expected a space below %u, found %llu",
                            PAGE_TRACE_SPACES_MAX, (unsigned long long)space);
    if (page >> (64 - shift))
        return trace_refuse(r, at + RECORD(page),
                            "expected a page number of %llu bits, found %#llx",
                            (unsigned long long)(64 - shift), (unsigned long long)page);
    if (r->space != TRACE_SPACES && space != r->space)
        return 0;
    return trace_add(r, (uint32_t)space, page,
                     flags & PAGE_TRACE_UNMAP      ? TRACE_UNMAPPED
                     : flags & PAGE_TRACE_PREFETCH ? TRACE_PREFETCHED
                                                   : TRACE_ACCESS);
}

int trace_read_vigil(struct trace_reading *r)
{
    int rc = read_header(r);

    if (!rc && !(r->time = calloc(little(r->data + HEADER(cpus), 4), sizeof *r->time)))
        rc = -ENOMEM;
    for (size_t at = sizeof(struct page_trace_header); !rc && at < r->size;
         at += sizeof(struct page_trace_record))
        rc = read_record(r, at);
    return rc;
}
