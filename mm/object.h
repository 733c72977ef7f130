/*
 * Objects: contents of files, as far as they are in memory, which processes read, write and map.
 *
 * The pages of a file system's objects, a store, are a space in which no thread runs: an object is
 * a region of it, as long as its pages need room. So they come, go to swap slots and return like
 * those of a process, by the same policies; all stores are in one pool, that of files. Policies are
 * told of each read and write.
 *
 * A process that maps an object has the same frames in its own table. They count in their nodes'
 * `mapped`, but the nodes are the store's. A page is first taken out of the tables of all
 * processes, and then evicted or dropped as any other. The right to write is given when a process
 * writes, not before: where the mapping is shared, the store's table marks the page as written
 * then; where it is private, the process gets a copy, a page of its own, in the frame's place.
 *
 * Contents that stay elsewhere, as those of a file of the host, are read when a page is first used,
 * and again after it was evicted. A write goes there at once, and to the pages that are in memory.
 * What a process stores to a mapping goes there by object_sync(), at the latest soon after the
 * mapping has ended. Until then the store's entry of the page is marked as written, or the page has
 * a slot.
 *
 * Locks: [F] the lock of the store's space, below the [S] of processes. [O] the object's `lock`,
 * below the locks of pools. The mutex is held by what changes an object's size or place, around all
 * of them, and around the [M] of processes, and of the store's space; of an object with a backing
 * also by what brings a page or writes one, so that no page is older than the last write.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/lib/list.h"
#include "mm/space.h"
#include "sched/sched.h"

#define OBJECT_BYTES_MAX ((uint64_t)1 << 40)

/* What is no longer done to an object, as F_ADD_SEALS of fcntl(2); a new one has
 * OBJECT_SEAL_SEAL. */
enum {
    OBJECT_SEAL_SEAL = 1,         /* it gets no more seals */
    OBJECT_SEAL_SHRINK = 2,       /* it does not become smaller */
    OBJECT_SEAL_GROW = 4,         /* nor larger */
    OBJECT_SEAL_WRITE = 8,        /* nothing writes it */
    OBJECT_SEAL_FUTURE_WRITE = 16 /* as before, but for mappings that there are */
};

/* The objects of a file system. */
struct object_store {
    struct mutex mutex;
    struct space *space; /* [A] written under the mutex once; NULL: there has been no object */
    uint64_t pages_max;  /* [-] that all of them may have */
};

/* Where the contents stay. Called in thread context with the object's mutex held. Those that cannot
 * be written have only bring_in(), and maybe whole_disk() and end_backing(). */
struct object_backing {
    /* Reads n pages from `page` on into frames, zeros behind the end. Returns 0 or an error. */
    int (*bring_in)(void *of, uint64_t page, unsigned n, const paddr_t *frames);
    /* Returns the disk that has the contents from its first page on. NULL: none has. */
    struct block_device *(*whole_disk)(void *of);
    /* Writes bytes. Returns their number or an error. */
    int64_t (*write_out)(void *of, uint64_t at, const void *from, size_t n);
    /* Cuts or extends the contents. Returns 0 or an error. */
    int (*set_end)(void *of, uint64_t bytes);
    /* A process maps the object, or no longer does (the mutex is not held): the vnode is to be kept
     * meanwhile, so that further openings get this object. Any context for `on`. */
    void (*keep_vnode)(void *of, bool on);
    /* The object has ended. The mutex is not held. */
    void (*end_backing)(void *of);
};

/* How the file was called when it was first mapped, for those that ask what a process maps. */
struct object_name {
    uint64_t id;   /* number of the file in its file system */
    size_t length; /* of the path, with a NUL behind it */
    char path[];
};

struct object {
    struct object_store *store;
    struct object_name *name;             /* [A] made once; NULL: none is known */
    const struct object_backing *backing; /* [-] NULL: its contents are here alone */
    void *of;                             /* [-] of the backing */
    uint32_t refs;                        /* [A] */
    uint64_t number;                      /* [-] as of lineage_number() */
    struct mutex mutex;                   /* see above */
    vaddr_t base;         /* [F], written under the mutex, too: where its region begins */
    uint64_t room;        /* [F], as base: bytes of the region */
    uint64_t bytes;       /* [F], as base: its size */
    uint32_t seals;       /* [A] written under the mutex: OBJECT_SEAL_* */
    bool hidden;          /* [F] no process gets a page: all are being dropped; with a backing */
    uint32_t stored;      /* [F] pages that processes may have stored to since the last sync */
    struct spinlock lock; /* [O] */
    struct list users;    /* [O] struct object_user */
    uint32_t pins;        /* [O] threads that evict a page of it, which cannot end meanwhile */
    struct wait_queue unpinned; /* [O] */
    struct list later;          /* among those to be written back, or linked to itself */
};

