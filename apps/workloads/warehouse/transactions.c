/*
 * The five transactions. Each takes its locks one after the other, never two at a time, so there is
 * no lock order to keep. A reader may see the states in between; all sums are right once a
 * transaction is over.
 *
 * Mix and shapes after TPC-C, rev. 5.11: clause 2.4 (new order), 2.5 (payment), 2.6 (order status),
 * 2.7 (delivery), 2.8 (stock level), 2.1.6 (skewed choice of customers and items), 5.2.3 (mix).
 */
#include "apps/workloads/warehouse/company.h"

enum {
    QUANTITY_MAX = 10,
    RESTOCK_BELOW = 10,
    RESTOCK_UNITS = 91,
    UNKNOWN_ITEM_PERCENT = 1,
    BY_NAME_PERCENT = 60,
    SAME_NAME_MAX = 16, /* customers of one name that are considered */
    RECENT_ORDERS = 20,
    ARCHIVE_MAX =
        /* Orders archived by one delivery: more than are added for it, so that the book shrinks. */
    2,
    PAYMENT_MIN = 100,
    PAYMENT_MAX = 500000,
};

/* Cards of each transaction in a deck of DECK. */
static const uint8_t mix[TRANSACTIONS] = {
    [NEW_ORDER] = 45, [PAYMENT] = 43, [ORDER_STATUS] = 4, [DELIVERY] = 4, [STOCK_LEVEL] = 4};

static struct warehouse *own(const struct terminal *terminal)
{
    return &terminal->company->warehouse[terminal->warehouse];
}

/* Returns a number from 0 to bound - 1; some are much more frequent. The mask is a power of two
 * less one, below bound. */
static uint32_t skewed(struct prng *prng, uint32_t bound)
{
    uint32_t mask = 1;

    while (mask * 8 < bound)
        mask = mask * 2 + 1;
    return (prng_below(prng, mask + 1) | prng_below(prng, bound)) % bound;
}

/* Chooses by number, or by name: then the middle one of all customers of that name. */
static struct customer *choose_customer(struct terminal *terminal, unsigned district)
{
    const struct sizes *sizes = &terminal->company->sizes;
    struct warehouse *warehouse = own(terminal);
    struct customer *found[SAME_NAME_MAX];
    struct btree_cursor cursor;
    unsigned count = 0;
    uint32_t name;

    if (prng_below(&terminal->prng, 100) >= BY_NAME_PERCENT)
        return btree_find(&warehouse->customers,
                          customer_key(district, 1 + skewed(&terminal->prng, sizes->customers)));
    name = skewed(&terminal->prng, sizes->names);
    bool more = btree_seek(&warehouse->by_name, name_key(district, name, 0), &cursor);
    while (more && count < SAME_NAME_MAX && btree_key(&cursor) < name_key(district, name + 1, 0)) {
        found[count++] = btree_value(&cursor);
        more = btree_next(&cursor);
    }
    return found[count / 2];
}

static unsigned choose_supplier(struct terminal *terminal)
{
    const struct sizes *sizes = &terminal->company->sizes;
    unsigned other;

    if (sizes->warehouses == 1 || prng_below(&terminal->prng, 100) >= sizes->remote_percent)
        return terminal->warehouse;
    other = prng_below(&terminal->prng, sizes->warehouses - 1);
    return other < terminal->warehouse ? other : other + 1;
}

/* Draws the lines of an order and prices them. Returns false if an item does not exist. */
static bool draw_lines(struct terminal *terminal, struct order_line *lines, unsigned count)
{
    const struct company *company = terminal->company;
    bool has_unknown = prng_below(&terminal->prng, 100) < UNKNOWN_ITEM_PERCENT;

    for (unsigned l = 0; l < count; l++) {
        uint32_t id = skewed(&terminal->prng, company->sizes.items);
        if (has_unknown && l == count - 1)
            id = company->sizes.items;
        const struct item *item = btree_find(&company->items, id);
        if (!item)
            return false;
        uint32_t quantity = 1 + prng_below(&terminal->prng, QUANTITY_MAX);
        lines[l] = (struct order_line){.item = id,
                                       .amount = (uint32_t)(quantity * item->price),
                                       .supplier = (uint16_t)choose_supplier(terminal),
                                       .quantity = (uint16_t)quantity};
    }
    return true;
}

