/* See lineage.h. */
#include "mm/lineage.h"
#include "kernel/mem/mem.h"
#include "mm/space.h"
#include "mm/track/track.h"

uint64_t lineage_number(void)
{
    static uint64_t last;

    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

int lineage_begin(struct space *s)
{
    struct lineage *l = kmalloc(sizeof(*l));

    if (!l)
        return -ENOMEM;
    spin_init(&l->lock, LOCK_LINEAGE, "lineage");
    list_init(&l->spaces);
    list_push_back(&l->spaces, &s->relative);
    l->count = 1;
    l->number = lineage_number();
    s->lineage = l;
    return 0;
}

void lineage_join(struct space *s, struct space *other)
{
    struct lineage *l = other->lineage;
    bool irq = spin_lock(&l->lock);

    list_push_back(&l->spaces, &s->relative);
    l->count++;
    __atomic_store_n(&l->forked, true, __ATOMIC_RELAXED);
    s->lineage = l;
    spin_unlock(&l->lock, irq);
}

static void wait_for_pins(struct space *s)
{
    bool irq = spin_lock(&s->lock);

    while (__atomic_load_n(&s->pins, __ATOMIC_RELAXED))
        wait_sleep_through(&s->unpinned, &s->lock, &irq);
    spin_unlock(&s->lock, irq);
}

void lineage_leave(struct space *s)
{
    struct lineage *l = s->lineage;
    bool irq = spin_lock(&l->lock);

    s->leaves = true;
    spin_unlock(&l->lock, irq);
    wait_for_pins(s);
    irq = spin_lock(&l->lock);
    list_remove(&s->relative);
    bool last = --l->count == 0;
    spin_unlock(&l->lock, irq);
    if (last)
        kfree(l);
}

struct space *lineage_next(struct lineage *l, const struct space *at)
{
    struct space *found = NULL;
    bool irq = spin_lock(&l->lock);

    for (const struct list *it = at ? at->relative.next : l->spaces.next;
         it != &l->spaces && !found; it = it->next) {
        struct space *s = container_of(it, struct space, relative);
        if (!s->leaves)
            found = s;
    }
    if (found)
        __atomic_add_fetch(&found->pins, 1, __ATOMIC_RELAXED);
    spin_unlock(&l->lock, irq);
    return found;
}

void lineage_unpin(struct space *s)
{
    bool irq = spin_lock(&s->lock);

    if (__atomic_sub_fetch(&s->pins, 1, __ATOMIC_RELAXED) == 0)
        wait_wake(&s->unpinned, UINT32_MAX);
    spin_unlock(&s->lock, irq);
}

enum page_buffered lineage_buffered(struct lineage *l, vaddr_t va)
{
    enum page_buffered is = BUFFER_UNKNOWN;
    bool irq = spin_lock(&l->lock);

    list_for_each (it, &l->spaces) {
        enum page_buffered here = track_buffered(container_of(it, struct space, relative), va);
        is = MAX(is, here);
    }
    spin_unlock(&l->lock, irq);
    return is;
}
