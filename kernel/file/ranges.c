/* See ranges.h. */
#include "kernel/file/ranges.h"

const struct range_lock *ranges_conflict(const struct range_lock *list,
                                         const struct range_lock *want)
{
    const struct range_lock *found = NULL;

    for (const struct range_lock *l = list; l; l = l->next)
        if (l->owner != want->owner && l->first <= want->last && l->last >= want->first &&
            (l->exclusive || want->exclusive) && (!found || l->first < found->first))
            found = l;
    return found;
}

static void push(struct range_lock **to, struct range_lock *l)
{
    l->next = *to;
    *to = l;
}

static struct range_lock *pop(struct range_lock **from)
{
    struct range_lock *l = *from;

    ASSERT(l);
    *from = l->next;
    return l;
}

/* Takes the bytes of `want` out of a lock of its owner, which overlaps it, at *at. Returns where
 * the list goes on. */
static struct range_lock **cut(struct range_lock **at, const struct range_lock *want,
                               struct range_lock **spare)
{
    struct range_lock *l = *at;

    if (l->first < want->first && l->last > want->last) {
        struct range_lock *rest = pop(spare);
        *rest = *l; /* stands behind l */
        rest->first = want->last + 1;
        l->last = want->first - 1;
        l->next = rest;
        return &rest->next;
    }
    if (l->first < want->first) {
        l->last = want->first - 1;
    } else if (l->last > want->last) {
        l->first = want->last + 1;
    } else {
        *at = l->next;
        push(spare, l);
        return at;
    }
    return &l->next;
}

static bool joins(const struct range_lock *a, const struct range_lock *b)
{
    return a->owner == b->owner && a->exclusive == b->exclusive && a->last + 1 == b->first;
}

/* Joins the lock with the one behind it, if they are one. */
static void join(struct range_lock *l, struct range_lock **spare)
{
    struct range_lock *next = l->next;

    if (!next || !joins(l, next))
        return;
    l->last = next->last;
    l->next = next->next;
    push(spare, next);
}

void ranges_set(struct range_lock **list, const struct range_lock *want, bool locks,
                struct range_lock **spare)
{
    struct range_lock **at = list, *before = NULL;

    while (*at)
        at = (*at)->owner == want->owner && (*at)->first <= want->last && (*at)->last >= want->first
                 ? cut(at, want, spare)
                 : &(*at)->next;
    if (!locks)
        return;
    for (at = list; *at && ((uintptr_t)(*at)->owner < (uintptr_t)want->owner ||
                            ((*at)->owner == want->owner && (*at)->first < want->first));
         at = &(*at)->next)
        before = *at;
    struct range_lock *l = pop(spare);
    *l = *want;
    push(at, l);
    join(l, spare);
    if (before)
        join(before, spare);
}

bool ranges_drop(struct range_lock **list, const void *owner, struct range_lock **spare)
{
    struct range_lock *l;
    bool any = false;

    while ((l = *list)) {
        if (l->owner != owner) {
            list = &l->next;
            continue;
        }
        *list = l->next;
        push(spare, l);
        any = true;
    }
    return any;
}