static void take_from_stock(struct company *company, const struct order_line *line)
{
    struct stock *stock = btree_find(&company->warehouse[line->supplier].stock, line->item);

    pthread_mutex_lock(&stock->lock);
    int32_t left = stock->quantity - line->quantity;
    if (left < RESTOCK_BELOW) {
        left += RESTOCK_UNITS;
        stock->restocked += RESTOCK_UNITS;
    }
    stock->quantity = left;
    stock->sold += line->quantity;
    stock->orders++;
    pthread_mutex_unlock(&stock->lock);
}

static void new_order(struct terminal *terminal)
{
    struct district *district = &own(terminal)->district[prng_below(&terminal->prng, DISTRICTS)];
    unsigned number = (unsigned)(district - own(terminal)->district);
    struct customer *customer = choose_customer(terminal, number);
    unsigned count = LINES_MIN + prng_below(&terminal->prng, LINES_MAX - LINES_MIN + 1);
    struct order_line lines[LINES_MAX];

    if (!draw_lines(terminal, lines, count)) {
        terminal->rolled_back++;
        return;
    }
    for (unsigned l = 0; l < count; l++)
        take_from_stock(terminal->company, &lines[l]);

    pthread_mutex_lock(&district->lock);
    const struct order *order = order_book_add(district, customer->id, lines, count);
    uint64_t id = order->id;
    int64_t amount = order->amount;
    pthread_mutex_unlock(&district->lock);

    pthread_mutex_lock(&customer->lock);
    if (id > customer->last_order)
        customer->last_order = id;
    pthread_mutex_unlock(&customer->lock);
    terminal->totals.orders++;
    terminal->totals.ordered += amount;
}

static void record_payment(struct warehouse *warehouse, const struct payment *payment)
{
    struct payment *slot;

    pthread_mutex_lock(&warehouse->lock);
    slot = &warehouse->history[warehouse->payments++ % PAYMENTS_KEPT];
    warehouse->archived_received += slot->amount;
    *slot = *payment;
    warehouse->received += payment->amount;
    pthread_mutex_unlock(&warehouse->lock);
}

static void payment(struct terminal *terminal)
{
    struct warehouse *warehouse = own(terminal);
    unsigned number = prng_below(&terminal->prng, DISTRICTS);
    struct district *district = &warehouse->district[number];
    struct customer *customer = choose_customer(terminal, number);
    int64_t amount = PAYMENT_MIN + prng_below(&terminal->prng, PAYMENT_MAX - PAYMENT_MIN);

    pthread_mutex_lock(&customer->lock);
    customer->owed -= amount;
    customer->paid += amount;
    customer->payments++;
    pthread_mutex_unlock(&customer->lock);

    pthread_mutex_lock(&district->lock);
    district->received += amount;
    pthread_mutex_unlock(&district->lock);

    record_payment(warehouse, &(struct payment){
                                  .amount = amount, .customer = customer->id, .district = number});
    terminal->totals.payments++;
    terminal->totals.received += amount;
}

static void order_status(struct terminal *terminal)
{
    unsigned number = prng_below(&terminal->prng, DISTRICTS);
    struct district *district = &own(terminal)->district[number];
    struct customer *customer = choose_customer(terminal, number);
    int64_t amount = 0;

    pthread_mutex_lock(&customer->lock);
    uint64_t id = customer->last_order;
    amount += customer->owed;
    pthread_mutex_unlock(&customer->lock);

    pthread_mutex_lock(&district->lock);
    const struct order *order = id ? btree_find(&district->orders, id) : NULL;
    for (unsigned l = 0; order && l < order->line_count; l++)
        amount += order->line[l].amount;
    pthread_mutex_unlock(&district->lock);
    terminal->seen_amount += amount;
}

