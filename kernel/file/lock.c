/* See lock.h. */
#include "kernel/file/lock.h"
#include "kernel/mem/mem.h"

/* A vnode that is locked. */
struct locked_file {
    struct locked_file *next;
    struct vnode *v; /* referenced */
    struct range_lock *locks[LOCK_WHOLE + 1];
};

/* An owner that waits for another one. */
struct lock_wait {
    struct lock_wait *next;
    const void *owner, *waits_for;
};

/* [L] all of this; one lock serves all files. */
static struct spinlock lock = SPINLOCK(LOCK_FILE, "locks of files");
static struct locked_file *files;
static struct lock_wait *waits;
static struct wait_queue released = {{&released.waiters, &released.waiters}};
static bool any; /* [A] there is a locked file */

static struct locked_file **find_locked(const struct vnode *v)
{
    struct locked_file **at = &files;

    while (*at && (*at)->v != v)
        at = &(*at)->next;
    return at;
}

static void free_nodes(struct range_lock *l)
{
    while (l) {
        struct range_lock *next = l->next;
        kfree(l);
        l = next;
    }
}

/* Moves a file that has no locks any more to *to. Lock held. */
static void forget_locked(struct locked_file **at, struct locked_file **to)
{
    struct locked_file *f = *at;

    if (!f || f->locks[LOCK_RECORDS] || f->locks[LOCK_WHOLE])
        return;
    *at = f->next;
    f->next = *to;
    *to = f;
    __atomic_store_n(&any, files != NULL, __ATOMIC_RELAXED);
}

static void free_files(struct locked_file *f)
{
    while (f) {
        struct locked_file *next = f->next;
        vnode_put(f->v);
        kfree(f);
        f = next;
    }
}

/* Returns whether `owner`, if it waited for `of`, would wait for itself. Lock held. */
static bool would_deadlock(const void *owner, const void *of)
{
    for (unsigned steps = 0; steps < 64; steps++) {
        const struct lock_wait *w = waits;
        if (of == owner)
            return true;
        while (w && w->owner != of)
            w = w->next;
        if (!w)
            return false;
        of = w->waits_for;
    }
    return false;
}

/* Waits until a lock is released. Lock held. Returns 0, -EDEADLK or -ERESTARTSYS. */
static int wait_locked(const void *owner, const void *waits_for, bool records, bool *irq)
{
    struct lock_wait w = {waits, owner, waits_for}, **at = &waits;

    if (records && would_deadlock(owner, waits_for))
        return -EDEADLK;
    if (records)
        waits = &w;
    int err = wait_sleep_interruptible(&released, &lock, irq, UINT64_MAX);
    for (; records && *at != &w; at = &(*at)->next)
        ;
    if (records)
        *at = w.next;
    return err;
}

/* Enters the vnode, with `fresh` if it is not there yet, which is then NULL. Lock held. */
static struct locked_file *enter_locked(struct vnode *v, struct locked_file **fresh)
{
    struct locked_file **at = find_locked(v);

    if (!*at) {
        *at = *fresh;
        (*at)->v = vnode_get(v);
        *fresh = NULL;
        __atomic_store_n(&any, true, __ATOMIC_RELAXED);
    }
    return *at;
}

int lock_set(struct file *f, enum lock_kind kind, const struct range_lock *want, bool locks,
             bool waits_for_it)
{
    struct locked_file *fresh = kmalloc(sizeof(*fresh)), *is, *old = NULL;
    struct range_lock *spare = NULL, *node;
    const struct range_lock *other;
    unsigned nodes = 0;
    int err = 0;

    for (; nodes < RANGE_NODES && (node = kmalloc(sizeof(*node))); nodes++) {
        node->next = spare;
        spare = node;
    }
    if (!fresh || nodes < RANGE_NODES) {
        kfree(fresh);
        free_nodes(spare);
        return -ENOMEM;
    }
    bool irq = spin_lock(&lock);
    while (!err) {
        is = enter_locked(f->v, &fresh);
        other = locks ? ranges_conflict(is->locks[kind], want) : NULL;
        if (!other)
            break;
        err = waits_for_it ? wait_locked(want->owner, other->owner,
                                         kind == LOCK_RECORDS && want->pid != LOCK_NO_PID, &irq)
                           : -EAGAIN;
    }
    if (!err)
        ranges_set(&is->locks[kind], want, locks, &spare);
    forget_locked(find_locked(f->v), &old);
    wait_wake(&released, UINT32_MAX);
    spin_unlock(&lock, irq);
    free_files(old);
    kfree(fresh);
    free_nodes(spare);
    return err;
}

bool lock_test(struct file *f, const struct range_lock *want, struct range_lock *out)
{
    bool irq = spin_lock(&lock);
    const struct locked_file *is = *find_locked(f->v);
    const struct range_lock *other = is ? ranges_conflict(is->locks[LOCK_RECORDS], want) : NULL;

    if (other)
        *out = *other;
    spin_unlock(&lock, irq);
    return other;
}

void lock_release(const struct vnode *v, const void *owner)
{
    struct range_lock *dropped = NULL;
    struct locked_file *old = NULL;

    if (!__atomic_load_n(&any, __ATOMIC_RELAXED))
        return;
    bool irq = spin_lock(&lock);
    for (struct locked_file **at = &files, *f; (f = *at);) {
        if (!v || f->v == v) {
            ranges_drop(&f->locks[LOCK_RECORDS], owner, &dropped);
            ranges_drop(&f->locks[LOCK_WHOLE], owner, &dropped);
            forget_locked(at, &old);
        }
        if (*at == f)
            at = &f->next;
    }
    if (dropped)
        wait_wake(&released, UINT32_MAX);
    spin_unlock(&lock, irq);
    free_files(old);
    free_nodes(dropped);
}
