/*
 * What a page fault knows, and its try at the page under the space's lock (fault_try.c). What the
 * try lacks is got without any lock (fault.c); then there is another try.
 */
#pragma once
#include "mm/pool/prefetching.h"
#include "mm/pool.h"

/* Results of a try besides 0, the page is there, and errors. */
enum {
    NEEDS_FRAME = 1,
    NEEDS_ZEROS,
    NEEDS_NODES,
    NEEDS_READING,
    NEEDS_LIST,
    NEEDS_COPY,
    NEEDS_SHOOTDOWN,
    NEEDS_TURN,
    NEEDS_OBJECT,
    NEEDS_LEAVING,
    AGAIN
};

struct bring {
    struct space *space;
    struct pool *pool;
    vaddr_t va;
    enum fault_access access;
    bool any;      /* ignore the region's protection */
    paddr_t frame; /* charged and not yet a page's; 0: none */
    /* frame has the page's first contents: zeros, or those of the source */
    bool zeroed;
    struct page_source source; /* of the page's first contents */
    uint64_t source_page;
    uint64_t since_ns; /* time of the fault */
    uint64_t slow_ns;  /* the same if the fault waits for a read, else 0 */
    bool waits;        /* the pool counts this wait: pool_wait_begins_locked */
    bool trim;         /* the active set has become too large */
    uint32_t node;     /* of the page, if it is OUT, or NODE_NONE */
    uint32_t held;     /* a shared page that is to be copied, or NODE_NONE */
    bool copied;       /* frame has its contents */
    uint32_t slot;     /* of the page, to read it from */
    /* what else is to be read; NULL: not made yet */
    struct prefetch_list *list;
    /* list has what the program's advice asks for, not what the prefetch policy wants */
    bool advised;
    struct object *object; /* whose page is to be brought, referenced, and its number there */
    uint64_t object_page;
    uint32_t left; /* the node of an object's page that was taken out of the table */
    /* pages to read together from the source, from va on; 0: not known yet */
    unsigned readahead;
    struct read_on read_on; /* and others, which no thread waits for yet */
};

/* Tries to make the page usable. Returns 0 if it is; a NEEDS_; AGAIN; -EFAULT if it may not be used
 * so, -ENXIO behind the source's end, -ENOMEM. Thread context, no lock held; may block. */
int bring_try(struct bring *b);
/* Returns whether region r, or none, lets the fault use its pages. The regions are locked. */
bool bring_allowed(const struct region *r, const struct bring *b);
/* Waiting for a read begins at the fault: getting a frame to read into is a part of it. */
void bring_waits(struct bring *b);
/* Ends the wait that the pool counts; `came`: with the page. [P] held. */
void bring_end_waiting_locked(struct bring *b, uint64_t now_ns, bool came);
/* Lets go of the page that was to be copied. [P] held. */
void bring_let_go_locked(struct bring *b);
