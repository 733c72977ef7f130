/*
 * Buffers that perf events write records to, and programs map: a page that says where records are,
 * and 2^n pages of records. A buffer is an object, which the kernel reads and writes as a file, and
 * whose pages stay in memory: none is waited for while perf_rings is held.
 */
#include "kernel/mem/mem.h"
#include "kernel/proc/perf_internal.h"
#include "mm/object.h"
#include <linux/poll.h>

#define PAGES_MAX 16384 /* of records */

struct perf_ring {
    struct object *object;
    unsigned refs;   /* [G] events that write to it */
    uint64_t bytes;  /* [-] of records */
    bool overwrites; /* [-] old records are overwritten: no tail is read */
    uint64_t head;   /* [G] bytes ever written */
    uint64_t lost;   /* [G] records that had no room since the last that had */
    uint64_t told;   /* [R] bytes written when readers were told last */
    bool news;       /* [R] they were told, and have not asked */
    bool paused;     /* [R] records are lost */
};

static struct object_store store;

static void write_at(const struct perf_ring *r, uint64_t at, const void *from, size_t n)
{
    (void)object_write(r->object, at, from, n);
}

/* Writes records' bytes, which may begin anew at the front. */
static void write_bytes(struct perf_ring *r, const void *from, size_t n)
{
    uint64_t at = r->head % r->bytes;
    size_t first = MIN(n, (size_t)(r->bytes - at));

    write_at(r, PAGE_SIZE + at, from, first);
    if (first < n)
        write_at(r, PAGE_SIZE, (const uint8_t *)from + first, n - first);
    r->head += n;
}

static void tell_head(const struct perf_ring *r)
{
    write_at(r, offsetof(struct perf_event_mmap_page, data_head), &r->head, sizeof(r->head));
}

/* What the program has not read. Its page is the program's to write: any number may be there. */
static uint64_t unread(const struct perf_ring *r)
{
    uint64_t tail = 0;

    (void)object_read(r->object, offsetof(struct perf_event_mmap_page, data_tail), &tail,
                      sizeof(tail));
    return MIN(r->head - tail, r->bytes);
}

static uint64_t room(const struct perf_ring *r)
{
    return r->overwrites ? r->bytes : r->bytes - unread(r);
}

/* Returns the bytes of records that readers are told of. */
static uint64_t watermark_of(const struct perf_event *e)
{
    uint64_t bytes = e->ring->bytes;

    return e->attr.watermark && e->attr.wakeup_watermark
               ? MIN((uint64_t)e->attr.wakeup_watermark, bytes)
               : bytes / 2;
}

static void tell(struct perf_event *e)
{
    e->written = true;
    if (!e->ring)
        return;
    e->ring->told = e->ring->head;
    e->ring->news = true;
}

void perf_ring_write(struct perf_event *e, const struct perf_ident *i, const void *record, size_t n)
{
    struct perf_ring *r = e->ring;
    uint8_t lost[128];

    if (!r || !r->bytes)
        return;
    size_t more = r->lost ? perf_put_lost(&e->attr, i, r->lost, lost) : 0;
    if (r->paused || room(r) < n + more) {
        r->lost++;
        e->lost++;
        return;
    }
    if (more)
        write_bytes(r, lost, more);
    r->lost = 0;
    write_bytes(r, record, n);
    tell_head(r);
    if (r->head - r->told > watermark_of(e))
        tell(e);
}

void perf_ring_sampled(struct perf_event *e)
{
    if (e->attr.watermark || !e->attr.wakeup_events || ++e->untold < e->attr.wakeup_events)
        return;
    e->untold = 0;
    tell(e);
}

bool perf_ring_take_news(struct perf_event *e)
{
    bool news = e->ring && e->ring->news;

    if (news)
        e->ring->news = false;
    return news;
}

int perf_ring_pause(struct perf_event *e, bool on)
{
    if (!e->ring || !e->ring->bytes)
        return -EINVAL;
    e->ring->paused = on;
    return 0;
}

void perf_ring_let(struct perf_event *e)
{
    struct perf_ring *r = e->ring;

    e->ring = NULL;
    if (!r || --r->refs)
        return;
    object_put(r->object);
    kfree(r);
}

