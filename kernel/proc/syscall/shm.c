/*
 * Linux's system calls of System V's shared memory: segments, known by number and key to all
 * processes. A segment is an object (mm/object.h) in a store of their own. One that was removed
 * stays until no process maps it, and has its number as long, as on Linux.
 *
 * The mutex guards the table. It is held while objects are made and freed, never while user memory
 * is touched.
 */
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/core/wall_clock.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/syscall.h"
#include "mm/object.h"
/* linux/shm.h includes the C library's unistd.h, which is not there for every architecture: skip
 * it. */
#define _UNISTD_H 1
#include <asm/shmbuf.h>
#include <linux/ipc.h>
#include <linux/shm.h>

#define SHM_DEST      01000 /* of a mode: it was removed */
#define SEGMENTS_MAX  1024
#define STORE_PART    4 /* segments have at most 1/4 of memory */
#define ID_GENERATION SEGMENTS_MAX

struct segment {
    struct object *object; /* NULL: free */
    uint64_t bytes;
    int id; /* its place in the table, plus a multiple of ID_GENERATION */
    uint32_t key, mode, made_by, used_by;
    int64_t attached, detached, changed; /* seconds since 1970; 0: never */
    bool removed;
};

static struct mutex mutex = MUTEX(mutex, "shared memory");
static struct segment segments[SEGMENTS_MAX]; /* [mutex] */
static struct object_store store;             /* [mutex] */
static int generation;                        /* [mutex] of the segment made last */

static int64_t now(void)
{
    return (int64_t)(wall_clock_ns() / NS_PER_S);
}

/* ---- The table: the mutex is held ------------------------------------------------------------ */

static void free_segment(struct segment *s)
{
    object_put(s->object);
    s->object = NULL;
}

/* Frees the segments that were removed and that no process maps any more. */
static void sweep(void)
{
    for (struct segment *s = segments; s < segments + SEGMENTS_MAX; s++)
        if (s->object && s->removed && !object_users(s->object))
            free_segment(s);
}

static struct segment *segment_of(uint64_t id)
{
    struct segment *s = &segments[(uint32_t)id % SEGMENTS_MAX];

    return s->object && s->id == (int)id ? s : NULL;
}

static struct segment *segment_with_key(uint32_t key)
{
    for (struct segment *s = segments; s < segments + SEGMENTS_MAX; s++)
        if (s->object && !s->removed && s->key == key)
            return s;
    return NULL;
}

static struct segment *free_place(void)
{
    for (struct segment *s = segments; s < segments + SEGMENTS_MAX; s++)
        if (!s->object)
            return s;
    return NULL;
}

/* Returns its number or an error. */
static int64_t make_segment(const struct process *p, uint32_t key, uint64_t bytes, uint32_t mode)
{
    struct segment *s = free_place();
    struct object *o;

    if (!bytes)
        return -EINVAL;
    if (!s)
        return -ENOSPC;
    if (!store.pages_max) {
        struct frame_stats frames;
        frame_stats(&frames);
        object_store_init(&store, frames.total_pages / STORE_PART);
    }
    if (bytes > store.pages_max * PAGE_SIZE)
        return -ENOMEM;
    int err = object_create(&store, NULL, NULL, &o) ?: object_resize(o, bytes);
    if (err)
        return -ENOMEM;
    generation = (generation + ID_GENERATION) & INT32_MAX;
    *s = (struct segment){.object = o,
                          .bytes = bytes,
                          .id = (int)(s - segments) + generation,
                          .key = key,
                          .mode = mode & 0777,
                          .made_by = p->pid,
                          .changed = now()};
    return s->id;
}

