/*
 * Linux's system calls of memory: mappings, advice, locking, barriers.
 *
 * A shared mapping of anonymous memory is shared with processes that are forked later. Files are
 * objects, which are mapped; what the kernel shows as a file, and does not change, is copied.
 */
#include <asm/mman.h>
#include <linux/fcntl.h>
#include <linux/membarrier.h>
#include <linux/mman.h>
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/file/file.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "kernel/proc/perf.h"
#include "mm/object.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* of one instruction set */
#endif
#define LOW_TOP ((vaddr_t)0x80000000) /* end of what MAP_32BIT asks for */

static unsigned prot_of(uint64_t bits)
{
    return (bits & PROT_READ ? PROT_R : 0) | (bits & PROT_WRITE ? PROT_W : 0) |
           (bits & PROT_EXEC ? PROT_X : 0);
}

/* ---- mmap ------------------------------------------------------------------------------------ */

#define SEALED (OBJECT_SEAL_WRITE | OBJECT_SEAL_FUTURE_WRITE) /* no mapping may write it */

/* Says what the pages of a file are. Returns 0, or the call's error. */
static int map_contents(struct mapping *m, const struct file *f, bool shared)
{
    struct vnode *v = f->v;
    bool may_write = (f->flags & O_ACCMODE) == O_RDWR;
    struct object *o;
    int err = v->ops->object(v, &o);

    m->kind = REGION_FILE;
    m->flags |= shared && !may_write ? MAPPING_READ_ONLY : 0;
    if (!err && shared && (object_seals(o) & SEALED)) {
        if (m->prot & PROT_W)
            return -EPERM;
        m->flags |= MAPPING_READ_ONLY;
    }
    if (!err) {
        path_name_object(v, o);
        m->source = page_source_object(o);
    }
    if (err != -ENODEV)
        return err;
    m->flags &= ~(unsigned)MAPPING_SHARED;
    if ((shared && (m->prot & PROT_W)) || (!v->data && v->size))
        return -ENODEV;
    m->source = page_source_memory(v->data ? v->data : "", v->size);
    return 0;
}

/* A perf event's buffer, with a reference for the caller. */
static int map_records(struct mapping *m, const struct file *f, bool shared)
{
    struct object *o;
    int err = perf_map(f, m->len, m->source_page, shared, m->prot & PROT_W, &o);

    if (err)
        return err;
    m->kind = REGION_FILE;
    m->source = page_source_object(o);
    return 0;
}

/* Says what is mapped. Returns as map_contents. */
static int map_file(struct mapping *m, char name[REGION_NAME_MAX], const struct file *f,
                    uint64_t flags)
{
    const struct vnode *v = f->v;
    uint32_t access = f->flags & O_ACCMODE;
    bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;

    if (access == O_WRONLY || (shared && (m->prot & PROT_W) && access != O_RDWR))
        return -EACCES;
    size_t n = v->ops->name(f->v, name, REGION_NAME_MAX - 1);
    name[MIN(n, (size_t)(REGION_NAME_MAX - 1))] = '\0';
    m->name = name;
    if (vnode_is(v, S_IFCHR) && v->major == 1 && v->minor == 5)
        return shared && (m->prot & PROT_W) ? -ENODEV : 0; /* /dev/zero */
    if (perf_is(f))
        return map_records(m, f, shared);
    return vnode_is(v, S_IFREG) || vnode_is(v, S_IFBLK) ? map_contents(m, f, shared) : -ENODEV;
}

/* Flags that MAP_SHARED_VALIDATE lets through. */
#define VALIDATED                                                                         \
    (MAP_TYPE | MAP_FIXED | MAP_GROWSDOWN | MAP_DENYWRITE | MAP_EXECUTABLE | MAP_LOCKED | \
     MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_STACK | MAP_HUGETLB | MAP_32BIT |  \
     MAP_FIXED_NOREPLACE)

/* Returns 0, or the error of flags that are not supported. */
static int check_flags(uint64_t flags)
{
    uint64_t type = flags & MAP_TYPE;

    if (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE)
        return -EINVAL;
    if (type == MAP_SHARED_VALIDATE && (flags & MAP_ANONYMOUS))
        return -EINVAL;
    if (type == MAP_SHARED_VALIDATE && (flags & ~(uint64_t)VALIDATED))
        return -EOPNOTSUPP;
    return flags & MAP_HUGETLB ? -ENOMEM : 0; /* no page is reserved for it */
}

