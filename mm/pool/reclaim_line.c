/* See reclaim_line.h. Locks: [L] = line.lock, under a pool's; [-] = fixed while in line. */
#include "mm/pool/reclaim_line.h"
#include "kernel/core/lock.h"

/* tickets that a thread called in vain is put before, at most */
#define LOOK_BACK 16

static struct {
    struct spinlock lock;
    struct list waiting; /* [L] threads in line, by ticket: in order of arrival */
    /* [L] Threads to be called next. `again`: those called in vain before, nearly by ticket; a call
     * only makes a thread look, its ticket says which frame it may have. `fresh`: those never
     * called, by ticket; all their tickets are higher. */
    struct list again, fresh;
    uint64_t tickets; /* [L] given out so far */
    uint64_t first;   /* [A] ticket of the first thread in line, written under [L] */
    uint32_t length;  /* [A] written under [L] */
} line = {.lock = SPINLOCK(LOCK_SWAP, "line"),
          .waiting = {&line.waiting, &line.waiting},
          .again = {&line.again, &line.again},
          .fresh = {&line.fresh, &line.fresh}};

static struct line_ticket *waiter_of(struct list *link)
{
    return container_of(link, struct line_ticket, link);
}

static struct line_ticket *to_call_of(struct list *call)
{
    return container_of(call, struct line_ticket, call);
}

static void update_counts_locked(int more)
{
    uint64_t first =
        list_empty(&line.waiting) ? line.tickets : waiter_of(line.waiting.next)->ticket;

    __atomic_store_n(&line.first, first, __ATOMIC_RELAXED);
    __atomic_store_n(&line.length, line.length + (uint32_t)more, __ATOMIC_RELAXED);
}

uint32_t line_length(void)
{
    return __atomic_load_n(&line.length, __ATOMIC_RELAXED);
}

uint32_t line_before(const struct line_ticket *w)
{
    return w->is_in_line ? (uint32_t)(w->ticket - __atomic_load_n(&line.first, __ATOMIC_RELAXED))
                         : line_length();
}

void line_join(struct line_ticket *w)
{
    if (w->is_in_line)
        return;
    wait_init(&w->wake);
    w->called = false;
    w->is_in_line = true;
    bool irq = spin_lock(&line.lock);
    w->ticket = line.tickets++;
    list_push_back(&line.waiting, &w->link);
    list_push_back(&line.fresh, &w->call);
    update_counts_locked(1);
    spin_unlock(&line.lock, irq);
}

void line_leave(struct line_ticket *w)
{
    if (!w->is_in_line)
        return;
    bool irq = spin_lock(&line.lock);
    list_remove(&w->link);
    list_remove(&w->call);
    update_counts_locked(-1);
    spin_unlock(&line.lock, irq);
    w->is_in_line = false;
    line_call(1); /* the frame it was called for may be for another thread */
}

void line_call(uint32_t frames)
{
    if (!line_length())
        return;
    bool irq = spin_lock(&line.lock);
    for (struct list *call;
         frames && (call = list_pop_front(&line.again) ?: list_pop_front(&line.fresh)); frames--) {
        to_call_of(call)->called = true;
        wait_wake(&to_call_of(call)->wake, 1);
    }
    spin_unlock(&line.lock, irq);
}

/* Lets w be called again: it was called and looked in vain, or is about to look. */
static void call_again_locked(struct line_ticket *w)
{
    struct list *at = &line.again;

    if (list_empty(at) || to_call_of(at->next)->ticket > w->ticket) {
        list_push_front(at, &w->call);
        return;
    }
    for (unsigned i = 0; i < LOOK_BACK && to_call_of(at->prev)->ticket > w->ticket; i++)
        at = at->prev;
    list_insert_before(at, &w->call);
}

int line_wait(struct line_ticket *w, uint64_t deadline_ns)
{
    bool irq = spin_lock(&line.lock);
    int err = w->called ? 0 : wait_sleep(&w->wake, &line.lock, &irq, deadline_ns);

    if (w->called)
        call_again_locked(w);
    w->called = false;
    spin_unlock(&line.lock, irq);
    return err;
}
