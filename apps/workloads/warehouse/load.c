/*
 * Builds a company and fills its warehouses: with as many orders as a district keeps, seven in ten
 * of them delivered, over random customers and items. Loaded orders count as sold and owed, so that
 * every law of company_check() holds before the first transaction.
 */
#include "apps/workloads/warehouse/company.h"

enum {
    ITEMS_PER_PERCENT = 400,
    CUSTOMERS_PER_PERCENT = 30,
    ORDERS_PER_PERCENT = 50,
    CUSTOMERS_PER_NAME = 3,
    DELIVERED_IN_TEN = 7,
    PRICE_MIN = 100,
    PRICE_MAX = 10000,
    QUANTITY_MAX = 10,
    COMPANY_BLOCK = 1 << 18,
    DISTRICT_BLOCK = 1 << 16,
};

struct sizes company_sizes(unsigned warehouses, unsigned percent, unsigned remote_percent)
{
    return (struct sizes){.warehouses = warehouses,
                          .items = ITEMS_PER_PERCENT * percent,
                          .customers = CUSTOMERS_PER_PERCENT * percent,
                          .orders = ORDERS_PER_PERCENT * percent,
                          .names = CUSTOMERS_PER_PERCENT * percent / CUSTOMERS_PER_NAME,
                          .remote_percent = remote_percent};
}

void company_init(struct company *company, const struct sizes *sizes)
{
    struct prng prng = prng_seeded(sizes->items, 0);
    struct item *items;

    *company = (struct company){.sizes = *sizes, .arena = {.block_size = COMPANY_BLOCK}};
    pthread_mutex_init(&company->lock, NULL);
    btree_init(&company->items, &company->arena);
    items = arena_alloc(&company->arena, sizes->items * sizeof *items, ARENA_LINE);
    for (uint32_t i = 0; i < sizes->items; i++) {
        items[i].price = PRICE_MIN + prng_below(&prng, PRICE_MAX - PRICE_MIN);
        btree_insert(&company->items, i, &items[i]);
    }
    company->warehouse =
        arena_alloc(&company->arena, sizes->warehouses * sizeof *company->warehouse, ARENA_LINE);
}

void company_free(struct company *company)
{
    for (unsigned w = 0; w < company->sizes.warehouses; w++) {
        for (unsigned d = 0; d < DISTRICTS; d++)
            arena_free(&company->warehouse[w].district[d].arena);
        arena_free(&company->warehouse[w].arena);
    }
    arena_free(&company->arena);
}

static struct stock *load_stock(struct warehouse *warehouse, const struct sizes *sizes)
{
    struct stock *stock = arena_alloc(&warehouse->arena, sizes->items * sizeof *stock, ARENA_LINE);

    btree_init(&warehouse->stock, &warehouse->arena);
    for (uint32_t i = 0; i < sizes->items; i++) {
        pthread_mutex_init(&stock[i].lock, NULL);
        btree_insert(&warehouse->stock, i, &stock[i]);
    }
    return stock;
}

/* Quantities are set last, when the sum of the loaded orders is known. */
static void stock_up(struct stock *stock, uint32_t items, struct prng *prng)
{
    for (uint32_t i = 0; i < items; i++) {
        stock[i].quantity = (int32_t)(10 + prng_below(prng, 91));
        stock[i].initial = (int64_t)stock[i].sold + stock[i].quantity;
    }
}

static struct customer *load_customers(struct warehouse *warehouse, unsigned district,
                                       const struct sizes *sizes, struct prng *prng)
{
    struct customer *customers =
        arena_alloc(&warehouse->arena, sizes->customers * sizeof *customers, ARENA_LINE);

    for (uint32_t i = 0; i < sizes->customers; i++) {
        struct customer *customer = &customers[i];
        pthread_mutex_init(&customer->lock, NULL);
        customer->id = i + 1;
        customer->name = i < sizes->names ? i : prng_below(prng, sizes->names);
        btree_insert(&warehouse->customers, customer_key(district, customer->id), customer);
        btree_insert(&warehouse->by_name, name_key(district, customer->name, customer->id),
                     customer);
    }
    return customers;
}

static unsigned draw_lines(struct company *company, unsigned index, struct stock *stock,
                           struct order_line *lines, struct prng *prng)
{
    unsigned count = LINES_MIN + prng_below(prng, LINES_MAX - LINES_MIN + 1);

    for (unsigned l = 0; l < count; l++) {
        uint32_t item = prng_below(prng, company->sizes.items);
        uint32_t quantity = 1 + prng_below(prng, QUANTITY_MAX);
        uint32_t price = PRICE_MIN + prng_below(prng, PRICE_MAX - PRICE_MIN);
        lines[l] = (struct order_line){.item = item,
                                       .amount = quantity * price,
                                       .supplier = (uint16_t)index,
                                       .quantity = (uint16_t)quantity};
        stock[item].sold += quantity;
        stock[item].orders++;
    }
    return count;
}

static void load_orders(struct company *company, unsigned index, struct district *district,
                        struct customer *customers, struct stock *stock, struct prng *prng)
{
    struct warehouse *warehouse = &company->warehouse[index];
    uint32_t delivered = company->sizes.orders / 10 * DELIVERED_IN_TEN;
    struct order_line lines[LINES_MAX];

    for (uint32_t o = 0; o < company->sizes.orders; o++) {
        struct customer *customer = &customers[prng_below(prng, company->sizes.customers)];
        unsigned count = draw_lines(company, index, stock, lines, prng);
        struct order *order = order_book_add(district, customer->id, lines, count);
        customer->last_order = order->id;
        warehouse->loaded_orders++;
        warehouse->loaded_amount += order->amount;
        if (o < delivered) {
            order_book_deliver(district, order);
            customer->owed += order->amount;
            customer->deliveries++;
        }
    }
}

static void district_init(struct district *district, unsigned warehouses)
{
    pthread_mutex_init(&district->lock, NULL);
    district->arena.block_size = DISTRICT_BLOCK;
    district->next_order = 1;
    btree_init(&district->orders, &district->arena);
    btree_init(&district->undelivered, &district->arena);
    district->archived_units =
        arena_alloc(&district->arena, warehouses * sizeof(uint64_t), ARENA_LINE);
}

void warehouse_load(struct company *company, unsigned index, uint64_t seed)
{
    struct warehouse *warehouse = &company->warehouse[index];
    struct prng prng = prng_seeded(seed, 1000 + index);
    struct stock *stock;

    pthread_mutex_init(&warehouse->lock, NULL);
    warehouse->arena.block_size = COMPANY_BLOCK;
    stock = load_stock(warehouse, &company->sizes);
    btree_init(&warehouse->customers, &warehouse->arena);
    btree_init(&warehouse->by_name, &warehouse->arena);
    for (unsigned d = 0; d < DISTRICTS; d++) {
        struct customer *customers = load_customers(warehouse, d, &company->sizes, &prng);
        district_init(&warehouse->district[d], company->sizes.warehouses);
        load_orders(company, index, &warehouse->district[d], customers, stock, &prng);
    }
    stock_up(stock, company->sizes.items, &prng);
}
