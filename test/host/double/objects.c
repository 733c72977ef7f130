/* Objects that are bytes in a row, of pages that are allocated when they are first written to, for
 * tests of file systems: see mm/object.h. */
#include "kernel/mem/mem.h"
#include "mm/object.h"

#define PAGES_MAX 4096

struct bytes {
    struct object object;
    uint8_t *page[PAGES_MAX];
};

static uint64_t pages_of_all; /* of all stores: a test has one that it writes to */

static struct bytes *bytes_of(struct object *o)
{
    return (struct bytes *)o;
}

void object_store_init(struct object_store *store, uint64_t pages_max)
{
    *store = (struct object_store){.pages_max = pages_max};
}

void object_store_end(struct object_store *store)
{
    store->pages_max = 0;
}

uint64_t object_store_pages(const struct object_store *store)
{
    return store->pages_max ? pages_of_all : 0;
}

int object_create(struct object_store *store, const struct object_backing *backing, void *of,
                  struct object **out)
{
    struct bytes *b = kmalloc(sizeof(*b));

    if (!b)
        return -ENOMEM;
    b->object.store = store;
    b->object.backing = backing;
    b->object.of = of;
    b->object.refs = 1;
    *out = &b->object;
    return 0;
}

int object_make_once(struct object **at, struct object_store *store,
                     const struct object_backing *backing, void *of, uint64_t bytes)
{
    int err = object_create(store, backing, of, at);

    if (err && backing && backing->end_backing)
        backing->end_backing(of);
    return err ?: backing ? object_refresh(*at, bytes) : 0;
}

void object_set_name(struct object *o, struct object_name *name)
{
    kfree(o->name);
    o->name = name;
}

struct object *object_get(struct object *o)
{
    o->refs++;
    return o;
}

static void free_page(struct bytes *b, uint64_t index)
{
    pages_of_all -= b->page[index] != NULL;
    kfree(b->page[index]);
    b->page[index] = NULL;
}

void object_put(struct object *o)
{
    if (!o || --o->refs)
        return;
    for (unsigned i = 0; i < PAGES_MAX; i++)
        free_page(bytes_of(o), i);
    if (o->backing && o->backing->end_backing)
        o->backing->end_backing(o->of);
    kfree(o->name);
    kfree(o);
}

uint64_t object_bytes(const struct object *o)
{
    return o->bytes;
}

/* Reads n bytes, which may end on another page, where they stay. */
static int64_t read_backing(struct object *o, uint64_t at, void *to, size_t n)
{
    size_t done = 0;
    int err = 0;
    uint8_t *page = kmalloc(PAGE_SIZE);

    while (page && !err && done < n) {
        paddr_t frame = virt_to_phys(page);
        size_t from = (size_t)((at + done) & PAGE_MASK),
               part = MIN(n - done, (size_t)PAGE_SIZE - from);
        err = o->backing->bring_in(o->of, (at + done) / PAGE_SIZE, 1, &frame);
        memcpy((uint8_t *)to + done, page + from, part);
        done += err ? 0 : part;
    }
    kfree(page);
    return done ? (int64_t)done : page ? err : -ENOMEM;
}

int64_t object_read(struct object *o, uint64_t at, void *to, size_t n)
{
    size_t done = 0;

    n = at < o->bytes ? MIN(n, (size_t)(o->bytes - at)) : 0;
    if (o->backing)
        return n ? read_backing(o, at, to, n) : 0;
    for (; done < n; done++) {
        const uint8_t *page = bytes_of(o)->page[(at + done) / PAGE_SIZE];
        ((uint8_t *)to)[done] = page ? page[(at + done) % PAGE_SIZE] : 0;
    }
    return (int64_t)done;
}

/* Returns the page, made if there is none, or NULL. */
static uint8_t *page_at(struct object *o, uint64_t index)
{
    uint8_t **page = &bytes_of(o)->page[index];

    if (!*page && pages_of_all < o->store->pages_max && (*page = kmalloc(PAGE_SIZE)))
        pages_of_all++;
    return *page;
}

int64_t object_write(struct object *o, uint64_t at, const void *from, size_t n)
{
    size_t done = 0;

    if (at >= OBJECT_BYTES_MAX || n > OBJECT_BYTES_MAX - at)
        return -EFBIG;
    if (o->backing && !o->backing->write_out)
        return -EROFS;
    if (o->backing) {
        int64_t put = o->backing->write_out(o->of, at, from, n);
        o->bytes = put > 0 ? MAX(o->bytes, at + (uint64_t)put) : o->bytes;
        return put;
    }
    if (at + n > PAGES_MAX * PAGE_SIZE)
        return -ENOSPC;
    for (; done < n; done++) {
        uint8_t *page = page_at(o, (at + done) / PAGE_SIZE);
        if (!page)
            break;
        page[(at + done) % PAGE_SIZE] = ((const uint8_t *)from)[done];
    }
    o->bytes = done ? MAX(o->bytes, at + done) : o->bytes;
    return done || !n ? (int64_t)done : -ENOSPC;
}

int object_punch(struct object *o, uint64_t at, uint64_t n)
{
    uint64_t end = n < o->bytes - MIN(at, o->bytes) ? at + n : o->bytes;

    for (; at < end; at++) {
        uint8_t *page = bytes_of(o)->page[at / PAGE_SIZE];
        if (page)
            page[at % PAGE_SIZE] = 0;
    }
    return 0;
}

int64_t object_find(struct object *o, uint64_t at, bool hole)
{
    for (; at < o->bytes; at = ALIGN_DOWN(at, PAGE_SIZE) + PAGE_SIZE)
        if (!bytes_of(o)->page[at / PAGE_SIZE] == hole)
            return (int64_t)at;
    return hole && at < o->bytes + PAGE_SIZE ? (int64_t)o->bytes : -ENXIO;
}

int object_resize(struct object *o, uint64_t bytes)
{
    if (bytes > OBJECT_BYTES_MAX)
        return -EFBIG;
    if (o->backing && !o->backing->set_end)
        return -EROFS;
    if (o->backing) {
        int err = o->backing->set_end(o->of, bytes);
        o->bytes = err ? o->bytes : bytes;
        return err;
    }
    uint8_t *last = bytes < o->bytes && bytes / PAGE_SIZE < PAGES_MAX
                        ? bytes_of(o)->page[bytes / PAGE_SIZE]
                        : NULL;
    if (last)
        memset(last + bytes % PAGE_SIZE, 0, PAGE_SIZE - bytes % PAGE_SIZE);
    for (uint64_t i = (bytes + PAGE_SIZE - 1) / PAGE_SIZE; i < PAGES_MAX; i++)
        free_page(bytes_of(o), i);
    o->bytes = bytes;
    return 0;
}

int object_refresh(struct object *o, uint64_t bytes)
{
    if (bytes > OBJECT_BYTES_MAX)
        return -EFBIG;
    o->bytes = bytes;
    return 0;
}

int object_sync(struct object *o)
{
    (void)o;
    return 0;
}

void object_sync_wait(void)
{
}