static unsigned mapping_flags(uint64_t flags)
{
    return (flags & MAP_FIXED_NOREPLACE ? MAPPING_NOREPLACE
            : flags & MAP_FIXED         ? MAPPING_FIXED
                                        : 0) |
           (flags & MAP_GROWSDOWN ? MAPPING_GROWS : 0) |
           (flags & MAP_NORESERVE ? MAPPING_UNCOUNTED : 0) |
           ((flags & MAP_TYPE) != MAP_PRIVATE ? MAPPING_SHARED : 0);
}

/* Brings the pages of a new mapping, as far as there is room. */
static void populate(struct space *s, vaddr_t va, uint64_t len, unsigned prot)
{
    if (prot)
        space_populate(s, va, len, prot & PROT_W ? FAULT_WRITE : FAULT_READ);
}

static int check_place(struct mapping *m)
{
    bool at = m->flags & (MAPPING_FIXED | MAPPING_NOREPLACE);

    if (!at) { /* a hint */
        m->va = ALIGN_DOWN(m->va, PAGE_SIZE);
        m->va = m->va < USER_MIN || m->va >= USER_MAX ? 0 : m->va;
        return 0;
    }
    if (!IS_ALIGNED(m->va, PAGE_SIZE))
        return -EINVAL;
    if (m->va < USER_MIN)
        return -EPERM;
    return m->va >= USER_MAX || ALIGN_UP(m->len, PAGE_SIZE) > USER_MAX - m->va ? -ENOMEM : 0;
}

/* Maps m, and brings its pages if that is asked for. */
static int64_t map(struct space *s, const struct mapping *m, uint64_t flags)
{
    vaddr_t va;
    int err = space_mmap(s, m, &va);

    if (!err && (flags & MAP_LOCKED))
        err = space_lock(s, va, m->len, true) ? -EAGAIN : 0;
    if (err)
        return err;
    if ((flags & (MAP_LOCKED | MAP_POPULATE)) || space_locks_future(s))
        populate(s, va, m->len, m->prot);
    return (int64_t)va;
}

/* Maps m. A file may have been sealed meanwhile. */
static int64_t map_checked(struct space *s, const struct mapping *m, uint64_t flags)
{
    int64_t va = map(s, m, flags);
    const struct object *o = m->source.of;

    if (va < 0 || !m->source.ops || !m->source.ops->object || !(m->flags & MAPPING_SHARED) ||
        (m->flags & MAPPING_READ_ONLY) || !(object_seals(o) & OBJECT_SEAL_WRITE))
        return va;
    space_unmap(s, (vaddr_t)va, m->len);
    return -EPERM;
}

int64_t sys_mmap(const struct call *c)
{
    uint64_t len = c->a[1], flags = c->a[3], offset = c->a[5];
    char name[REGION_NAME_MAX];
    struct mapping m = {.va = c->a[0],
                        .len = len,
                        .prot = prot_of(c->a[2]),
                        .flags = mapping_flags(flags),
                        .kind = flags & MAP_GROWSDOWN ? REGION_STACK : REGION_ANON,
                        .name = flags & (MAP_GROWSDOWN | MAP_STACK) ? "stack" : "memory",
                        .below = flags & MAP_32BIT ? LOW_TOP : 0,
                        .source_page = offset >> PAGE_SHIFT};
    struct file *f = flags & MAP_ANONYMOUS ? NULL : files_find(c->p->files, (uint32_t)c->a[4]);
    int err = !IS_ALIGNED(offset, PAGE_SIZE)   ? -EINVAL
              : !f && !(flags & MAP_ANONYMOUS) ? -EBADF
              : !len                           ? -EINVAL
                                               : check_flags(flags);

    if (!err && (len > USER_MAX || offset + len < offset))
        err = -ENOMEM;
    if (!err)
        err = check_place(&m);
    if (!err && f)
        err = map_file(&m, name, f, flags);
    int64_t result = err ? err : map_checked(c->p->space, &m, flags);
    if (!err && f && perf_is(f))
        object_put((struct object *)m.source.of); /* what is mapped has its own reference */
    if (result > 0 && f && (m.prot & PROT_X))
        code_images_mapped(c->p, (vaddr_t)result);
    if (result > 0 && f)
        perf_told_mapping(c->t, (vaddr_t)result);
    file_put(f);
    return result;
}

/* ---- What is mapped -------------------------------------------------------------------------- */

/* A range of a call: whole pages. Returns 0; -EINVAL: not page-aligned; -ENOMEM: not all of it is
 * user space. len 0 is fine, and nothing is to be done. */