/* Delivers the district's oldest order, if there is one. */
static void deliver_one(struct terminal *terminal, unsigned number)
{
    struct warehouse *warehouse = own(terminal);
    struct district *district = &warehouse->district[number];
    struct btree_cursor oldest;
    struct customer *customer;
    uint32_t customer_id = 0;
    int64_t amount = 0;

    pthread_mutex_lock(&district->lock);
    if (btree_seek(&district->undelivered, 0, &oldest)) {
        struct order *order = btree_value(&oldest);
        customer_id = order->customer;
        amount = order->amount;
        order_book_deliver(district, order);
        order_book_trim(district, terminal->company->sizes.orders, ARCHIVE_MAX);
    }
    pthread_mutex_unlock(&district->lock);
    if (!customer_id)
        return;

    customer = btree_find(&warehouse->customers, customer_key(number, customer_id));
    pthread_mutex_lock(&customer->lock);
    customer->owed += amount;
    customer->deliveries++;
    pthread_mutex_unlock(&customer->lock);
}

static void delivery(struct terminal *terminal)
{
    for (unsigned d = 0; d < DISTRICTS; d++)
        deliver_one(terminal, d);
}

/* Lists the items of a district's newest orders. Returns their number, with repetitions. */
static unsigned recent_items(struct district *district, uint32_t *items)
{
    struct btree_cursor cursor;
    unsigned count = 0;

    pthread_mutex_lock(&district->lock);
    uint64_t from = district->next_order > RECENT_ORDERS ? district->next_order - RECENT_ORDERS : 0;
    for (bool more = btree_seek(&district->orders, from, &cursor); more;
         more = btree_next(&cursor)) {
        const struct order *order = btree_value(&cursor);
        for (unsigned l = 0; l < order->line_count; l++)
            items[count++] = order->line[l].item;
    }
    pthread_mutex_unlock(&district->lock);
    return count;
}

static void stock_level(struct terminal *terminal)
{
    struct warehouse *warehouse = own(terminal);
    int32_t threshold = (int32_t)(10 + prng_below(&terminal->prng, 11));
    uint32_t items[RECENT_ORDERS * LINES_MAX];
    unsigned count =
        recent_items(&warehouse->district[prng_below(&terminal->prng, DISTRICTS)], items);

    for (unsigned i = 0; i < count; i++) {
        const struct stock *stock = btree_find(&warehouse->stock, items[i]);
        terminal->low_stock +=
            atomic_load_explicit(&stock->quantity, memory_order_relaxed) < threshold;
    }
}

static void shuffle_deck(struct terminal *terminal)
{
    for (unsigned left = DECK; left > 1; left--) {
        unsigned pick = prng_below(&terminal->prng, left);
        uint8_t last = terminal->deck[left - 1];
        terminal->deck[left - 1] = terminal->deck[pick];
        terminal->deck[pick] = last;
    }
    terminal->card = 0;
}

void terminal_init(struct terminal *terminal, struct company *company, unsigned warehouse,
                   struct prng prng)
{
    unsigned card = 0;

    *terminal = (struct terminal){.company = company, .warehouse = warehouse, .prng = prng};
    for (unsigned kind = 0; kind < TRANSACTIONS; kind++) {
        for (unsigned i = 0; i < mix[kind]; i++)
            terminal->deck[card++] = (uint8_t)kind;
    }
    shuffle_deck(terminal);
}

void terminal_settle(struct terminal *terminal)
{
    struct company *company = terminal->company;

    pthread_mutex_lock(&company->lock);
    company->totals.orders += terminal->totals.orders;
    company->totals.payments += terminal->totals.payments;
    company->totals.ordered += terminal->totals.ordered;
    company->totals.received += terminal->totals.received;
    pthread_mutex_unlock(&company->lock);
    terminal->totals = (struct totals){0};
    terminal->since_totals = 0;
}

void terminal_step(struct terminal *terminal)
{
    static void (*const run[TRANSACTIONS])(struct terminal *) = {[NEW_ORDER] = new_order,
                                                                 [PAYMENT] = payment,
                                                                 [ORDER_STATUS] = order_status,
                                                                 [DELIVERY] = delivery,
                                                                 [STOCK_LEVEL] = stock_level};
    unsigned kind;

    if (terminal->card == DECK)
        shuffle_deck(terminal);
    kind = terminal->deck[terminal->card++];
    run[kind](terminal);
    terminal->done[kind]++;
    if (++terminal->since_totals == TOTALS_EVERY)
        terminal_settle(terminal);
}