/* A space that maps the object. */
struct object_user {
    struct object *object; /* referenced */
    struct space *space;
    struct list of_space;       /* [M] of the space */
    struct list of_object;      /* [O] */
    uint32_t pins;              /* [O] threads that work on it */
    bool leaves;                /* [O] it is no longer pinned */
    struct wait_queue unpinned; /* [O] */
};

/* ---- What file systems call (mm/space/object.c). Thread context, no lock held. --------------- */
void object_store_init(struct object_store *store, uint64_t pages_max);
/* Ends a store whose objects have all ended. */
void object_store_end(struct object_store *store);
/* Returns the number of pages of all its objects. Any context. */
uint64_t object_store_pages(const struct object_store *store);
/* Makes an empty object with one reference. backing: NULL, or where its contents stay. Returns 0 or
 * -ENOMEM. */
int object_create(struct object_store *store, const struct object_backing *backing, void *of,
                  struct object **out);
/* Makes one of `bytes` bytes and stores it at *at, which is read and written atomically, unless
 * there is one. end_backing() is called for an `of` that is not needed. Returns 0 or -ENOMEM. */
int object_make_once(struct object **at, struct object_store *store,
                     const struct object_backing *backing, void *of, uint64_t bytes);
struct object *object_get(struct object *o);
/* Drops a reference; of NULL: nothing. The last one frees the object's pages. */
void object_put(struct object *o);
/* Returns the number of spaces that map it. */
unsigned object_users(struct object *o);
/* Returns its size. Any context. */
uint64_t object_bytes(const struct object *o);
/* Read up to n bytes, and write n bytes, at an offset. Return the number of bytes, 0 at the end;
 * -EFBIG: it would be too large; -ENOSPC: its store may have no more pages; -ENOMEM; -EIO: a page
 * could not be read; -EINTR; -EPERM: a seal forbids it. */
int64_t object_read(struct object *o, uint64_t at, void *to, size_t n);
int64_t object_write(struct object *o, uint64_t at, const void *from, size_t n);
/* Changes its size. What it loses is gone from all processes that map it, too; what it gains is all
 * zeros. Returns 0, -EFBIG, -ENOMEM, or as object_write. */
int object_resize(struct object *o, uint64_t bytes);
/* Brings all pages that the object has now, without a backing, and keeps them in memory until it
 * ends: from then on no read or write of it waits for a disk. It stays as large as it is. Returns
 * 0; -ENOMEM: also if a quarter of the files' pool is kept already; -ENOSPC; -EINTR. */
int object_keep(struct object *o);
/* Makes bytes of it zeros, and frees their memory, also for processes that map it. Its size stays.
 * Returns 0 or as object_write. */
int object_punch(struct object *o, uint64_t at, uint64_t n);
/* Returns the first byte from `at` on that is in a page without memory, `hole`, or in one with
 * memory; what is behind the end is a hole. -ENXIO: there is none, or `at` is not in it. */
int64_t object_find(struct object *o, uint64_t at, bool hole);
/* Lets seals be added to a new object, which has none then. */
void object_allow_seals(struct object *o);
/* Returns its seals. Any context. */
uint32_t object_seals(const struct object *o);
/* Adds seals. Returns 0; -EPERM: it gets no more; -EBUSY: a process maps it, and may write it. */
int object_add_seals(struct object *o, uint32_t seals);
/* Writes what processes have stored in mappings to where the contents stay. Returns 0, or the first
 * error: such pages are tried again next time. */
int object_sync(struct object *o);
/* Waits until what ended mappings have left is written. Thread context, no lock held. */
void object_sync_wait(void);
/* Starts the thread that does so. At boot. */
void object_sync_start(void);
/* The contents have changed where they stay: writes what was stored, drops all pages, and sets the
 * size. Returns 0, or an error of object_sync or object_resize: then nothing is dropped. */
int object_refresh(struct object *o, uint64_t bytes);
/* Returns the object's name, or NULL. It stays as long as the object. Any context. */
static inline const struct object_name *object_name(const struct object *o)
{
    return __atomic_load_n(&o->name, __ATOMIC_ACQUIRE);
}
/* Gives it a name, which is allocated, and becomes the object's or is freed if there is one. Any
 * context. */
void object_set_name(struct object *o, struct object_name *name);
/* Returns the object that the process's region at va maps, referenced, or NULL. Thread context. */
struct object *space_object_of(struct space *s, vaddr_t va);
/* Returns contents to map: shared (MAPPING_SHARED), or a private copy of a page as it is when it is
 * first used. The mapping takes a reference. */
struct page_source page_source_object(struct object *o);

