/* The page-access tracker: which accesses are logged, and long random runs against lists with times
 * of use. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "test/machine/path.h"

static struct path path_of(uint32_t pab, uint32_t filter, uint32_t log)
{
    struct path p = {.space = 1};
    assert_int_equal(path_configure(&p, (struct path_sizes){pab, filter, log}), 0);
    return p;
}

static bool walk(struct path *p, uint64_t page)
{
    bool logged = path_walk(p, page << PAGE_SHIFT, false);
    assert_null(path_check(p));
    return logged;
}

static void a_loop_that_fits_the_pab_is_logged_once(void **state)
{
    (void)state;
    struct path p = path_of(128, 8, 128);
    for (unsigned round = 0; round < 5; round++)
        for (unsigned page = 0; page < 128; page++)
            assert_int_equal(walk(&p, page), round == 0);
    assert_int_equal(p.logged, 128);
    assert_int_equal(p.pab_hits, 4 * 128);
    path_free(&p);
}

static void a_loop_beyond_it_is_logged_in_order_each_time(void **state)
{
    (void)state;
    struct path p = path_of(128, 64, 128);
    for (unsigned i = 0; i < 10 * 256; i++) {
        assert_true(walk(&p, i % 256));
        assert_int_equal(p.log[0], path_key(1, (i % 256) * PAGE_SIZE));
        p.logged = 0;
    }
    path_free(&p);
}

/* Returns the set of a page below sets^4. */
static unsigned set_number(unsigned page, unsigned sets)
{
    unsigned set = 0;
    for (unsigned part = 0; part < 4; part++, page /= sets)
        set ^= page % sets;
    return set;
}

/* Returns the i-th page of the first of eight sets. */
static unsigned rival(unsigned i)
{
    return i * 8 + set_number(i, 8);
}

/* Eight sets of 16 ways. */
static void short_conflicts_in_a_set_are_filtered(void **state)
{
    (void)state;
    struct path p = path_of(128, 32, 128);
    for (unsigned round = 0; round < 5; round++)
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(walk(&p, rival(i)), round == 0);
    assert_int_equal(p.filter_hits, 4 * 20);
    path_free(&p);
    p = path_of(128, 0, 128);
    for (unsigned i = 0; i < 100; i++)
        assert_true(walk(&p, rival(i % 20)));
    path_free(&p);
}

static void strides_of_a_power_of_two_have_all_sets(void **state)
{
    (void)state;
    struct path p = path_of(2048, 0, 128);
    for (unsigned shift = 0; shift <= 16; shift++) {
        for (unsigned i = 0; i < 2 * 2048; i++) {
            assert_int_equal(path_walk(&p, (vaddr_t)(i % 2048) << shift << PAGE_SHIFT, false),
                             i < 2048);
            p.logged = 0;
        }
        assert_null(path_check(&p));
        path_forget_space(&p, 1);
    }
    path_free(&p);
}

static void a_full_log_drops_the_access_but_not_the_page(void **state)
{
    (void)state;
    struct path p = path_of(128, 8, 16);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(walk(&p, i), i < 16);
    assert_int_equal(p.lost, 4);
    assert_int_equal(path_probe(&p, path_key(1, 17 * PAGE_SIZE)), 0);
    assert_false(walk(&p, 3)); /* known pages are found all the same */
    assert_int_equal(p.lost, 4);
    p.logged = 0;
    assert_true(walk(&p, 17));
    path_free(&p);
}

static void spaces_are_told_apart_and_space_0_is_not_tracked(void **state)
{
    (void)state;
    struct path p = path_of(128, 8, 128);
    assert_true(walk(&p, 5));
    p.space = 2;
    assert_true(path_walk(&p, 5 * PAGE_SIZE + 123, true));
    assert_int_equal(p.log[1], path_key(2, 5 * PAGE_SIZE) | MACHINE_PATH_WRITE);
    p.space = 0;
    assert_false(walk(&p, 6));
    assert_int_equal(p.walks, 2);
    path_free(&p);
}

static void a_probe_tells_use_since_the_last_one(void **state)
{
    (void)state;
    struct path p = path_of(128, 8, 128);
    uint64_t key = path_key(1, 7 * PAGE_SIZE);
    assert_int_equal(path_probe(&p, key), 0);
    walk(&p, 7);
    assert_int_equal(path_probe(&p, key), MACHINE_PATH_IS_KEPT);
    walk(&p, 7);
    assert_int_equal(path_probe(&p, key), MACHINE_PATH_IS_KEPT | MACHINE_PATH_IS_USED);
    assert_int_equal(path_probe(&p, key), MACHINE_PATH_IS_KEPT);
    path_free(&p);
}

