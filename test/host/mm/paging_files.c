/* See paging_files.h. Contents are stamps, as in paging_process.c; what is cut off is zeros. The
 * last object's contents stay at a host. */
#include "test/host/mm/paging_files.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/random.h"
#include "test/host/mm/paging_process.h"
#include "mm/object.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    OBJECTS = FILES,
    KEPT = 5,
    HOSTED = OBJECTS - 1,
    PAGES = FILE_PAGES,
    LEAST = 24,
    WORDS = PAGE_SIZE / sizeof(uint64_t)
};
#define FACTOR 0xd6e8feb86659fd93u

static struct file {
    struct object *object;
    uint64_t stamp[PAGES], next[PAGES]; /* next: what is being written */
    uint64_t other[PAGES];              /* what a write that failed may have left instead, or 0 */
    bool writing[PAGES], resizing;
    unsigned size, cut, changes; /* pages; while it is resized, those from `cut` on may change */
} files[OBJECTS];
static struct object *kept; /* of KEPT pages, which are always in memory */
static struct object_store store;
static struct list users = {&users, &users};
static vaddr_t base;
static uint64_t seed, stamps;
struct files_seen files_seen;

static unsigned below(unsigned n)
{
    return (unsigned)(test_random(&seed) % n);
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* A stamp says its page, too. */
static uint64_t next_stamp(const struct file *f, unsigned page)
{
    return ++stamps << 16 | (uint64_t)(f - files) << 8 | page;
}

static void fill(uint64_t *at, uint64_t stamp)
{
    for (unsigned i = 0; i < WORDS; i++)
        at[i] = stamp ? stamp * FACTOR + i : 0;
}

static bool holds(const uint64_t *at, uint64_t stamp)
{
    unsigned i = 0;

    while (i < WORDS && at[i] == (stamp ? stamp * FACTOR + i : 0))
        i++;
    return i == WORDS;
}

static uint64_t stamp_of(uint64_t first)
{
    uint64_t inverse = FACTOR;

    for (unsigned i = 0; i < 6; i++)
        inverse *= 2 - FACTOR * inverse;
    return first * inverse;
}

static bool may_be_cut(const struct file *f, unsigned page)
{
    return f->resizing && page >= f->cut;
}

/* ---- The host -------------------------------------------------------------------------------- */

static struct {
    uint64_t page[PAGES][WORDS];
    unsigned kept;
    bool ended, sound; /* sound: no request fails any more */
} host;

static bool fails(unsigned one_in)
{
    return one_in && !host.sound && !below(one_in);
}

/* Others take turns while a request is under way. */
static int bring_in(void *of, uint64_t page, unsigned n, const paddr_t *frames)
{
    INSIST(of == &host);
    sched_yield();
    if (fails(now.read_fails))
        return -EIO;
    for (unsigned i = 0; i < n; i++)
        if (page + i < PAGES)
            memcpy(phys_to_virt(frames[i]), host.page[page + i], PAGE_SIZE);
        else
            memset(phys_to_virt(frames[i]), 0, PAGE_SIZE);
    sched_yield();
    return 0;
}

static int64_t write_out(void *of, uint64_t at, const void *from, size_t n)
{
    INSIST(of == &host && at + n <= sizeof(host.page));
    sched_yield();
    if (fails(now.write_fails))
        return -EIO;
    memcpy((char *)host.page + at, from, n);
    files_seen.sent++;
    sched_yield();
    return (int64_t)n;
}

static int set_end(void *of, uint64_t bytes)
{
    INSIST(of == &host && bytes <= sizeof(host.page));
    sched_yield();
    memset((char *)host.page + bytes, 0, sizeof(host.page) - bytes);
    sched_yield();
    return 0;
}

static void keep_vnode(void *of, bool on)
{
    INSIST(of == &host && !host.ended && (on || host.kept));
    host.kept += on ? 1 : -1u;
}

static void end_backing(void *of)
{
    INSIST(of == &host && !host.ended && !host.kept);
    host.ended = true;
}

static const struct object_backing backing = {
    .bring_in = bring_in,
    .write_out = write_out,
    .set_end = set_end,
    .keep_vnode = keep_vnode,
    .end_backing = end_backing,
};

/* ---- By mappings ----------------------------------------------------------------------------- */

struct file_use {
    struct file *f;
    unsigned page;
    bool write;
};

static void use(void *frame, void *arg)
{
    const struct file_use *u = arg;
    struct file *f = u->f;
    uint64_t *stamp = &f->stamp[u->page];

    files_seen.shown++;
    INSIST(may_be_cut(f, u->page) || u->page < f->size);
    if (f->other[u->page] && holds(frame, f->other[u->page]))
        *stamp = f->other[u->page];
    INSIST(holds(frame, *stamp) || (may_be_cut(f, u->page) && holds(frame, 0)) ||
           (f->writing[u->page] && holds(frame, f->next[u->page])));
    if (!u->write || may_be_cut(f, u->page) || f->writing[u->page])
        return;
    *stamp = next_stamp(f, u->page);
    f->other[u->page] = 0;
    fill(frame, *stamp);
}

static vaddr_t address(const struct file *f, unsigned page)
{
    return base + ((vaddr_t)(f - files) * PAGES + page) * PAGE_SIZE;
}

static void expect_error(int err, const bool *ending)
{
    if (err == -EINTR)
        INSIST(*ending);
    else if (err == -EIO)
        INSIST(now.read_fails || now.write_fails);
    else
        INSIST((err == -ENOMEM || err == -EDQUOT) &&
               (now.map_fails || now.frames || now.no_swap || now.swap_kb || now.frame_fails));
}

static void use_mapping(struct space *s, struct files_user *user, struct file *f, unsigned page,
                        const bool *ending)
{
    struct file_use u = {f, page, below(2)};
    unsigned changes = f->changes, remaps = user->remaps;
    bool resized = may_be_cut(f, page), moved = user->remapping;
    int err = mm_access(s, address(f, page), u.write ? FAULT_WRITE : FAULT_READ, use, &u);

    if (err == -ENXIO) {
        files_seen.behind++;
        INSIST(page >= f->size || resized || f->changes != changes);
    } else if (err == -EFAULT) {
        INSIST(moved || user->remaps != remaps);
    } else if (err) {
        expect_error(err, ending);
    }
}

static vaddr_t private_address(const struct file *f, unsigned page)
{
    return address(f, page) + OBJECTS * PAGES * PAGE_SIZE;
}

static void map_one(struct space *s, struct file *f, bool shared)
{
    struct mapping m = {.va = shared ? address(f, 0) : private_address(f, 0),
                        .len = PAGES * PAGE_SIZE,
                        .prot = PROT_R | PROT_W,
                        .flags = MAPPING_FIXED | (shared ? MAPPING_SHARED : 0),
                        .kind = REGION_FILE,
                        .name = "object",
                        .source = page_source_object(f->object)};
    vaddr_t at;

    INSIST(!space_mmap(s, &m, &at) && at == m.va);
}

static void map_all(struct space *s, bool shared)
{
    for (unsigned i = 0; i < OBJECTS; i++)
        map_one(s, &files[i], shared);
}

void files_map(struct space *s, struct files_user *u)
{
    map_all(s, true);
    map_all(s, false);
    list_push_back(&users, &u->link);
}

void files_leave(struct files_user *u)
{
    list_remove(&u->link);
}

static void map_anew(struct space *s, struct files_user *u)
{
    if (u->remapping)
        return;
    u->remapping = true;
    u->remaps++;
    unsigned from = below(OBJECTS * PAGES), n = 1 + below(OBJECTS * PAGES - from);
    INSIST(!space_unmap(s, base + from * PAGE_SIZE, n * PAGE_SIZE));
    map_all(s, true);
    if (!u->inside) {
        struct file *f = &files[below(OBJECTS)];
        map_one(s, f, false);
        memset(u->copy[f - files], 0, sizeof(u->copy[0]));
    }
    u->remapping = false;
}

/* ---- By private mappings --------------------------------------------------------------------- */

struct copy_use {
    struct file *f;
    unsigned page;
    struct files_user *user;
    bool write;
};

static struct files_copy *copy_of(const struct copy_use *u)
{
    return &u->user->copy[u->f - files][u->page];
}

/* Returns whether the page has a stamp that it ever got from anyone. */
static bool holds_any(const struct file *f, unsigned page, const uint64_t *at)
{
    uint64_t stamp = stamp_of(at[0]);

    return holds(at, stamp) &&
           (!stamp || ((stamp & 0xff) == page && (stamp >> 8 & 0xff) == (uint64_t)(f - files)));
}

/* Returns whether the page has what the object has, or gets now. */
static bool holds_file(const struct file *f, unsigned page, const uint64_t *at)
{
    return holds(at, f->stamp[page]) || (f->writing[page] && holds(at, f->next[page])) ||
           (f->other[page] && holds(at, f->other[page]));
}

static void use_copy(void *frame, void *arg)
{
    const struct copy_use *u = arg;
    struct files_copy *x = copy_of(u);
    struct file *f = u->f;
    bool unsure = x->writers || x->stamp == FILES_UNSURE;

    if (may_be_cut(f, u->page))
        return;
    INSIST(u->page < f->size);
    INSIST(unsure     ? holds_any(f, u->page, frame)
           : x->stamp ? holds(frame, x->stamp)
                      : holds_file(f, u->page, frame));
    files_seen.borrowed += !unsure && !x->stamp;
    files_seen.copied += !unsure && x->stamp;
    if (!u->write)
        return;
    x->stamp = u->user->forking ? FILES_UNSURE : next_stamp(f, u->page);
    if (x->stamp != FILES_UNSURE)
        fill(frame, x->stamp);
}

static void use_private(struct space *s, struct files_user *user, struct file *f, unsigned page,
                        const bool *ending)
{
    struct copy_use u = {f, page, user, !user->forking && below(2)};
    struct files_copy *x = copy_of(&u);
    unsigned changes = f->changes;
    bool resized = may_be_cut(f, page);

    if (user->remapping)
        return;
    user->inside++;
    x->writers += u.write;
    int err =
        mm_access(s, private_address(f, page), u.write ? FAULT_WRITE : FAULT_READ, use_copy, &u);
    x->writers -= u.write;
    user->inside--;
    if (u.write && !x->stamp)
        x->stamp = FILES_UNSURE;
    if (err == -ENXIO)
        INSIST(page >= f->size || resized || f->changes != changes);
    else if (err)
        expect_error(err, ending);
}

void files_fork(struct files_user *u)
{
    u->forking = true;
}

void files_forked(struct files_user *u, struct files_user *child)
{
    u->forking = false;
    if (!child)
        return;
    *child = *u;
    child->remaps = child->inside = 0;
    for (unsigned i = 0; i < OBJECTS; i++)
        for (unsigned page = 0; page < PAGES; page++)
            if (child->copy[i][page].writers)
                child->copy[i][page] = (struct files_copy){.stamp = FILES_UNSURE};
    list_push_back(&users, &child->link);
}

/* Copies of what was cut off are gone. */
static void cut_copies(const struct file *f, unsigned size)
{
    list_for_each (it, &users) {
        struct files_user *u = container_of(it, struct files_user, link);
        for (unsigned page = size; page < PAGES; page++)
            u->copy[f - files][page].stamp = 0;
    }
}

/* ---- By reads and writes --------------------------------------------------------------------- */

static void read_one(struct file *f, unsigned page, const bool *ending)
{
    static uint64_t buffers[64][WORDS]; /* threads take turns in between */
    static unsigned last;
    uint64_t *buffer = buffers[last++ % 64], before = f->stamp[page];
    unsigned changes = f->changes;
    bool resized = may_be_cut(f, page);
    int64_t n = object_read(f->object, (uint64_t)page * PAGE_SIZE, buffer, PAGE_SIZE);

    resized |= f->changes != changes;
    if (n < 0) {
        expect_error((int)n, ending);
        return;
    }
    if (!n) {
        INSIST(page >= f->size || resized);
        return;
    }
    uint64_t stamp = stamp_of(buffer[0]);
    INSIST(n == (int64_t)PAGE_SIZE && holds(buffer, stamp));
    INSIST(
        stamp == before || (resized && !stamp) ||
        (stamp > before && (stamp & 0xff) == page && (stamp >> 8 & 0xff) == (uint64_t)(f - files)));
}

static void write_one(struct file *f, unsigned page, const bool *ending)
{
    static uint64_t buffers[64][WORDS];
    static unsigned last;
    uint64_t *buffer = buffers[last++ % 64];

    if (f->writing[page] || f->resizing || page >= f->size)
        return;
    f->writing[page] = true;
    f->next[page] = next_stamp(f, page);
    fill(buffer, f->next[page]);
    int64_t n = object_write(f->object, (uint64_t)page * PAGE_SIZE, buffer, PAGE_SIZE);
    f->other[page] = n < 0 && f == &files[HOSTED] ? f->next[page] : 0;
    if (n < 0)
        expect_error((int)n, ending);
    else
        f->stamp[page] = f->next[page];
    f->writing[page] = false;
    files_seen.written++;
}

static void resize(struct file *f, const bool *ending)
{
    unsigned size = LEAST + below(PAGES - LEAST + 1);

    for (unsigned i = 0; i < PAGES; i++)
        if (f->writing[i] || f->resizing)
            return;
    f->cut = MIN(size, f->size);
    f->resizing = true;
    f->changes++;
    int err = object_resize(f->object, (uint64_t)size * PAGE_SIZE);
    if (err) {
        expect_error(err, ending);
    } else {
        f->size = size;
        for (unsigned i = size; i < PAGES; i++)
            f->stamp[i] = f->other[i] = 0;
        cut_copies(f, size);
    }
    INSIST(object_bytes(f->object) == f->size * PAGE_SIZE);
    f->resizing = false;
    f->changes++;
    files_seen.cuts++;
}

/* Has what was stored brought to the host, which then has it, or what was stored since. `fresh`:
 * the pages are dropped, too. */
static void sync_host(struct file *f, bool fresh, const bool *ending)
{
    static uint64_t were[16][PAGES];
    static unsigned last;
    uint64_t *before = were[last++ % 16];
    unsigned changes = f->changes;

    if (f->resizing)
        return;
    for (unsigned i = 0; i < PAGES; i++)
        before[i] = f->writing[i] || f->other[i] ? 0 : f->stamp[i];
    int err =
        fresh ? object_refresh(f->object, (uint64_t)f->size * PAGE_SIZE) : object_sync(f->object);
    if (err) {
        expect_error(err, ending);
        return;
    }
    files_seen.synced++;
    for (unsigned i = 0; i < f->size && f->changes == changes; i++) {
        uint64_t stamp = stamp_of(host.page[i][0]);
        INSIST(holds(host.page[i], stamp) && stamp >= before[i]);
    }
}

/* What is kept is in memory whatever else happens. */
static void check_store(void)
{
    uint8_t is[KEPT];

    INSIST(!space_resident(kept->store->space, kept->base, KEPT * PAGE_SIZE, is));
    for (unsigned i = 0; i < KEPT; i++)
        INSIST(is[i]);
    space_check(store.space);
}

void files_step(struct space *s, struct files_user *u, const bool *ending)
{
    struct file *f = &files[below(OBJECTS)];
    struct file *hosted = &files[HOSTED];
    unsigned what = below(200), page = MIN(below(PAGES), below(3) ? below(PAGES) : PAGES - 1);

    if (what < 80)
        use_mapping(s, u, f, page, ending);
    else if (what < 120)
        use_private(s, u, f, page, ending);
    else if (what < 155)
        read_one(f, page, ending);
    else if (what < 192)
        write_one(f, page, ending);
    else if (what < 193)
        sync_host(hosted, false, ending);
    else if (what < 194)
        sync_host(hosted, true, ending);
    else if (what < 197)
        resize(f, ending);
    else if (what < 198 && !u->forking)
        map_anew(s, u);
    else if (store.space)
        check_store();
}

/* ---- Life ------------------------------------------------------------------------------------ */

void files_start(uint64_t from, vaddr_t at)
{
    seed = from;
    base = at;
    object_store_init(&store, 10 * PAGES);
    for (unsigned i = 0; i < OBJECTS; i++) {
        INSIST(!object_create(&store, i == HOSTED ? &backing : NULL, &host, &files[i].object));
        files[i].size = 0;
    }
    object_sync_start();
    INSIST(!object_create(&store, NULL, NULL, &kept));
    INSIST(!object_resize(kept, KEPT * PAGE_SIZE));
    INSIST(!object_keep(kept));
}

/* All is the host's when no process is left. */
static void check_host(const struct file *f)
{
    int err;

    host.sound = true;
    object_sync_wait();
    while ((err = object_sync(f->object)) == -EIO && now.read_fails) /* of slots */
        ;
    INSIST(!err && !host.kept);
    for (unsigned i = 0; i < f->size; i++)
        INSIST(holds(host.page[i], f->stamp[i]) ||
               (f->other[i] && holds(host.page[i], f->other[i])));
}

void files_end(void)
{
    check_host(&files[HOSTED]);
    for (unsigned i = 0; i < OBJECTS; i++)
        object_put(files[i].object);
    check_store();
    object_put(kept);
    INSIST(files_seen.shown > 500 && files_seen.written > 100 && files_seen.cuts > 5 &&
           files_seen.sent > 100 && files_seen.synced > 5 && files_seen.borrowed > 200 &&
           files_seen.copied > 30 && host.ended);
    object_store_end(&store);
}
