/*
 * Pages that a set of the chooser has lost though the page access buffer keeps them, in the order
 * in which they are to be looked at. Internal to chooser*.c.
 *
 * A page is looked at LOST_FOR accesses after it was lost. Each look that finds it unused doubles
 * the wait, up to LOST_TURNS - 1 times.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    LOST_MAX = 1024, /* pages remembered; further ones are not looked at */
    LOST_FOR = 4,    /* accesses to the first look */
    LOST_TURNS = 4,  /* queues, each with twice the wait of the one before */
};

struct lost_page {
    uint32_t node;
    uint32_t put;  /* access at which it was queued */
    uint32_t next; /* in its queue or among the free ones; LOST_MAX: none */
};

struct lost_queue {
    uint32_t first, last; /* LOST_MAX: empty */
};

struct lost_pages {
    uint32_t now;  /* accesses so far */
    uint32_t free; /* first free entry, or LOST_MAX */
    /* the entry that is being looked at, and the queue that it came from */
    uint32_t looked_at, looked_turn;
    struct lost_queue waiting[LOST_TURNS]; /* by number of looks, each oldest first */
    struct lost_page page[LOST_MAX];
};

void lost_init(struct lost_pages *l);
/* Queues `node` for its first look. Returns false if LOST_MAX pages are queued. */
bool lost_add(struct lost_pages *l, uint32_t node);
/* Takes a page out of its queue if its look is due. Returns false if there is none. lost_again() or
 * lost_done() follows before the next call. */
bool lost_take_due(struct lost_pages *l, uint32_t *node);
/* The page that was taken is queued for another look, or is not looked at any more. */
void lost_again(struct lost_pages *l);
void lost_done(struct lost_pages *l);
