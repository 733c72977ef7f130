/* See number.h. */
#include "kernel/core/number.h"

#define LOOKS 64 /* numbers tried at a time with interrupts off */

uint64_t numbers_first = 1;

static struct number **bucket_of(struct numbers *kind, uint32_t value)
{
    return &kind->bucket[value % NUMBER_BUCKETS];
}

static bool in_use_locked(struct numbers *kind, uint32_t value)
{
    const struct number *n = *bucket_of(kind, value);

    while (n && n->value != value)
        n = n->next;
    return n;
}

static uint32_t next_locked(const struct numbers *kind)
{
    if (!kind->last)
        return (uint32_t)numbers_first;
    return kind->last < kind->max ? kind->last + 1 : 1;
}

static void put_locked(struct numbers *kind, struct number *n, uint32_t value)
{
    struct number **bucket = bucket_of(kind, value);

    n->value = value;
    n->next = *bucket;
    *bucket = n;
}

static void drop_locked(struct numbers *kind, struct number *n)
{
    struct number **at = bucket_of(kind, n->value);

    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    n->value = 0;
}

uint32_t number_take(struct numbers *kind, struct number *n)
{
    uint32_t value;

    do {
        bool irq = spin_lock(&kind->lock);
        for (unsigned i = 0; i < LOOKS && !n->value; i++) {
            kind->last = next_locked(kind);
            if (!in_use_locked(kind, kind->last))
                put_locked(kind, n, kind->last);
        }
        value = n->value;
        spin_unlock(&kind->lock, irq);
    } while (!value);
    return value;
}

bool number_move(struct numbers *kind, struct number *to, struct number *from)
{
    bool irq = spin_lock(&kind->lock);
    uint32_t value = from->value;

    ASSERT(!to->value);
    if (value) {
        drop_locked(kind, from);
        put_locked(kind, to, value);
    }
    spin_unlock(&kind->lock, irq);
    return value;
}

void number_give(struct numbers *kind, struct number *n)
{
    bool irq = spin_lock(&kind->lock);

    if (n->value)
        drop_locked(kind, n);
    spin_unlock(&kind->lock, irq);
}

uint32_t number_of(struct numbers *kind, const struct number *n)
{
    bool irq = spin_lock(&kind->lock);
    uint32_t value = n->value;

    spin_unlock(&kind->lock, irq);
    return value;
}
