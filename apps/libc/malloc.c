/*
 * Memory for programs.
 *
 * Small objects come in size classes out of 64 KB spans. Each thread has a list of free objects for
 * each class and trades them with a central list in batches, so that threads rarely contend and
 * neighbours in a span go to one thread. Large objects are mappings of their own (malloc_map.h).
 * The span of an object is found by rounding down the address before it: no object starts at its
 * span's first byte.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/allocation_log.h"
#include "apps/libc/libc.h"
#include "apps/libc/malloc_map.h"

#define SMALL_MAX   ((size_t)16384)
#define ALIGN_MIN   16
#define HEADER      64
#define CLASSES     37
#define BATCH_BYTES 4096 /* that a thread takes or gives at a time */
#define LARGE       UINT32_MAX

struct object {
    struct object *next;
};

struct span {
    uint32_t class; /* or LARGE */
    size_t usable;  /* bytes that an object holds */
    char *map;      /* of LARGE: the mapping */
    size_t map_size;
};
_Static_assert(sizeof(struct span) <= HEADER, "the span header must fit");

struct free_list {
    struct object *first;
    uint32_t count;
};

struct cache {
    struct free_list list[CLASSES];
};

static struct central {
    uint32_t lock;
    struct object *first;
    char *fresh, *fresh_end; /* the part of the newest span that is not handed out yet */
} __attribute__((aligned(128))) central[CLASSES];

static uint32_t spare_lock;
static struct cache *spare_caches; /* of ended threads, for new ones */

/* Classes: 16, 32, 48, 64, then four per doubling: 80 96 112 128, 160 192 224 256, ... 16384. */
static unsigned class_of(size_t n)
{
    if (n <= 64)
        return n ? (unsigned)((n - 1) / 16) : 0;
    unsigned top = 63 - (unsigned)__builtin_clzl(n - 1); /* n - 1 has its highest bit here, >= 6 */
    return 4 * (top - 5) + (unsigned)((n - 1) >> (top - 2) & 3);
}

static size_t class_size(unsigned class)
{
    if (class < 4)
        return 16 * (class + 1);
    unsigned top = class / 4 + 5;
    return ((size_t)4 + class % 4 + 1) << (top - 2);
}

static uint32_t batch_of(unsigned class)
{
    size_t n = BATCH_BYTES / class_size(class);
    return n < 2 ? 2 : (uint32_t)n;
}

static struct span *span_of(const void *p)
{
    return (struct span *)(((size_t)p - 1) & ~(SPAN - 1));
}

static struct cache *cache_get(struct pthread *self)
{
    if (self->malloc_cache)
        return self->malloc_cache;
    lock_take(&spare_lock);
    struct cache *c = spare_caches;
    if (c)
        spare_caches = (struct cache *)c->list[0].first;
    lock_give(&spare_lock);
    if (c) {
        memset(c, 0, sizeof *c);
    } else {
        c = pages_map(sizeof *c, "malloc cache", 0);
    }
    return self->malloc_cache = c;
}

/* central[class].lock held. */
static struct object *central_take_one(struct central *c, unsigned class)
{
    struct object *o = c->first;
    if (o) {
        c->first = o->next;
        return o;
    }
    size_t size = class_size(class);
    if (!c->fresh || c->fresh + size > c->fresh_end) {
        char *base = mapping_take(SPAN).at;
        if (!base)
            return NULL;
        *(struct span *)base = (struct span){.class = class, .usable = size};
        c->fresh = base + HEADER;
        c->fresh_end = base + SPAN;
    }
    o = (struct object *)c->fresh;
    c->fresh += size;
    return o;
}

static void refill(struct free_list *list, unsigned class)
{
    struct central *c = &central[class];
    lock_take(&c->lock);
    for (uint32_t n = batch_of(class); n; n--) {
        struct object *o = central_take_one(c, class);
        if (!o)
            break;
        o->next = list->first;
        list->first = o;
        list->count++;
    }
    lock_give(&c->lock);
}

