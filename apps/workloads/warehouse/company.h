/*
 * A wholesale company in memory, after SPECjbb2000 and TPC-C: warehouses with ten districts each,
 * their customers, stock and orders in B-trees, and five transactions on them.
 *
 * Locks, as in the original fine ones, held for a few hundred instructions and never two at a time:
 *   row        a customer or a stock row, by a mutex of its own
 *   district   its order book: numbers, orders, the queue of undelivered ones, and their memory
 *   warehouse  its cash and the history of payments
 *   company    the totals; every thread adds to them once in TOTALS_EVERY transactions
 * A letter at a member names its lock: (r) (d) (w) (c); (-) is constant once loaded.
 *
 * Money is in cents. company_check() says what is conserved.
 */
#pragma once
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/prng.h"
#include "apps/common/btree.h"

enum {
    DISTRICTS = 10,
    LINES_MIN = 5,
    LINES_MAX = 15,
    WAREHOUSES_MAX = 64,
    PAYMENTS_KEPT = 1024,
    TOTALS_EVERY = 32,
    DECK = 100,
};

/* The amount of data; see company_sizes(). */
struct sizes {
    uint32_t warehouses;
    uint32_t items;          /* and rows of stock of every warehouse */
    uint32_t customers;      /* of a district */
    uint32_t orders;         /* of a district: kept, and loaded */
    uint32_t names;          /* shared by the customers of a district */
    uint32_t remote_percent; /* order lines supplied by another warehouse */
};

struct item {
    int64_t price; /* (-) */
};

struct stock {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    _Atomic int32_t quantity; /* (r); stock_level reads it without the lock */
    uint32_t orders;          /* (r) lines supplied */
    uint64_t sold;            /* (r) units, in all orders */
    uint64_t restocked;       /* (r) units */
    int64_t initial;          /* (-) units: quantity = initial + restocked - sold */
};

struct customer {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    uint32_t id;         /* (-) 1..customers */
    uint32_t name;       /* (-) 0..names-1 */
    int64_t owed;        /* (r) delivered - paid */
    int64_t paid;        /* (r) */
    uint32_t payments;   /* (r) */
    uint32_t deliveries; /* (r) */
    uint64_t last_order; /* (r) newest order; 0: none */
};

struct order_line {
    uint32_t item;
    uint32_t amount;
    uint16_t supplier; /* a warehouse */
    uint16_t quantity;
};

/* All members (d), and constant after creation except `delivered`. */
struct order {
    uint64_t id;
    struct order *next_free;
    int64_t amount; /* of all lines */
    uint32_t customer;
    uint16_t line_count;
    bool delivered;
    struct order_line line[LINES_MAX];
};

struct district {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    uint64_t next_order;       /* (d) id; ids start at 1 */
    int64_t received;          /* (d) payments */
    int64_t delivered_amount;  /* (d) of all orders ever delivered */
    struct btree orders;       /* (d) by id; the oldest are archived when there are too many */
    struct btree undelivered;  /* (d) the same orders until delivery */
    struct order *free_orders; /* (d) */
    struct arena arena;        /* (d) of the members above */
    uint64_t archived_orders;  /* (d) always those with the lowest ids */
    int64_t archived_amount;   /* (d) */
    uint64_t *archived_units;  /* (d) by supplier */
};

struct payment {
    int64_t amount;
    uint32_t customer;
    uint32_t district;
};

struct warehouse {
    struct arena arena;
    struct btree customers; /* (-) the tree, by customer_key */
    struct btree by_name;   /* (-) the same customers, by name_key */
    struct btree stock;     /* (-) the tree, by item */
    uint64_t loaded_orders; /* (-) */
    int64_t loaded_amount;  /* (-) of these orders */
    struct district district[DISTRICTS];

    alignas(ARENA_LINE) pthread_mutex_t lock;
    int64_t received; /* (w) payments */
    /* (w) Number of payments. The newest PAYMENTS_KEPT are in history. */
    uint64_t payments;
    int64_t archived_received;             /* (w) of payments no longer in the history */
    struct payment history[PAYMENTS_KEPT]; /* (w) a ring */
};

/* Sums of transactions. */
struct totals {
    uint64_t orders;
    uint64_t payments;
    int64_t ordered;
    int64_t received;
};

struct company {
    struct sizes sizes;          /* (-) */
    struct arena arena;          /* (-) */
    struct btree items;          /* (-) */
    struct warehouse *warehouse; /* (-) array */

    alignas(ARENA_LINE) pthread_mutex_t lock;
    struct totals totals; /* (c) */
};

enum transaction { NEW_ORDER, PAYMENT, ORDER_STATUS, DELIVERY, STOCK_LEVEL, TRANSACTIONS };

/* A terminal: runs transactions against one warehouse. Belongs to one thread. */
struct terminal {
    alignas(ARENA_LINE) struct company *company;
    unsigned warehouse;
    struct prng prng;
    struct totals totals; /* not yet added to the company's */
    unsigned since_totals;
    uint8_t deck[DECK]; /* the next transactions, in the mix 45 : 43 : 4 : 4 : 4 */
    unsigned card;
    uint64_t done[TRANSACTIONS];
    uint64_t rolled_back; /* new orders with an item that does not exist */
    /* Results of stock level and order status: they keep the reads alive. */
    uint64_t low_stock;
    int64_t seen_amount;
};

/* Returns sizes for about 25 MB a warehouse, times percent / 100. */
struct sizes company_sizes(unsigned warehouses, unsigned percent, unsigned remote_percent);

/* Makes the company without its warehouses' contents. */
void company_init(struct company *company, const struct sizes *sizes);
void company_free(struct company *company);

/* Fills one warehouse. Different ones may be filled at the same time. */
void warehouse_load(struct company *company, unsigned index, uint64_t seed);

void terminal_init(struct terminal *terminal, struct company *company, unsigned warehouse,
                   struct prng prng);

/* Runs the next transaction of the deck. */
void terminal_step(struct terminal *terminal);

/* Adds the terminal's totals to the company's. */
void terminal_settle(struct terminal *terminal);

/*
 * Returns NULL, or the name of the first broken law. No transaction is running, and every terminal
 * has settled.
 */
const char *company_check(const struct company *company);

static inline uint64_t customer_key(unsigned district, uint32_t customer)
{
    return (uint64_t)district << 32 | customer;
}

static inline uint64_t name_key(unsigned district, uint32_t name, uint32_t customer)
{
    return (uint64_t)district << 56 | (uint64_t)name << 32 | customer;
}

/* The order book. The district's lock is held, or the district is being loaded. */

/* Adds an order with the next id, not yet delivered. */
struct order *order_book_add(struct district *district, uint32_t customer,
                             const struct order_line *lines, unsigned line_count);

/* Marks the order delivered and removes it from the queue. */
void order_book_deliver(struct district *district, struct order *order);

/* Archives up to `max` delivered orders, the oldest first, while the book holds more than
 * `keep`. */
void order_book_trim(struct district *district, size_t keep, unsigned max);
