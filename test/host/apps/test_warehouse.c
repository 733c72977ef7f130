/* The warehouse's transactions keep every law, and the check of a law finds that it is broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "apps/workloads/warehouse/company.h"

enum { WAREHOUSES = 3 };

struct fixture {
    struct company company;
    struct terminal terminal[WAREHOUSES];
};

static struct fixture *open_company(uint64_t seed)
{
    struct fixture *f = NULL;
    struct sizes sizes = company_sizes(WAREHOUSES, 1, 10);

    assert_int_equal(posix_memalign((void **)&f, ARENA_LINE, sizeof *f), 0);
    company_init(&f->company, &sizes);
    for (unsigned w = 0; w < WAREHOUSES; w++) {
        warehouse_load(&f->company, w, seed);
        terminal_init(&f->terminal[w], &f->company, w, prng_seeded(seed, w));
    }
    return f;
}

static void work(struct fixture *f, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        for (unsigned w = 0; w < WAREHOUSES; w++)
            terminal_step(&f->terminal[w]);
    }
    for (unsigned w = 0; w < WAREHOUSES; w++)
        terminal_settle(&f->terminal[w]);
}

static void close_company(struct fixture *f)
{
    company_free(&f->company);
    free(f);
}

static void assert_lawful(const struct fixture *f)
{
    const char *broken = company_check(&f->company);

    if (broken)
        fail_msg("%s", broken);
}

static void a_loaded_company_is_lawful(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct fixture *f = open_company(seed);
        assert_lawful(f);
        close_company(f);
    }
}

static void the_laws_hold_after_every_step(void **state)
{
    struct fixture *f = open_company(1);

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        work(f, 1);
        assert_lawful(f);
    }
    close_company(f);
}

static void the_laws_hold_after_long_work_with_archived_orders(void **state)
{
    struct fixture *f = open_company(2);

    (void)state;
    work(f, 30000);
    assert_lawful(f);
    assert_true(f->company.warehouse[0].district[0].archived_orders > 500);
    assert_true(f->company.warehouse[0].payments > PAYMENTS_KEPT);
    close_company(f);
}

static void transactions_come_in_the_mix(void **state)
{
    static const uint64_t expected[TRANSACTIONS] = {4500, 4300, 400, 400, 400};
    struct fixture *f = open_company(3);

    (void)state;
    work(f, 10000);
    assert_memory_equal(f->terminal[1].done, expected, sizeof expected);
    assert_in_range(f->terminal[1].rolled_back, 20, 80);
    close_company(f);
}

static struct customer *some_customer(struct warehouse *warehouse)
{
    return btree_find(&warehouse->customers, customer_key(3, 7));
}

static struct order *some_order(struct warehouse *warehouse)
{
    return btree_find(&warehouse->district[4].orders, warehouse->district[4].next_order - 1);
}

static struct stock *some_stock(struct warehouse *warehouse)
{
    return btree_find(&warehouse->stock, 11);
}

static void lose_a_cent_of_the_warehouse(struct company *c)
{
    c->warehouse[1].received--;
}
static void lose_a_cent_of_the_history(struct company *c)
{
    c->warehouse[1].history[5].amount--;
}
static void lose_a_payment_of_a_customer(struct company *c)
{
    some_customer(&c->warehouse[1])->paid--;
}
static void lose_a_debt(struct company *c)
{
    some_customer(&c->warehouse[1])->owed--;
}
static void lose_a_unit_of_stock(struct company *c)
{
    some_stock(&c->warehouse[1])->quantity--;
}
static void sell_a_unit_nobody_ordered(struct company *c)
{
    some_stock(&c->warehouse[1])->quantity--;
    some_stock(&c->warehouse[1])->sold++;
}
static void skip_an_order_number(struct company *c)
{
    c->warehouse[1].district[4].next_order++;
}
static void lose_an_order_in_the_middle(struct company *c)
{
    struct district *district = &c->warehouse[1].district[4];
    btree_remove(&district->orders, district->next_order - 10);
}
static void deliver_an_order_in_secret(struct company *c)
{
    some_order(&c->warehouse[1])->delivered = true;
}
static void change_the_price_of_a_line(struct company *c)
{
    some_order(&c->warehouse[1])->line[0].amount++;
}
static void change_what_was_delivered(struct company *c)
{
    c->warehouse[1].district[4].delivered_amount++;
}
static void count_an_order_twice(struct company *c)
{
    c->totals.orders++;
}
static void count_a_payment_twice(struct company *c)
{
    c->totals.payments++;
}

static void every_law_notices_that_it_is_broken(void **state)
{
    static const struct {
        void (*break_it)(struct company *);
        const char *law;
    } cases[] = {
        {lose_a_cent_of_the_warehouse, "warehouse_received_is_sum_of_districts"},
        {lose_a_cent_of_the_history, "warehouse_received_is_sum_of_history"},
        {lose_a_payment_of_a_customer, "warehouse_received_is_paid_by_customers"},
        {lose_a_debt, "customers_owe_delivered_less_paid"},
        {lose_a_unit_of_stock, "stock_is_initial_plus_restocked_less_sold"},
        {sell_a_unit_nobody_ordered, "units_sold_are_units_ordered"},
        {skip_an_order_number, "orders_are_district_counter"},
        {lose_an_order_in_the_middle, "order_numbers_without_gap"},
        {deliver_an_order_in_secret, "queue_holds_the_undelivered"},
        {change_the_price_of_a_line, "order_amount_is_sum_of_lines"},
        {change_what_was_delivered, "delivered_amount_is_sum_of_orders"},
        {count_an_order_twice, "company_orders_are_sum_of_districts"},
        {count_a_payment_twice, "company_received_is_sum_of_warehouses"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = open_company(4);
        work(f, 2000);
        assert_lawful(f);
        cases[i].break_it(&f->company);
        const char *broken = company_check(&f->company);
        assert_non_null(broken);
        assert_string_equal(broken, cases[i].law);
        close_company(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_company_is_lawful),
        cmocka_unit_test(the_laws_hold_after_every_step),
        cmocka_unit_test(the_laws_hold_after_long_work_with_archived_orders),
        cmocka_unit_test(transactions_come_in_the_mix),
        cmocka_unit_test(every_law_notices_that_it_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