static int range(const struct call *c, uint64_t *len)
{
    *len = ALIGN_UP(c->a[1], PAGE_SIZE);
    if (!IS_ALIGNED(c->a[0], PAGE_SIZE))
        return -EINVAL;
    if (*len < c->a[1])
        return -EINVAL;
    return *len && (c->a[0] < USER_MIN || c->a[0] >= USER_MAX || *len > USER_MAX - c->a[0])
               ? -ENOMEM
               : 0;
}

int64_t sys_munmap(const struct call *c)
{
    vaddr_t from = MAX(c->a[0], USER_MIN);
    uint64_t len;

    if (range(c, &len) == -EINVAL || !len || c->a[0] >= USER_MAX || len > USER_MAX - c->a[0])
        return -EINVAL;
    /* nothing is ever mapped below */
    return c->a[0] + len <= from ? 0 : space_unmap(c->p->space, from, c->a[0] + len - from);
}

/* Lets a range in a stack begin where that begins (PROT_GROWSDOWN). */
static int from_stacks_start(struct space *s, vaddr_t *from, uint64_t *len)
{
    struct region_stats r;

    if (!space_next_region(s, *from, &r) || r.start >= *from + *len)
        return -ENOMEM;
    if (!r.grows)
        return -EINVAL;
    *len += *from - r.start;
    *from = r.start;
    return 0;
}

int64_t sys_mprotect(const struct call *c)
{
    const uint64_t known = PROT_READ | PROT_WRITE | PROT_EXEC | PROT_SEM | PROT_GROWSDOWN;
    vaddr_t from = c->a[0];
    uint64_t len;
    int err = c->a[2] & ~known ? -EINVAL : range(c, &len);

    if (err || !len)
        return err;
    if (c->a[2] & PROT_GROWSDOWN)
        err = from_stacks_start(c->p->space, &from, &len);
    return err ?: space_protect(c->p->space, from, len, prot_of(c->a[2]));
}

_Static_assert(REMAP_MAYMOVE == MREMAP_MAYMOVE && REMAP_FIXED == MREMAP_FIXED &&
                   REMAP_DONTUNMAP == MREMAP_DONTUNMAP,
               "mremap's flags");

int64_t sys_mremap(const struct call *c)
{
    vaddr_t va;

    if (c->a[3] > UINT32_MAX)
        return -EINVAL;
    int err = space_remap(c->p->space, c->a[0], c->a[1], c->a[2], (unsigned)c->a[3], c->a[4], &va);
    if (!err && c->a[2] > c->a[1] && space_locks_future(c->p->space))
        populate(c->p->space, va, c->a[2], PROT_R);
    return err ? err : (int64_t)va;
}

int64_t sys_brk(const struct call *c)
{
    return (int64_t)space_brk(c->p->space, c->a[0]);
}

int64_t sys_msync(const struct call *c)
{
    uint64_t len, flags = c->a[2];
    int err = flags & ~(uint64_t)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
                      ((flags & MS_ASYNC) && (flags & MS_SYNC))
                  ? -EINVAL
                  : range(c, &len);

    if (err || !len)
        return err;
    if (!space_is_mapped(c->p->space, c->a[0], len))
        return -ENOMEM;
    return flags & MS_SYNC ? space_sync(c->p->space, c->a[0], c->a[0] + len) : 0;
}

int64_t sys_mincore(const struct call *c)
{
    uint8_t is[SPACE_RESIDENT_MAX];
    uint64_t len, at = 0;
    int err = range(c, &len);

    while (!err && at < len) {
        uint64_t part = MIN(len - at, sizeof(is) * PAGE_SIZE);
        err = space_resident(c->p->space, c->a[0] + at, part, is)
                  ?: arch_copy_to_user(c->a[2] + (at >> PAGE_SHIFT), is, part >> PAGE_SHIFT);
        at += part;
    }
    return err;
}

/* ---- Advice ---------------------------------------------------------------------------------- */

/* What advice becomes: enum region_advice, or one of these. */
enum { BRING_READ = 100, BRING_WRITE, CHECK_ONLY };