static void what_is_forgotten_is_logged_again(void **state)
{
    (void)state;
    struct path p = path_of(128, 8, 128);
    walk(&p, 7);
    walk(&p, 8);
    p.space = MACHINE_PATH_SPACES - 1;
    walk(&p, 7);
    path_forget_page(&p, path_key(1, 7 * PAGE_SIZE));
    assert_false(walk(&p, 7));
    p.space = 1;
    assert_true(walk(&p, 7));
    assert_false(walk(&p, 8));
    path_forget_space(&p, 1);
    assert_true(walk(&p, 7));
    assert_true(walk(&p, 8));
    p.space = MACHINE_PATH_SPACES - 1;
    assert_false(walk(&p, 7));
    path_forget_space(&p, MACHINE_PATH_SPACES - 1);
    assert_true(walk(&p, 7));
    path_free(&p);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct path_sizes bad[] = {{64, 8, 8},    {1000, 8, 8},    {65536, 8, 8},
                                            {2048, 65, 8}, {2048, 64, 129}, {2048, 64, 0}};
    struct path p = path_of(128, 8, 128);
    walk(&p, 1);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(path_configure(&p, bad[i]), -EINVAL);
    assert_int_equal(p.logged, 1);
    assert_int_equal(path_configure(&p, (struct path_sizes){0}), 0);
    assert_false(walk(&p, 1));
    assert_int_equal(path_probe(&p, path_key(1, PAGE_SIZE)), 0);
    path_free(&p);
}

/* ---- Against a naive model ------------------------------------------------------------------- */

#define PAGES  600
#define SPACES 3

struct naive {
    uint64_t pab[SPACES][PAGES], filter[SPACES][PAGES]; /* times of use; 0: not there */
    bool used[SPACES][PAGES];
    uint64_t now;
};

/* Sets *out to the least recent of the pages in `times` that compete with the page. Returns their
 * number. */
static unsigned oldest(uint64_t times[SPACES][PAGES], unsigned sets, unsigned set, uint64_t **out)
{
    unsigned n = 0;
    *out = NULL;
    for (unsigned s = 0; s < SPACES; s++)
        for (unsigned page = 0; page < PAGES; page++) {
            if (!times[s][page] || set_number(page ^ s, sets) != set)
                continue;
            n++;
            if (!*out || times[s][page] < **out)
                *out = &times[s][page];
        }
    return n;
}

static void enter(uint64_t times[SPACES][PAGES], unsigned sets, unsigned room, unsigned s,
                  unsigned page, uint64_t now)
{
    uint64_t *victim;
    if (oldest(times, sets, set_number(page ^ s, sets), &victim) == room)
        *victim = 0;
    times[s][page] = now;
}

static bool naive_walk(struct naive *n, unsigned sets, unsigned filter, unsigned s, unsigned page)
{
    n->now++;
    if (n->pab[s][page]) {
        n->pab[s][page] = n->now;
        n->used[s][page] = true;
        return false;
    }
    enter(n->pab, sets, MACHINE_PATH_WAYS, s, page, n->now);
    n->used[s][page] = n->filter[s][page];
    bool logged = !n->filter[s][page];
    n->filter[s][page] = 0;
    enter(n->filter, 1, filter, s, page, n->now);
    return logged;
}

static unsigned naive_probe(struct naive *n, unsigned s, unsigned page)
{
    bool used = n->used[s][page];
    n->used[s][page] = false;
    return n->pab[s][page] ? MACHINE_PATH_IS_KEPT | (used ? MACHINE_PATH_IS_USED : 0) : 0;
}

static uint64_t state_of = 88172645463325252ull;

static unsigned draw_number(unsigned n)
{
    state_of ^= state_of << 13;
    state_of ^= state_of >> 7;
    state_of ^= state_of << 17;
    return (unsigned)(state_of % n);
}

/* Returns a page of loops, of strides that conflict, or at random. */
static unsigned next_page(unsigned step)
{
    switch (step / 512 % 3) {
    case 0:
        return step % PAGES;
    case 1:
        return step * 64 % PAGES;
    default:
        return draw_number(PAGES);
    }
}

static void it_agrees_with_a_naive_model(void **state)
{
    (void)state;
    static struct naive n;
    struct path p = path_of(256, 24, 128);
    for (unsigned step = 0; step < 40000; step++) {
        unsigned page = next_page(step), s = 1 + draw_number(2), action = draw_number(100);
        vaddr_t va = page * PAGE_SIZE;
        if (action == 0) {
            path_forget_page(&p, path_key(s, va));
            n.pab[s][page] = n.filter[s][page] = 0;
        } else if (action == 1 && draw_number(20) == 0) {
            path_forget_space(&p, s);
            memset(n.pab[s], 0, sizeof(n.pab[s]));
            memset(n.filter[s], 0, sizeof(n.filter[s]));
        } else if (action < 8) {
            assert_int_equal(path_probe(&p, path_key(s, va)), naive_probe(&n, s, page));
        } else {
            p.space = s;
            assert_int_equal(walk(&p, page), naive_walk(&n, 256 / MACHINE_PATH_WAYS, 24, s, page));
            p.logged = 0;
        }
    }
    path_free(&p);
}

int main(void)
{
    static const struct CMUnitTest all[] = {
        cmocka_unit_test(a_loop_that_fits_the_pab_is_logged_once),
        cmocka_unit_test(a_loop_beyond_it_is_logged_in_order_each_time),
        cmocka_unit_test(short_conflicts_in_a_set_are_filtered),
        cmocka_unit_test(strides_of_a_power_of_two_have_all_sets),
        cmocka_unit_test(a_full_log_drops_the_access_but_not_the_page),
        cmocka_unit_test(spaces_are_told_apart_and_space_0_is_not_tracked),
        cmocka_unit_test(a_probe_tells_use_since_the_last_one),
        cmocka_unit_test(what_is_forgotten_is_logged_again),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(it_agrees_with_a_naive_model),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
