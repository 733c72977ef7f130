/*
 * Auction sites in memory, after the database of RUBiS as [Azimi 2007, 3.4.2] ran it: several in
 * one process, each with its own tables, and a thread for each connection, which belongs to one
 * site for its life. So the threads of a site share its tables with one another, and nothing with
 * other threads.
 *
 * Locks, as of a database that locks tables, taken in this order, each letter naming the lock that
 * guards a member; (-) is constant while threads run:
 *   items    (i) items, and their order by category
 *   bids     (b)
 *   people   (p) sellers and bidders
 *
 * Money is in cents. site_check() says what is conserved.
 */
#pragma once
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/btree.h"
#include "apps/common/prng.h"

enum {
    SITES_MAX = 8,
    CATEGORIES = 20,
    ROWS = 10,        /* at most, in a reply */
    BIDS_KEPT = 20,   /* of an item: the newest */
    LOOKED_AT = 8,    /* items that a person has bid for, the newest */
    QUANTITY_MAX = 5, /* of an item when it is listed */
};

/* What is asked of a site. The first five change nothing. */
enum request_kind {
    SEARCH,
    VIEW_ITEM,
    VIEW_PERSON,
    VIEW_BIDS,
    ABOUT_ME,
    BID,
    BUY,
    COMMENT,
    SELL,
    REGISTER,
    KINDS
};
extern const char *const request_names[];

/* What goes to the server. A connection begins with one of kind KINDS, whose `target` is its site.
 */
struct request {
    uint32_t kind;
    uint32_t person;
    uint32_t
        target;    /* an item; of SEARCH and SELL a category; of COMMENT and VIEW_PERSON a person */
    uint32_t from; /* of SEARCH: the least item; of COMMENT: the rating, 0 to 10 */
    int64_t amount; /* of BID: above the highest so far, cents; of SELL: the first price */
};

/* An item or a bid in a reply. */
struct reply_row {
    uint32_t item, person;
    int64_t amount;
};

/* What comes back. */
struct reply {
    int32_t status; /* 0, or -1: there is no such thing any more */
    uint32_t rows;
    int64_t
        value; /* of BID: the highest bid; of VIEW_PERSON: the rating; of REGISTER: the person */
    struct reply_row row[ROWS];
};

struct item {
    alignas(ARENA_LINE) uint32_t id; /* (i) all */
    uint32_t category, seller, quantity;
    uint32_t bids;    /* so far */
    uint32_t highest; /* the bidder; 0: none */
    int64_t price;    /* the first one, then the highest bid */
    int64_t first_price;
    struct item *next_free;
};

struct bid {
    uint32_t item, person; /* (b) all */
    int64_t amount;
    struct bid *next_free;
};

struct person {
    alignas(ARENA_LINE) uint32_t id;
    uint32_t bids, bought, sold, comments; /* (p) */
    int64_t rating;                        /* (p) the sum of what others gave */
    uint32_t looked_at[LOOKED_AT];         /* (p) a ring by `bids` */
};

struct site {
    alignas(ARENA_LINE) pthread_mutex_t items_lock;
    struct btree items;       /* (i) by number */
    struct btree by_category; /* (i) those that can be bought, by category_key */
    struct item *free_items;  /* (i) */
    struct arena items_arena; /* (i) */
    uint32_t last_item;       /* (i) number */
    uint64_t listed;          /* (i) units in all items ever */
    uint64_t units_ended;     /* (i) unsold, of items that are gone */
    uint64_t bids_ended;      /* (i) for items that are gone */
    alignas(ARENA_LINE) pthread_mutex_t bids_lock;
    struct btree bids;       /* (b) by bid_key */
    struct bid *free_bids;   /* (b) */
    struct arena bids_arena; /* (b) */
    uint64_t bids_made;      /* (b) */
    alignas(ARENA_LINE) pthread_mutex_t people_lock;
    struct btree people;       /* (p) by number */
    struct arena people_arena; /* (p) */
    uint32_t last_person;      /* (p) */
    uint64_t rated;            /* (p) the sum of all ratings */
    unsigned keeps;            /* (-) items; when one more is listed the oldest ends */
};

/* Makes a site with this many items and people, which follow from the seed. */
void site_init(struct site *s, unsigned items, unsigned people, uint64_t seed);
void site_free(struct site *s);
/* Does what is asked, and fills in the reply. */
void site_answer(struct site *s, const struct request *request, struct reply *reply);
/* Returns NULL, or the name of the first broken law. No request is being answered. */
const char *site_check(struct site *s);

/* The next request of a person, of RUBiS' mix for bidders: 85 of 100 change nothing. `last`: the
 * reply to the person's last one. `items`: about how many there are. */
void request_draw(struct prng *prng, const struct reply *last, unsigned items, unsigned people,
                  uint32_t person, struct request *out);
/* Returns NULL, or what is wrong with a reply, one word. */
const char *reply_check(const struct request *request, const struct reply *reply);

static inline uint64_t category_key(uint32_t category, uint32_t item)
{
    return (uint64_t)category << 32 | item;
}

static inline uint64_t bid_key(uint32_t item, uint32_t number)
{
    return (uint64_t)item << 32 | number;
}