static int advice_of(int advice)
{
    switch (advice) {
    case MADV_NORMAL:
        return ADVICE_NORMAL;
    case MADV_RANDOM:
        return ADVICE_RANDOM;
    case MADV_SEQUENTIAL:
        return ADVICE_SEQUENTIAL;
    case MADV_WILLNEED:
        return ADVICE_WILLNEED;
    case MADV_DONTNEED:
    case MADV_FREE: /* may lose its contents at any time: at once */
        return ADVICE_DONTNEED;
    case MADV_POPULATE_READ:
        return BRING_READ;
    case MADV_POPULATE_WRITE:
        return BRING_WRITE;
    case MADV_HUGEPAGE: /* all pages are of one size */
    case MADV_NOHUGEPAGE:
    case MADV_DONTDUMP: /* no memory is dumped */
    case MADV_DODUMP:
    case MADV_DONTFORK: /* no process is copied */
    case MADV_DOFORK:
        return CHECK_ONLY;
    default:
        return -EINVAL;
    }
}

int64_t sys_madvise(const struct call *c)
{
    struct space *s = c->p->space;
    int advice = advice_of((int)c->a[2]);
    uint64_t len;
    int err = advice < 0 ? advice : range(c, &len);

    if (err || !len)
        return err;
    if (advice == CHECK_ONLY)
        return space_is_mapped(s, c->a[0], len) ? 0 : -ENOMEM;
    if (advice < BRING_READ)
        return space_advise(s, c->a[0], len, (enum region_advice)advice);
    if (!space_is_mapped(s, c->a[0], len))
        return -ENOMEM;
    return space_populate(s, c->a[0], len, advice == BRING_WRITE ? FAULT_WRITE : FAULT_READ);
}

/* ---- Locking --------------------------------------------------------------------------------- */

/* Brings the pages of all mappings that are locked. */
static void populate_all(struct space *s)
{
    struct region_stats r;

    for (vaddr_t from = USER_MIN; space_next_region(s, from, &r); from = r.end)
        populate(s, r.start, r.end - r.start, r.prot);
}

/* Locks or unlocks all pages that the range of a call touches. */
static int64_t lock(const struct call *c, bool on, bool bring)
{
    const uint64_t args[6] = {ALIGN_DOWN(c->a[0], PAGE_SIZE), c->a[1] + c->a[0] % PAGE_SIZE};
    struct call pages = {.a = args};
    uint64_t len;
    int err = pages.a[1] < c->a[1] ? -EINVAL : range(&pages, &len);

    if (err || !len)
        return err;
    err = space_lock(c->p->space, pages.a[0], len, on);
    if (!err && bring)
        populate(c->p->space, pages.a[0], len, PROT_R);
    return err;
}

int64_t sys_mlock(const struct call *c)
{
    return lock(c, true, true);
}

int64_t sys_mlock2(const struct call *c)
{
    return c->a[2] & ~(uint64_t)MLOCK_ONFAULT ? -EINVAL : lock(c, true, !(c->a[2] & MLOCK_ONFAULT));
}

int64_t sys_munlock(const struct call *c)
{
    return lock(c, false, false);
}

int64_t sys_mlockall(const struct call *c)
{
    uint64_t flags = c->a[0];

    if (!(flags & (MCL_CURRENT | MCL_FUTURE)) ||
        (flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
        return -EINVAL;
    int err = space_lock_all(c->p->space, flags & MCL_CURRENT, flags & MCL_FUTURE);
    if (!err && (flags & MCL_CURRENT) && !(flags & MCL_ONFAULT))
        populate_all(c->p->space);
    return err;
}

int64_t sys_munlockall(const struct call *c)
{
    return space_unlock_all(c->p->space);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

#define CALL_WAIT_NS (10 * NS_PER_MS)

/* The interrupt is the barrier. */
static void nothing(UNUSED void *arg)
{
}

/* Every CPU that runs passes a barrier before this returns; one that switches threads meanwhile
 * passes one by that. */
static int64_t barrier_everywhere(const struct call *c)
{
    for (unsigned i = 0; i < cpu_count() && !c->t->ending; i++)
        while (call_cpu(&cpus[i], nothing, NULL, CALL_WAIT_NS) && !c->t->ending)
            sched_yield();
    return 0;
}

int64_t sys_membarrier(const struct call *c)
{
    const int all = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
                    MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
                    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;

    if ((uint32_t)c->a[1])
        return -EINVAL;
    switch ((int)c->a[0]) {
    case MEMBARRIER_CMD_QUERY:
        return all;
    case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
    case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
        return 0;
    case MEMBARRIER_CMD_GLOBAL:
    case MEMBARRIER_CMD_GLOBAL_EXPEDITED:
    case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
        return barrier_everywhere(c);
    default:
        return -EINVAL;
    }
}
