/*
 * The orders of a district: ids without gaps, a queue of undelivered ones, recycled memory. The
 * district's lock is held, or the district is being loaded. Invariant: `undelivered` holds exactly
 * the orders of the book that are not delivered.
 */
#include "apps/workloads/warehouse/company.h"
#include <string.h>

static struct order *order_new(struct district *district)
{
    struct order *order = district->free_orders;

    if (order)
        district->free_orders = order->next_free;
    else
        order = arena_alloc(&district->arena, sizeof *order, ARENA_LINE);
    return order;
}

struct order *order_book_add(struct district *district, uint32_t customer,
                             const struct order_line *lines, unsigned line_count)
{
    struct order *order = order_new(district);

    order->id = district->next_order++;
    order->next_free = NULL;
    order->amount = 0;
    order->customer = customer;
    order->line_count = (uint16_t)line_count;
    order->delivered = false;
    memcpy(order->line, lines, line_count * sizeof *lines);
    for (unsigned l = 0; l < line_count; l++)
        order->amount += lines[l].amount;
    btree_insert(&district->orders, order->id, order);
    btree_insert(&district->undelivered, order->id, order);
    return order;
}

void order_book_deliver(struct district *district, struct order *order)
{
    btree_remove(&district->undelivered, order->id);
    order->delivered = true;
    district->delivered_amount += order->amount;
}

/* Removes the order from the book. The archive's sums keep the figures that the company's laws
 * need. */
static void archive(struct district *district, struct order *order)
{
    btree_remove(&district->orders, order->id);
    district->archived_orders++;
    district->archived_amount += order->amount;
    for (unsigned l = 0; l < order->line_count; l++)
        district->archived_units[order->line[l].supplier] += order->line[l].quantity;
    order->next_free = district->free_orders;
    district->free_orders = order;
}

void order_book_trim(struct district *district, size_t keep, unsigned max)
{
    struct btree_cursor oldest;

    for (; max > 0 && district->orders.count > keep; max--) {
        btree_seek(&district->orders, 0, &oldest);
        struct order *order = btree_value(&oldest);
        if (!order->delivered)
            return;
        archive(district, order);
    }
}
