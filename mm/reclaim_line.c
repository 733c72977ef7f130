/* See reclaim_line.h.  Locks: [L] = line.lock, under a pool's; [-] = fixed while in line. */
#include "mm/reclaim_line.h"
#include "kernel/lock.h"

static struct {
    struct spinlock lock;
    struct list places; /* [L] by their tickets, which are in the order of coming */
    uint64_t tickets;   /* [L] given out                                          */
    uint64_t first;     /* [A] the ticket of the first place, written under [L]   */
    uint32_t length;    /* [A] written under [L]                                  */
} line = {.lock = SPINLOCK(LOCK_SWAP, "line"), .places = {&line.places, &line.places}};

static struct line_place *place_of(struct list *link)
{
    return container_of(link, struct line_place, link);
}

static void changed_locked(int more)
{
    uint64_t first = list_empty(&line.places) ? line.tickets : place_of(line.places.next)->ticket;

    __atomic_store_n(&line.first, first, __ATOMIC_RELAXED);
    __atomic_store_n(&line.length, line.length + (uint32_t)more, __ATOMIC_RELAXED);
}

uint32_t line_length(void)
{
    return __atomic_load_n(&line.length, __ATOMIC_RELAXED);
}

uint32_t line_before(const struct line_place *w)
{
    return w->is_in_line ? (uint32_t)(w->ticket - __atomic_load_n(&line.first, __ATOMIC_RELAXED))
                         : line_length();
}

void line_join(struct line_place *w)
{
    if (w->is_in_line)
        return;
    wait_init(&w->wake);
    w->called = false;
    w->is_in_line = true;
    bool irq = spin_lock(&line.lock);
    w->ticket = line.tickets++;
    list_push_back(&line.places, &w->link);
    changed_locked(1);
    spin_unlock(&line.lock, irq);
}

void line_leave(struct line_place *w)
{
    if (!w->is_in_line)
        return;
    bool irq = spin_lock(&line.lock);
    list_remove(&w->link);
    changed_locked(-1);
    spin_unlock(&line.lock, irq);
    w->is_in_line = false;
    line_call(1); /* what it was called for may be somebody else's */
}

void line_call(uint32_t frames)
{
    if (!line_length())
        return;
    bool irq = spin_lock(&line.lock);
    for (struct list *l = line.places.next; l != &line.places && frames; l = l->next) {
        struct line_place *w = place_of(l);
        if (w->called)
            continue;
        w->called = true;
        wait_wake(&w->wake, 1);
        frames--;
    }
    spin_unlock(&line.lock, irq);
}

int line_wait(struct line_place *w, uint64_t deadline_ns)
{
    bool irq = spin_lock(&line.lock);
    int err = w->called ? 0 : wait_sleep(&w->wake, &line.lock, &irq, deadline_ns);

    w->called = false;
    spin_unlock(&line.lock, irq);
    return err;
}
