/*
 * The conservation laws of the company, checked when no transaction runs. A broken law is reported
 * by its name. A law reads the data alone and trusts no total that it does not verify.
 */
#include "apps/workloads/warehouse/company.h"

/* Sums over a district's order book. */
struct book_sums {
    int64_t amount;           /* of the orders in the book */
    int64_t delivered_amount; /* of those delivered */
    uint64_t undelivered;
    uint64_t units[WAREHOUSES_MAX]; /* by supplier, including archived orders */
};

static const char *check_order(const struct district *district, const struct order *order,
                               uint64_t expected_id)
{
    int64_t amount = 0;

    if (order->id != expected_id)
        return "order_numbers_without_gap";
    for (unsigned l = 0; l < order->line_count; l++)
        amount += order->line[l].amount;
    if (amount != order->amount)
        return "order_amount_is_sum_of_lines";
    if (order->delivered == (btree_find(&district->undelivered, order->id) == order))
        return "queue_holds_the_undelivered";
    return NULL;
}

static void add_order(struct book_sums *sums, const struct order *order)
{
    sums->amount += order->amount;
    if (order->delivered)
        sums->delivered_amount += order->amount;
    else
        sums->undelivered++;
    for (unsigned l = 0; l < order->line_count; l++)
        sums->units[order->line[l].supplier] += order->line[l].quantity;
}

static const char *check_book(const struct district *district, unsigned warehouses,
                              struct book_sums *sums)
{
    struct btree_cursor cursor;
    uint64_t expected_id = district->archived_orders + 1;
    const char *broken;

    *sums = (struct book_sums){0};
    if (btree_check(&district->orders) || btree_check(&district->undelivered))
        return "order_trees_sound";
    for (bool more = btree_seek(&district->orders, 0, &cursor); more; more = btree_next(&cursor)) {
        const struct order *order = btree_value(&cursor);
        broken = check_order(district, order, expected_id++);
        if (broken)
            return broken;
        add_order(sums, order);
    }
    if (expected_id != district->next_order)
        return "orders_are_district_counter";
    if (sums->undelivered != district->undelivered.count)
        return "queue_holds_the_undelivered";
    if (sums->delivered_amount + district->archived_amount != district->delivered_amount)
        return "delivered_amount_is_sum_of_orders";
    for (unsigned w = 0; w < warehouses; w++)
        sums->units[w] += district->archived_units[w];
    return NULL;
}

/* Sums over a warehouse's customers. */
struct customer_sums {
    int64_t owed, paid;
    uint64_t payments;
};

static struct customer_sums sum_customers(const struct warehouse *warehouse)
{
    struct customer_sums sums = {0};
    struct btree_cursor cursor;

    for (bool more = btree_seek(&warehouse->customers, 0, &cursor); more;
         more = btree_next(&cursor)) {
        const struct customer *customer = btree_value(&cursor);
        sums.owed += customer->owed;
        sums.paid += customer->paid;
        sums.payments += customer->payments;
    }
    return sums;
}

static int64_t history_sum(const struct warehouse *warehouse)
{
    int64_t sum = warehouse->archived_received;

    for (unsigned i = 0; i < PAYMENTS_KEPT; i++)
        sum += warehouse->history[i].amount;
    return sum;
}

static const char *check_money(const struct warehouse *warehouse, int64_t delivered_amount)
{
    struct customer_sums customers = sum_customers(warehouse);
    int64_t received_by_districts = 0;

    for (unsigned d = 0; d < DISTRICTS; d++)
        received_by_districts += warehouse->district[d].received;
    if (received_by_districts != warehouse->received)
        return "warehouse_received_is_sum_of_districts";
    if (history_sum(warehouse) != warehouse->received)
        return "warehouse_received_is_sum_of_history";
    if (customers.paid != warehouse->received || customers.payments != warehouse->payments)
        return "warehouse_received_is_paid_by_customers";
    if (customers.owed != delivered_amount - customers.paid)
        return "customers_owe_delivered_less_paid";
    return NULL;
}

static const char *check_stock(const struct warehouse *warehouse, uint64_t *sold)
{
    struct btree_cursor cursor;

    *sold = 0;
    if (btree_check(&warehouse->stock))
        return "stock_tree_sound";
    for (bool more = btree_seek(&warehouse->stock, 0, &cursor); more; more = btree_next(&cursor)) {
        const struct stock *stock = btree_value(&cursor);
        if (stock->quantity != stock->initial + (int64_t)stock->restocked - (int64_t)stock->sold)
            return "stock_is_initial_plus_restocked_less_sold";
        *sold += stock->sold;
    }
    return NULL;
}

/* Sums over the whole company. */
struct company_sums {
    struct totals totals;
    uint64_t ordered_units[WAREHOUSES_MAX]; /* by supplier */
    uint64_t sold_units[WAREHOUSES_MAX];    /* by supplier */
};

static const char *check_warehouse(const struct company *company, unsigned index,
                                   struct company_sums *all)
{
    const struct warehouse *warehouse = &company->warehouse[index];
    int64_t delivered_amount = 0;
    struct book_sums book;
    const char *broken;

    if (btree_check(&warehouse->customers) || btree_check(&warehouse->by_name))
        return "customer_trees_sound";
    for (unsigned d = 0; d < DISTRICTS; d++) {
        const struct district *district = &warehouse->district[d];
        broken = check_book(district, company->sizes.warehouses, &book);
        if (broken)
            return broken;
        delivered_amount += district->delivered_amount;
        all->totals.orders += district->next_order - 1;
        all->totals.ordered += book.amount + district->archived_amount;
        for (unsigned w = 0; w < company->sizes.warehouses; w++)
            all->ordered_units[w] += book.units[w];
    }
    all->totals.orders -= warehouse->loaded_orders;
    all->totals.ordered -= warehouse->loaded_amount;
    all->totals.payments += warehouse->payments;
    all->totals.received += warehouse->received;
    broken = check_money(warehouse, delivered_amount);
    return broken ? broken : check_stock(warehouse, &all->sold_units[index]);
}

const char *company_check(const struct company *company)
{
    const struct totals *totals = &company->totals;
    struct company_sums all = {0};

    for (unsigned w = 0; w < company->sizes.warehouses; w++) {
        const char *broken = check_warehouse(company, w, &all);
        if (broken)
            return broken;
    }
    for (unsigned w = 0; w < company->sizes.warehouses; w++) {
        if (all.sold_units[w] != all.ordered_units[w])
            return "units_sold_are_units_ordered";
    }
    if (totals->orders != all.totals.orders || totals->ordered != all.totals.ordered)
        return "company_orders_are_sum_of_districts";
    if (totals->payments != all.totals.payments || totals->received != all.totals.received)
        return "company_received_is_sum_of_warehouses";
    return NULL;
}