static int64_t find_or_make(const struct process *p, uint32_t key, uint64_t bytes, uint32_t flags)
{
    struct segment *s = key == IPC_PRIVATE ? NULL : segment_with_key(key);

    if (!s)
        return key == IPC_PRIVATE || (flags & IPC_CREAT) ? make_segment(p, key, bytes, flags)
                                                         : -ENOENT;
    if ((flags & IPC_CREAT) && (flags & IPC_EXCL))
        return -EEXIST;
    return bytes > s->bytes ? -EINVAL : s->id;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

int64_t sys_shmget(const struct call *c)
{
    uint32_t flags = (uint32_t)c->a[2];

    if (flags & SHM_HUGETLB)
        return -ENOMEM; /* no page is reserved for it */
    mutex_lock(&mutex);
    sweep();
    int64_t id = find_or_make(c->p, (uint32_t)c->a[0], c->a[1], flags);
    mutex_unlock(&mutex);
    return id;
}

/* Stores what to map, at `va` or anywhere, and with a reference to the object. */
static int describe(const struct process *p, uint64_t id, vaddr_t va, uint32_t flags,
                    struct mapping *m, char name[REGION_NAME_MAX])
{
    mutex_lock(&mutex);
    struct segment *s = segment_of(id);
    if (s) {
        *m = (struct mapping){
            .va = va,
            .len = s->bytes,
            .prot = PROT_R | (flags & SHM_RDONLY ? 0 : PROT_W) | (flags & SHM_EXEC ? PROT_X : 0),
            .flags = MAPPING_SHARED | (flags & SHM_RDONLY ? MAPPING_READ_ONLY : 0) |
                     (!va                 ? 0
                      : flags & SHM_REMAP ? MAPPING_FIXED
                                          : MAPPING_NOREPLACE),
            .kind = REGION_FILE,
            .name = name,
            .source = page_source_object(object_get(s->object))};
        ksnprintf(name, REGION_NAME_MAX, "SYSV%08x", s->key);
        s->attached = now();
        s->used_by = p->pid;
    }
    mutex_unlock(&mutex);
    return s ? 0 : -EINVAL;
}

int64_t sys_shmat(const struct call *c)
{
    uint32_t flags = (uint32_t)c->a[2];
    vaddr_t va = flags & SHM_RND ? ALIGN_DOWN(c->a[1], PAGE_SIZE) : c->a[1];
    char name[REGION_NAME_MAX];
    struct mapping m;

    if (!IS_ALIGNED(va, PAGE_SIZE) || (!va && (flags & SHM_REMAP)))
        return -EINVAL;
    int err = describe(c->p, c->a[0], va, flags, &m, name);
    if (err)
        return err;
    err = space_mmap(c->p->space, &m, &va);
    object_put((struct object *)m.source.of); /* what is mapped has its own reference */
    return err == -EEXIST ? -EINVAL : err ? err : (int64_t)va;
}

int64_t sys_shmdt(const struct call *c)
{
    const struct object *o = space_object_at(c->p->space, c->a[0]);
    uint64_t bytes = 0;

    if (!o)
        return -EINVAL;
    mutex_lock(&mutex);
    for (struct segment *s = segments; s < segments + SEGMENTS_MAX; s++)
        if (s->object == o) {
            bytes = s->bytes;
            s->detached = now();
            s->used_by = c->p->pid;
        }
    mutex_unlock(&mutex);
    int err = bytes ? space_unmap(c->p->space, c->a[0], bytes) : -EINVAL;
    mutex_lock(&mutex);
    sweep();
    mutex_unlock(&mutex);
    return err;
}

/* A process that has attached the segment twice counts once. */
static void put_state(const struct segment *s, struct shmid64_ds *out)
{
    *out = (struct shmid64_ds){
        .shm_perm = {.key = (__kernel_key_t)s->key,
                     .mode = (__kernel_mode_t)(s->mode | (s->removed ? SHM_DEST : 0))},
        .shm_segsz = s->bytes,
        .shm_atime = s->attached,
        .shm_dtime = s->detached,
        .shm_ctime = s->changed,
        .shm_cpid = (__kernel_pid_t)s->made_by,
        .shm_lpid = (__kernel_pid_t)s->used_by,
        .shm_nattch = object_users(s->object)};
}

/* Changes or reads a segment. The mutex is held. */
static int64_t control_locked(const struct process *p, struct segment *s, uint32_t command,
                              struct shmid64_ds *state)
{
    switch (command) {
    case IPC_RMID:
        s->removed = true;
        s->used_by = p->pid;
        sweep();
        return 0;
    case IPC_SET:
        s->mode = state->shm_perm.mode & 0777;
        s->changed = now();
        return 0;
    case IPC_STAT:
        put_state(s, state);
        return 0;
    case SHM_STAT:
        put_state(s, state);
        return s->id;
    default: /* SHM_LOCK, SHM_UNLOCK */
        return 0;
    }
}

/* Stores the limits, and what there is. */
static int64_t put_info(uint32_t command, vaddr_t to)
{
    struct shminfo64 limits = {.shmmax = store.pages_max * PAGE_SIZE,
                               .shmmin = 1,
                               .shmmni = SEGMENTS_MAX,
                               .shmseg = SEGMENTS_MAX,
                               .shmall = store.pages_max};
    struct shm_info info = {.shm_tot = 0};
    int64_t last = 0;

    mutex_lock(&mutex);
    for (unsigned i = 0; i < SEGMENTS_MAX; i++)
        if (segments[i].object) {
            info.used_ids++;
            info.shm_tot += ALIGN_UP(segments[i].bytes, PAGE_SIZE) >> PAGE_SHIFT;
            last = i;
        }
    info.shm_rss = store.pages_max ? object_store_pages(&store) : 0;
    mutex_unlock(&mutex);
    int err = command == SHM_INFO ? arch_copy_to_user(to, &info, sizeof(info))
                                  : arch_copy_to_user(to, &limits, sizeof(limits));
    return err ? -EFAULT : last;
}

int64_t sys_shmctl(const struct call *c)
{
    uint32_t command = (uint32_t)c->a[1] & ~(uint32_t)IPC_64;
    struct shmid64_ds state = {.shm_segsz = 0};

    if (command == IPC_INFO || command == SHM_INFO)
        return put_info(command, c->a[2]);
    bool sets = command == IPC_SET, gets = command == IPC_STAT || command == SHM_STAT;
    if (!sets && !gets && command != IPC_RMID && command != SHM_LOCK && command != SHM_UNLOCK)
        return -EINVAL;
    if (sets && arch_copy_from_user(&state, c->a[2], sizeof(state)))
        return -EFAULT;
    mutex_lock(&mutex);
    sweep();
    struct segment *s = command == SHM_STAT && c->a[0] < SEGMENTS_MAX && segments[c->a[0]].object
                            ? &segments[c->a[0]]
                            : segment_of(c->a[0]);
    int64_t result = s ? control_locked(c->p, s, command, &state) : -EINVAL;
    mutex_unlock(&mutex);
    if (result >= 0 && gets && arch_copy_to_user(c->a[2], &state, sizeof(state)))
        return -EFAULT;
    return result;
}