static void give_back(struct free_list *list, unsigned class, uint32_t count)
{
    struct central *c = &central[class];
    lock_take(&c->lock);
    while (count-- && list->first) {
        struct object *o = list->first;
        list->first = o->next;
        list->count--;
        o->next = c->first;
        c->first = o;
    }
    lock_give(&c->lock);
}

void malloc_thread_exit(struct pthread *self)
{
    struct cache *cache = self->malloc_cache;
    mappings_thread_exit(self);
    if (!cache)
        return;
    for (unsigned class = 0; class < CLASSES; class ++)
        if (cache->list[class].count)
            give_back(&cache->list[class], class, cache->list[class].count);
    self->malloc_cache = NULL;
    lock_take(&spare_lock);
    cache->list[0].first = (struct object *)spare_caches;
    spare_caches = cache;
    lock_give(&spare_lock);
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* Allocates a large object at a multiple of `align`, a power of two, behind room for a header. Sets
 * `used` if its bytes may be other than 0. */
static void *large_alloc(size_t n, size_t align, bool *used)
{
    size_t lead = align > HEADER ? align : HEADER;
    if (n > (size_t)1 << 46 || lead > (size_t)1 << 40)
        return no_memory();
    size_t size = (lead + n + LIBC_PAGE - 1) / LIBC_PAGE * LIBC_PAGE;
    struct mapping m = mapping_take(size + (align > SPAN ? align : 0));
    if (!m.at)
        return no_memory();
    char *object = (char *)(((size_t)m.at + lead + align - 1) & ~(align - 1));
    struct span *s = span_of(object);
    *s = (struct span){.class = LARGE,
                       .usable = (size_t)(m.at + m.size - object),
                       .map = m.at,
                       .map_size = m.size};
    *used = m.used;
    return object;
}

/* Does malloc()'s work under a name that the compiler does not know; it would turn calloc()'s
 * malloc() and memset() into a call of calloc(). Sets `used` if the bytes may be other than 0. */
static void *allocate(size_t n, bool *used)
{
    *used = true;
    if (n > SMALL_MAX)
        return large_alloc(n, ALIGN_MIN, used);
    struct cache *cache = cache_get(thread_self());
    if (!cache)
        return no_memory();
    unsigned class = class_of(n);
    struct free_list *list = &cache->list[class];
    if (!list->first) {
        refill(list, class);
        if (!list->first)
            return no_memory();
    }
    struct object *o = list->first;
    list->first = o->next;
    list->count--;
    return o;
}

/* Returns `at`, which the caller's caller asked for, and tells the log of allocations. */
#define GIVEN(at, n) given((at), (n), (uint64_t)__builtin_return_address(0))

static inline void *given(void *at, size_t n, uint64_t site)
{
    return __builtin_expect(!__atomic_load_n(&allocation_log, __ATOMIC_RELAXED), 1)
               ? at
               : allocation_note(at, n, site);
}

static void *allocate_any(size_t n)
{
    bool used;

    return allocate(n, &used);
}

void *malloc(size_t n)
{
    return GIVEN(allocate_any(n), n);
}

void free(void *p)
{
    if (!p)
        return;
    struct span *s = span_of(p);
    if (s->class == LARGE) {
        mapping_give(s->map, s->map_size);
        return;
    }
    struct cache *cache = cache_get(thread_self());
    struct object *o = p;
    if (!cache) {
        struct free_list one = {0};
        o->next = NULL;
        one.first = o;
        one.count = 1;
        give_back(&one, s->class, 1);
        return;
    }
    struct free_list *list = &cache->list[s->class];
    o->next = list->first;
    list->first = o;
    if (++list->count > 2 * batch_of(s->class))
        give_back(list, s->class, batch_of(s->class));
}

static void *allocate_zeroed(size_t count, size_t size)
{
    size_t n;
    bool used;
    if (__builtin_mul_overflow(count, size, &n))
        return no_memory();
    void *p = allocate(n, &used);
    return p && used ? memset(p, 0, n) : p;
}

void *calloc(size_t count, size_t size)
{
    return GIVEN(allocate_zeroed(count, size), count * size);
}

static void *allocate_again(void *p, size_t n)
{
    if (!p)
        return allocate_any(n);
    size_t usable = span_of(p)->usable;
    if (n <= usable && n >= usable / 4)
        return p;
    void *q = allocate_any(n);
    if (!q)
        return NULL;
    memcpy(q, p, n < usable ? n : usable);
    free(p);
    return q;
}

void *realloc(void *p, size_t n)
{
    return GIVEN(allocate_again(p, n), n);
}

static void *allocate_aligned(size_t align, size_t n)
{
    if (align <= ALIGN_MIN)
        return allocate_any(n);
    if (align & (align - 1)) {
        errno = EINVAL;
        return NULL;
    }
    /* Spans start 64 bytes in, and classes that are powers of two keep that alignment. A larger
     * alignment needs a mapping. */
    if (align <= HEADER && n <= SMALL_MAX) {
        size_t size = 64;
        while (size < n)
            size *= 2;
        if (size <= SMALL_MAX)
            return allocate_any(size);
    }
    bool used;
    return large_alloc(n, align, &used);
}

void *aligned_alloc(size_t align, size_t n)
{
    return GIVEN(allocate_aligned(align, n), n);
}

POSIX void *memalign(size_t align, size_t n)
{
    return GIVEN(allocate_aligned(align, n), n);
}

POSIX int posix_memalign(void **out, size_t align, size_t n)
{
    if (align < sizeof(void *) || align & (align - 1))
        return EINVAL;
    void *p = allocate_aligned(align, n);
    if (!p)
        return ENOMEM;
    *out = GIVEN(p, n);
    return 0;
}

POSIX size_t malloc_usable_size(void *p)
{
    return p ? span_of(p)->usable : 0;
}

/* ---- Numbers when there is no memory --------------------------------------------------------- */

/*
 * newlib converts between numbers and decimals with integers from _calloc_r(), and ends the program
 * when it gets none. So that printf() works where malloc() fails, these bytes are reserved for it:
 * enough for a long double, or for doubles of some threads. They are free again when all pieces
 * have been returned; newlib keeps them for its thread's next numbers.
 */
enum { RESERVE_BYTES = 49152 };
static char reserve[RESERVE_BYTES] __attribute__((aligned(ALIGN_MIN)));
static uint32_t reserve_lock;
static size_t reserve_used, reserve_pieces; /* reserve_lock */

static void *reserve_take(size_t n)
{
    void *p = NULL;

    n = (n + ALIGN_MIN - 1) / ALIGN_MIN * ALIGN_MIN;
    lock_take(&reserve_lock);
    if (n && n <= RESERVE_BYTES - reserve_used) {
        p = reserve + reserve_used;
        reserve_used += n;
        reserve_pieces++;
    }
    lock_give(&reserve_lock);
    return p ? memset(p, 0, n) : NULL;
}

/* Returns false if p is not of the reserve. */
static bool reserve_give(const void *p)
{
    if ((const char *)p < reserve || (const char *)p >= reserve + RESERVE_BYTES)
        return false;
    lock_take(&reserve_lock);
    if (--reserve_pieces == 0)
        reserve_used = 0;
    lock_give(&reserve_lock);
    return true;
}

/* ---- What newlib calls inside ---------------------------------------------------------------- */

void *_malloc_r(struct _reent *r, size_t n)
{
    (void)r;
    return GIVEN(allocate_any(n), n);
}

void _free_r(struct _reent *r, void *p)
{
    (void)r;
    if (!reserve_give(p))
        free(p);
}

void *_calloc_r(struct _reent *r, size_t count, size_t size)
{
    void *p = GIVEN(allocate_zeroed(count, size), count * size);
    size_t n;

    (void)r;
    return p || __builtin_mul_overflow(count, size, &n) || n > RESERVE_BYTES ? p : reserve_take(n);
}

void *_realloc_r(struct _reent *r, void *p, size_t n)
{
    (void)r;
    return GIVEN(allocate_again(p, n), n);
}

void *_memalign_r(struct _reent *r, size_t align, size_t n)
{
    (void)r;
    return allocate_aligned(align, n);
}
