/*
 * Writes what processes have stored in mappings to where contents stay: see mm/object.h. When a
 * mapping ends, a thread of the kernel does so, which the end of a process does not cut short.
 */
#include "kernel/mem/frame.h"
#include "mm/object.h"
#include "mm/pool.h"
#include "mm/pool/swap.h"

#define LOOKS_MAX 256 /* pages looked at in one hold of the lock */

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Tells whether a page has what was stored to it. [F] held. */
static bool is_stored_locked(struct space *s, const struct arch_page *page)
{
    struct pool *p = s->pool;
    uint32_t n = page->kind == ARCH_PAGE_OUT ? page->number : frame_page(page->pa)->next;

    if (page->kind == ARCH_PAGE_HERE && (page->marks & ARCH_WRITTEN))
        return true;
    spin_lock_irqoff(&p->lock);
    bool is = (p->nodes[n].flags & NODE_DIRTY) || p->nodes[n].slot != SLOT_NONE;
    spin_unlock_irqoff(&p->lock);
    return is;
}

/* Looks for a page that was stored to, from *va on, LOOKS_MAX pages on. Returns whether there is
 * one, at *va; else *va is how far it came. */
static bool find_stored(struct space *s, vaddr_t *va, vaddr_t end)
{
    bool irq = spin_lock(&s->lock), is = false;

    *va = arch_space_skip(&s->arch, *va, end);
    for (unsigned i = 0; *va < end && i < LOOKS_MAX; i++, *va += PAGE_SIZE) {
        struct arch_page page;
        arch_space_look(&s->arch, *va, 1, &page);
        is = page.kind != ARCH_PAGE_NONE && is_stored_locked(s, &page);
        if (is)
            break;
    }
    spin_unlock(&s->lock, irq);
    return is;
}

/* Holds the page at va, if it is there and no write of it is under way, and makes it a clean one
 * without a slot. Returns whether it did, and its node and frame. [F] held. */
static bool clean_locked(struct space *s, vaddr_t va, uint32_t *n, paddr_t *frame)
{
    struct pool *p = s->pool;
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind != ARCH_PAGE_HERE)
        return false;
    *n = frame_page(page.pa)->next;
    *frame = page.pa;
    spin_lock_irqoff(&p->lock);
    struct node *node = &p->nodes[*n];
    bool done = !(node->flags & NODE_RESCUED) && pool_hold(p, *n);
    if (done) {
        arch_space_mark(&s->arch, va, ARCH_WRITTEN, 0);
        node->flags &= ~NODE_DIRTY;
        if (node->slot != SLOT_NONE)
            swap_slot_give(node->slot);
        node->slot = SLOT_NONE;
    }
    spin_unlock_irqoff(&p->lock);
    return done;
}

static void let_go(struct space *s, vaddr_t va, uint32_t n, bool stored)
{
    bool irq = spin_lock(&s->lock);

    if (stored)
        arch_space_mark(&s->arch, va, 0, ARCH_WRITTEN);
    spin_lock_irqoff(&s->pool->lock);
    pool_let_go(s->pool, n);
    spin_unlock_irqoff(&s->pool->lock);
    spin_unlock(&s->lock, irq);
}

/* Writes the page at va, which was stored to, to where it stays. It is clean before processes lose
 * the right to write: who gets it again marks it again. The mutex is held. */
static int sync_page(struct object *o, vaddr_t va)
{
    struct space *s = o->store->space;
    uint64_t at = va - o->base;
    paddr_t frame = 0;
    uint32_t n = 0;

    for (bool clean = false; !clean;) {
        int err = object_bring_held(o, at >> PAGE_SHIFT, FAULT_READ);
        if (err)
            return err;
        bool irq = spin_lock(&s->lock);
        clean = clean_locked(s, va, &n, &frame);
        spin_unlock(&s->lock, irq);
        if (!clean)
            sched_yield();
    }
    object_take_writes(o, at >> PAGE_SHIFT, n);
    size_t bytes = (size_t)MIN(o->bytes - MIN(o->bytes, at), PAGE_SIZE), done = 0;
    int64_t put = 1;
    for (; put > 0 && done < bytes; done += (size_t)MAX(put, 0))
        put = o->backing->write_out(o->of, at + done, (char *)phys_to_virt(frame) + done,
                                    bytes - done);
    let_go(s, va, n, done < bytes);
    return done < bytes ? (put ? (int)put : -EIO) : 0;
}

static void set_stored(struct object *o, uint32_t pages)
{
    struct space *s = o->store->space;
    bool irq = spin_lock(&s->lock);

    o->stored = pages;
    spin_unlock(&s->lock, irq);
}

int object_sync_held(struct object *o)
{
    struct space *s = o->store->space;
    vaddr_t va = o->base, end = o->base + ALIGN_UP(o->bytes, PAGE_SIZE);
    int first = 0;

    if (!o->stored)
        return 0;
    set_stored(o, 0);
    while (va < end) {
        if (find_stored(s, &va, end)) {
            int err = sync_page(o, va);
            first = first ?: err;
            va += PAGE_SIZE;
        }
        sched_point();
    }
    if (first)
        set_stored(o, 1);
    return first;
}

int object_sync(struct object *o)
{
    if (!o->backing)
        return 0;
    mutex_lock(&o->mutex);
    int err = object_sync_held(o);
    mutex_unlock(&o->mutex);
    return err;
}

/* ---- Later ----------------------------------------------------------------------------------- */

static struct {
    struct spinlock lock;
    struct list objects;    /* [lock] object->later */
    bool busy;              /* [lock] the thread has one that was among them */
    struct wait_queue work; /* [lock] */
    struct wait_queue idle; /* [lock] */
} later = {.lock = SPINLOCK(LOCK_SWAP, "written back later"),
           .objects = {&later.objects, &later.objects}};

void object_sync_later(struct object *o)
{
    bool irq = spin_lock(&later.lock), fresh = list_empty(&o->later);

    if (fresh) {
        list_push_back(&later.objects, &o->later);
        wait_wake(&later.work, 1);
    }
    spin_unlock(&later.lock, irq);
    if (!fresh)
        object_unkeep(o);
}

static struct object *next_later(void)
{
    bool irq = spin_lock(&later.lock);

    later.busy = false;
    while (list_empty(&later.objects)) {
        wait_wake(&later.idle, UINT32_MAX);
        wait_sleep(&later.work, &later.lock, &irq, UINT64_MAX);
    }
    later.busy = true;
    struct object *o = container_of(list_pop_front(&later.objects), struct object, later);
    list_init(&o->later);
    spin_unlock(&later.lock, irq);
    return o;
}

static void write_back_for_ever(UNUSED void *arg)
{
    for (;;) {
        struct object *o = next_later();
        object_sync(o); /* an error is the host's, and no thread is there to be told */
        object_unkeep(o);
    }
}

void object_sync_wait(void)
{
    bool irq = spin_lock(&later.lock);

    while (later.busy || !list_empty(&later.objects))
        wait_sleep_through(&later.idle, &later.lock, &irq);
    spin_unlock(&later.lock, irq);
}

void object_sync_start(void)
{
    wait_init(&later.work);
    wait_init(&later.idle);
    if (thread_create_kernel("write back", write_back_for_ever, NULL, NULL))
        panic("no memory for the thread that writes back");
}