/* Says how a program turns ticks that it reads into the time of records. */
static void describe_clock(const struct perf_ring *r)
{
    static const uint64_t caps = 2 | 16; /* cap_bit0_is_deprecated, cap_user_time_zero */
    uint64_t base, to_ns, ticks = arch_ticks();
    uint16_t shift = ARCH_CLOCK_SHIFT;

    arch_clock_scale(&base, &to_ns);
    for (; to_ns >> 32; to_ns >>= 1)
        shift--;
    uint64_t low = ticks & (((uint64_t)1 << shift) - 1);
    uint64_t zero = arch_ticks_ns(ticks) - (ticks >> shift) * to_ns - (low * to_ns >> shift);
    uint32_t mult = (uint32_t)to_ns;
    write_at(r, offsetof(struct perf_event_mmap_page, capabilities), &caps, sizeof(caps));
    write_at(r, offsetof(struct perf_event_mmap_page, time_mult), &mult, sizeof(mult));
    write_at(r, offsetof(struct perf_event_mmap_page, time_shift), &shift, sizeof(shift));
    write_at(r, offsetof(struct perf_event_mmap_page, time_zero), &zero, sizeof(zero));
}

/* Its first page: counters are not read without a call. */
static void describe_ring(const struct perf_ring *r)
{
    static const uint64_t caps = 2, offset = PAGE_SIZE; /* cap_bit0_is_deprecated */
    static const uint32_t size = offsetof(struct perf_event_mmap_page, __reserved);

    write_at(r, offsetof(struct perf_event_mmap_page, capabilities), &caps, sizeof(caps));
    write_at(r, offsetof(struct perf_event_mmap_page, size), &size, sizeof(size));
    write_at(r, offsetof(struct perf_event_mmap_page, data_offset), &offset, sizeof(offset));
    write_at(r, offsetof(struct perf_event_mmap_page, data_size), &r->bytes, sizeof(r->bytes));
    if (arch_ticks_user())
        describe_clock(r);
}

static int make_ring(uint64_t pages, bool overwrites, struct perf_ring **out)
{
    struct perf_ring *r = kmalloc(sizeof(*r));

    if (!r)
        return -ENOMEM;
    if (!store.pages_max)
        object_store_init(&store, UINT64_MAX);
    *r = (struct perf_ring){.refs = 1, .bytes = pages * PAGE_SIZE, .overwrites = overwrites};
    int err = object_create(&store, NULL, NULL, &r->object);
    if (err) {
        kfree(r);
        return -ENOMEM;
    }
    err = object_resize(r->object, (1 + pages) * PAGE_SIZE) ?: object_keep(r->object);
    if (!err)
        describe_ring(r);
    *out = r;
    return err ? -ENOMEM : 0;
}

/* Gate entered. */
static int map_entered(struct perf_event *e, uint64_t pages, bool overwrites, struct object **out)
{
    int err = 0;

    if (e->ring && (e->ring->bytes != pages * PAGE_SIZE || e->ring->overwrites != overwrites))
        return -EINVAL;
    if (!e->ring)
        err = make_ring(pages, overwrites, &e->ring);
    if (err)
        perf_ring_let(e);
    *out = err ? NULL : object_get(e->ring->object);
    return err;
}

int perf_map(const struct file *f, uint64_t len, uint64_t offset, bool shared, bool writes,
             struct object **out)
{
    struct perf_event *e = perf_of(f->v);
    uint64_t pages = len / PAGE_SIZE - 1;

    /* What is inherited by threads of many CPUs has no order in one buffer: as on Linux. */
    if (!shared || (e->scope.cpu == -1 && e->attr.inherit) || offset || len % PAGE_SIZE ||
        (pages && !is_pow2(pages)))
        return -EINVAL;
    if (pages > PAGES_MAX)
        return -ENOMEM;
    mutex_lock(&perf_rings);
    int err = map_entered(e, pages, !writes, out);
    mutex_unlock(&perf_rings);
    return err;
}

int perf_ring_share(struct perf_event *e, struct perf_event *with)
{
    if (with && (with->scope.cpu != e->scope.cpu || with == e))
        return -EINVAL;
    if (with && !with->ring)
        return -EINVAL;
    perf_ring_let(e);
    if (with) {
        e->ring = with->ring;
        e->ring->refs++;
    }
    return 0;
}
