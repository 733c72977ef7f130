/* The auction's sites, without connections, beside arrays of prices and quantities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "apps/workloads/auction/site.h"

enum { ITEMS = 200, PEOPLE = 100, REQUESTS = 40000, THREADS = 4, NUMBERS = ITEMS + REQUESTS };

static struct site site;

static void make(void)
{
    site_init(&site, ITEMS, PEOPLE, 7);
}

static struct reply ask(struct request q)
{
    struct reply reply;

    site_answer(&site, &q, &reply);
    assert_null(reply_check(&q, &reply));
    return reply;
}

/* What is known of items by their numbers. */
static int64_t price[NUMBERS + 1];
static uint32_t quantity[NUMBERS + 1], category[NUMBERS + 1];
static uint32_t first, last; /* the items that are there */

static void learn(uint32_t number)
{
    const struct item *it = btree_find(&site.items, number);

    price[number] = it->price;
    quantity[number] = it->quantity;
    category[number] = it->category;
}

static void expect_search(const struct request *q, const struct reply *reply)
{
    uint32_t rows = 0;

    for (uint32_t i = q->from > first ? q->from : first; i <= last && rows < ROWS; i++)
        if (category[i] == q->target && quantity[i]) {
            assert_int_equal(reply->row[rows].item, i);
            assert_int_equal(reply->row[rows++].amount, price[i]);
        }
    assert_int_equal(reply->rows, rows);
}

static void expect(const struct request *q, const struct reply *reply)
{
    bool there = q->target >= first && q->target <= last;

    switch (q->kind) {
    case SEARCH:
        expect_search(q, reply);
        return;
    case VIEW_ITEM:
        assert_int_equal(reply->status, there ? 0 : -1);
        assert_true(!there || reply->row[0].amount == price[q->target]);
        return;
    case BID:
        assert_int_equal(reply->status, there ? 0 : -1);
        assert_true(!there || reply->value == (price[q->target] += q->amount));
        return;
    case BUY:
        assert_int_equal(reply->status, there && quantity[q->target] ? 0 : -1);
        quantity[q->target] -= !reply->status;
        return;
    case SELL:
        assert_int_equal(reply->value, ++last);
        learn(last);
        first++;
        return;
    }
}

static void replies_are_as_arrays_have_it(void **state)
{
    struct prng prng = prng_seeded(1, 1);
    struct reply reply = {0};

    (void)state;
    make();
    first = 1, last = ITEMS;
    for (uint32_t i = first; i <= last; i++)
        learn(i);
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct request q;
        request_draw(&prng, &reply, last, PEOPLE, 1 + i % PEOPLE, &q);
        reply = ask(q);
        expect(&q, &reply);
        if (i % 500 == 0)
            assert_null(site_check(&site));
    }
    assert_null(site_check(&site));
    assert_true(first > ITEMS); /* all of the first items have ended */
    site_free(&site);
}

static void *use(void *argument)
{
    uint32_t person = 1 + (uint32_t)(uintptr_t)argument;
    struct prng prng = prng_seeded(2, person);
    struct reply reply = {0};
    struct request q;

    for (unsigned i = 0; i < REQUESTS / THREADS; i++) {
        request_draw(&prng, &reply, ITEMS, PEOPLE, person, &q);
        site_answer(&site, &q, &reply);
        if (reply_check(&q, &reply))
            abort();
    }
    return NULL;
}

static void threads_leave_a_site_whole(void **state)
{
    pthread_t thread[THREADS];

    (void)state;
    make();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, use, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_null(site_check(&site));
    site_free(&site);
}

static void bids_are_kept_up_to_a_number(void **state)
{
    struct reply reply;

    (void)state;
    make();
    for (unsigned i = 0; i < 3 * BIDS_KEPT; i++)
        ask((struct request){.kind = BID, .person = 1 + i % 7, .target = 5, .amount = 1});
    reply = ask((struct request){.kind = VIEW_BIDS, .person = 1, .target = 5});
    assert_int_equal(reply.rows, ROWS);
    assert_int_equal(site.bids.count, BIDS_KEPT);
    assert_null(site_check(&site));
    site_free(&site);
}

static void eighty_five_of_a_hundred_requests_change_nothing(void **state)
{
    struct prng prng = prng_seeded(3, 3);
    struct reply none = {0};
    unsigned changes = 0;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct request q;
        request_draw(&prng, &none, ITEMS, PEOPLE, 1, &q);
        changes += q.kind >= BID;
    }
    assert_in_range(changes, 14500, 15500);
}

static void a_broken_law_is_named(void **state)
{
    (void)state;
    make();
    ask((struct request){.kind = BID, .person = 1, .target = 5, .amount = 1});
    ask((struct request){.kind = BUY, .person = 1, .target = 5});
    assert_null(site_check(&site));
    site.rated++;
    assert_string_equal(site_check(&site), "rating");
    site.listed++;
    assert_string_equal(site_check(&site), "units");
    site.bids_made++;
    assert_string_equal(site_check(&site), "bids");
    ((struct item *)btree_find(&site.items, 5))->price++;
    assert_string_equal(site_check(&site), "highest");
    site_free(&site);
}

static void a_bad_reply_is_named(void **state)
{
    struct request q = {.kind = SEARCH};
    struct reply r = {.rows = ROWS + 1};

    (void)state;
    assert_string_equal(reply_check(&q, &r), "rows");
    r.rows = 2;
    assert_string_equal(reply_check(&q, &r), "row");
    r.row[0] = r.row[1] = (struct reply_row){.item = 4, .person = 1, .amount = 1};
    assert_string_equal(reply_check(&q, &r), "order");
    q.kind = VIEW_BIDS;
    assert_string_equal(reply_check(&q, &r), "bids");
    q = (struct request){.kind = BID, .amount = 5};
    r = (struct reply){.value = 5};
    assert_string_equal(reply_check(&q, &r), "bid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_are_as_arrays_have_it),
        cmocka_unit_test(threads_leave_a_site_whole),
        cmocka_unit_test(bids_are_kept_up_to_a_number),
        cmocka_unit_test(eighty_five_of_a_hundred_requests_change_nothing),
        cmocka_unit_test(a_broken_law_is_named),
        cmocka_unit_test(a_bad_reply_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
