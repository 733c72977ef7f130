/* See chooser_lost.h. */
#include "mm/policy/replace/chooser_lost.h"

void lost_init(struct lost_pages *l)
{
    *l = (struct lost_pages){.free = 0};
    for (uint32_t i = 0; i < LOST_MAX; i++)
        l->page[i].next = i + 1;
    for (uint32_t i = 0; i < LOST_TURNS; i++)
        l->waiting[i].first = LOST_MAX;
}

static void push_entry(struct lost_pages *l, uint32_t at, uint32_t turn)
{
    struct lost_queue *q = &l->waiting[turn];

    l->page[at].put = l->now;
    l->page[at].next = LOST_MAX;
    if (q->first == LOST_MAX)
        q->first = at;
    else
        l->page[q->last].next = at;
    q->last = at;
}

bool lost_add(struct lost_pages *l, uint32_t node)
{
    uint32_t at = l->free;

    if (at == LOST_MAX)
        return false;
    l->free = l->page[at].next;
    l->page[at].node = node;
    push_entry(l, at, 0);
    return true;
}

bool lost_take_due(struct lost_pages *l, uint32_t *node)
{
    for (uint32_t turn = 0; turn < LOST_TURNS; turn++) {
        uint32_t at = l->waiting[turn].first;
        if (at == LOST_MAX || l->now - l->page[at].put < (uint32_t)LOST_FOR << turn)
            continue;
        l->waiting[turn].first = l->page[at].next;
        l->looked_at = at;
        l->looked_turn = turn;
        *node = l->page[at].node;
        return true;
    }
    return false;
}

void lost_again(struct lost_pages *l)
{
    push_entry(l, l->looked_at, MIN(l->looked_turn + 1, LOST_TURNS - 1u));
}

void lost_done(struct lost_pages *l)
{
    l->page[l->looked_at].next = l->free;
    l->free = l->looked_at;
}