/* ---- For mm only ----------------------------------------------------------------------------- */
/* Returns the object that the region maps, or NULL. */
static inline struct object *object_mapped(const struct region *r)
{
    return r->source.ops && r->source.ops->object ? (struct object *)r->source.of : NULL;
}
/* The same, if the region has only the object's frames, and no copies. */
static inline struct object *object_shown(const struct region *r)
{
    return r->flags & REGION_SHARED ? object_mapped(r) : NULL;
}
/* object.c: returns where page `index` of o is in its store's space, or 0: o changes its place now.
 * [F] held. */
vaddr_t object_page_locked(const struct object *o, uint64_t index);
/* object.c: brings page `index` into the store's table; it may be gone again at once. Thread
 * context, no lock held. Returns 0 or an error as of object_write. */
int object_bring(struct object *o, uint64_t index, enum fault_access access);
/* object.c: the same, if there is a backing with the mutex held. */
int object_bring_held(struct object *o, uint64_t index, enum fault_access access);
/* object.c: makes n bytes of one page zeros. The mutex is held. Returns 0 or an error as of
 * object_write. */
int object_clear_held(struct object *o, uint64_t at, uint64_t n);
/* object_size.c: takes the pages from `first` to `end` out of all processes, which map them;
 * `copies`: also those that are a process's own. The mutex is held. */
void object_cut_users(struct object *o, uint64_t first, uint64_t end, bool copies);
/* object.c: makes room for `bytes` bytes. The mutex is held. Returns 0 or -ENOMEM. */
int object_make_room_held(struct object *o, uint64_t bytes);
/* Returns whether its contents stay where nothing can be written. Any context. */
static inline bool object_is_read_only(const struct object *o)
{
    return o->backing && !o->backing->write_out;
}
/* Returns whether its seals let it have this size. The mutex is held. */
static inline bool object_may_resize(const struct object *o, uint64_t bytes)
{
    return !((bytes < o->bytes && (o->seals & OBJECT_SEAL_SHRINK)) ||
             (bytes > o->bytes && (o->seals & OBJECT_SEAL_GROW)));
}
/* object.c: returns whether its seals let it be written, and be of this size then. The mutex is
 * held. */
bool object_may_write(const struct object *o, uint64_t bytes);
/* object_sync.c: as object_sync, with the mutex held. */
int object_sync_held(struct object *o);
/* object_sync.c: has it written back by a thread, which takes over what object_unkeep() drops. */
void object_sync_later(struct object *o);
/* object_map.c: drops a reference and keep_vnode(). No lock held. */
void object_unkeep(struct object *o);
/* object_map.c: maps the object's page at va of s, in r, for the access, which is no write where r
 * is private. Sets *trim as track_soft_used_locked. [S] held. Returns 0; -ENXIO: behind its end, or
 * too many tables have it; -EMFILE: the same where r is private; -ENOMEM or -EDQUOT; or 1: it is to
 * be brought first. */
int object_map_locked(struct space *s, struct region *r, vaddr_t va, enum fault_access access,
                      bool *trim);
/* mm/pool/object_users.c: takes the object's page at va out of s's table. Returns its node, which
 * is the pool of files'. [S] held. The next one must follow. */
uint32_t object_unmap_locked(struct space *s, vaddr_t va);
/* mm/pool/object_users.c: has TLBs forget the page. No lock held. */
void object_unmapped(struct space *s, vaddr_t va, uint32_t n);
/* object_map.c: notes that s maps o. [M] held. Returns 0 or -ENOMEM. */
int object_add_user(struct object *o, struct space *s);
/* object_map.c: takes what s no longer maps, or, `all`, everything, out of its list, and puts it
 * into *ended, for object_end_users. [M] held, or no thread runs in s. */
void object_take_users(struct space *s, bool all, struct list *ended);
/* object_map.c: ends users; may drop the last reference of an object. No lock or mutex held. */
void object_end_users(struct list *ended);
/* mm/pool/object_users.c: returns the user behind `at`, or the first one if that is NULL, pinned,
 * or NULL at the end. Unpins `at`. No lock held. */
struct object_user *object_next_user(struct object *o, struct object_user *at);
/* mm/pool/object_users.c: takes the right to write to page `index`, which is that of node n, from
 * all processes, which n's hold keeps. No lock held but the mutex. */
void object_take_writes(struct object *o, uint64_t index, uint32_t n);
/* mm/pool/object_users.c: takes the page of node n, at va of `files`, the space of a store, out of
 * all processes that map it, unless one of them keeps it: returns whether that is so. `files` is
 * pinned. Thread context, no lock held. */
bool object_take_back(struct space *files, vaddr_t va, uint32_t n);
