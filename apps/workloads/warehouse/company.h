/*
 * A wholesale company in memory, after SPECjbb2000 and TPC-C: warehouses with ten districts each,
 * their customers, stock and orders in B-trees, and five transactions on them.
 *
 * Locks, as in the original fine ones, held for a few hundred instructions and never two at a time:
 *   row       a customer, a stock row, each by a mutex of its own
 *   district  its order book: numbers, orders, the queue of undelivered ones, and their memory
 *   warehouse its cash and the history of payments
 *   company   the totals, which every thread adds to once in TOTALS_EVERY transactions
 * A letter at a field says which one guards it: (r) (d) (w) (c); (-) constant once loaded.
 *
 * Money is in cents. Nothing is lost or made up: company_check says what is conserved.
 */
#pragma once
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/prng.h"
#include "apps/workloads/warehouse/btree.h"

enum {
    DISTRICTS = 10,
    LINES_MIN = 5,
    LINES_MAX = 15,
    WAREHOUSES_MAX = 64,
    PAYMENTS_KEPT = 1024,
    TOTALS_EVERY = 32,
    DECK = 100,
};

/* How much data there is; see company_sizes. */
struct sizes {
    uint32_t warehouses;
    uint32_t items;          /* and rows of stock of every warehouse */
    uint32_t customers;      /* of a district */
    uint32_t orders;         /* of a district, kept; also loaded */
    uint32_t names;          /* that the customers of a district share */
    uint32_t remote_percent; /* order lines another warehouse supplies */
};

struct item {
    int64_t price; /* (-) */
};

struct stock {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    _Atomic int32_t quantity; /* (r), read without it by stock_level */
    uint32_t orders;          /* (r) lines supplied */
    uint64_t sold;            /* (r) units, by all orders */
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
    uint64_t last_order; /* (r) newest order, 0: none */
};

struct order_line {
    uint32_t item;
    uint32_t amount;
    uint16_t supplier; /* warehouse */
    uint16_t quantity;
};

/* All of it (d), and constant after creation but for delivered. */
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
    uint64_t next_order;       /* (d) id, from 1 */
    int64_t received;          /* (d) payments */
    int64_t delivered_amount;  /* (d) of all orders ever delivered */
    struct btree orders;       /* (d) by id; the oldest leave when there are too many */
    struct btree undelivered;  /* (d) the same orders, until delivery */
    struct order *free_orders; /* (d) */
    struct arena arena;        /* (d) of the above */
    uint64_t archived_orders;  /* (d) those that left, always the ones with lowest ids */
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
    /* (w) how many; the newest PAYMENTS_KEPT are in history */
    uint64_t payments;
    int64_t archived_received;             /* (w) what has left the history */
    struct payment history[PAYMENTS_KEPT]; /* (w) a ring */
};

/* What transactions add up to. */
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

/* One terminal: whoever runs transactions against one warehouse. Belongs to one thread. */
struct terminal {
    alignas(ARENA_LINE) struct company *company;
    unsigned warehouse;
    struct prng prng;
    struct totals totals; /* not yet added to the company's */
    unsigned since_totals;
    uint8_t deck[DECK]; /* the next transactions, in the mix 45 : 43 : 4 : 4 : 4 */
    unsigned card;
    uint64_t done[TRANSACTIONS];
    uint64_t rolled_back; /* new orders for an item that does not exist */
    /* found by stock level, and what order status saw: keeps the reads alive */
    uint64_t low_stock;
    int64_t seen_amount;
};

/* Sizes for about 25 MB a warehouse times percent / 100. */
struct sizes company_sizes(unsigned warehouses, unsigned percent, unsigned remote_percent);

/* The company without its warehouses' contents. */
void company_init(struct company *company, const struct sizes *sizes);
void company_free(struct company *company);

/* Fills one warehouse; different ones may be loaded at the same time. */
void warehouse_load(struct company *company, unsigned index, uint64_t seed);

void terminal_init(struct terminal *terminal, struct company *company, unsigned warehouse,
                   struct prng prng);

/* Runs the next transaction of the deck. */
void terminal_step(struct terminal *terminal);

/* Adds to the company's totals what has not been added yet. */
void terminal_settle(struct terminal *terminal);

/*
 * NULL, or the name of the first law that does not hold. When no transaction is running and every
 * terminal has settled.
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

/* The order book; the district's lock is held, or the district is being loaded. */

/* A new order with the next id, not yet delivered. */
struct order *order_book_add(struct district *district, uint32_t customer,
                             const struct order_line *lines, unsigned line_count);

/* Marks the order delivered and takes it off the queue. */
void order_book_deliver(struct district *district, struct order *order);

/* Archives delivered orders, the oldest first and at most max of them, while the book holds more
 * than keep.
 */
void order_book_trim(struct district *district, size_t keep, unsigned max);
