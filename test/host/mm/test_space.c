/* The regions of an address space against a map of what each page belongs to. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/region/region.h"

#define LOW   ((vaddr_t)0x10000)
#define PAGES 512
#define HIGH  (LOW + PAGES * PAGE_SIZE)
#define NODES 200

static struct region nodes[NODES];
static struct regions regions;
static struct {
    uint8_t prot;
    bool mapped, touched;
} model[PAGES];

static vaddr_t address(unsigned page)
{
    return LOW + page * PAGE_SIZE;
}

static int set_up(void **state)
{
    (void)state;
    regions = (struct regions){0};
    for (unsigned i = 0; i < NODES; i++)
        regions_give(&regions, &nodes[i]);
    memset(model, 0, sizeof(model));
    return 0;
}

static int map(unsigned page, unsigned n, uint8_t prot)
{
    struct region r = {.start = address(page), .end = address(page + n), .prot = prot};
    r.touched_lo = r.touched_hi = r.start;
    return regions_insert(&regions, &r);
}

static void compare(void)
{
    regions_check(&regions, LOW, HIGH);
    for (unsigned i = 0; i < PAGES; i++) {
        const struct region *r = regions_find(&regions, address(i) + 123);
        assert_int_equal(r != NULL, model[i].mapped);
        if (!r)
            continue;
        assert_int_equal(r->prot, model[i].prot);
        if (model[i].touched)
            assert_true(address(i) >= r->touched_lo && address(i) < r->touched_hi);
    }
}

static void step_map(unsigned page, unsigned n, uint8_t prot)
{
    bool taken = false;

    for (unsigned i = page; i < page + n; i++)
        taken |= model[i].mapped;
    int err = map(page, n, prot);
    assert_true(err == (taken ? -EEXIST : 0) || (err == -ENOSPC && regions.count == NODES));
    for (unsigned i = page; i < page + n && !err; i++) {
        model[i].mapped = true;
        model[i].touched = false;
        model[i].prot = prot;
    }
}

static void step_unmap(unsigned page, unsigned n)
{
    if (regions_split(&regions, address(page)) || regions_split(&regions, address(page + n)))
        return;
    struct region *r;
    while ((r = regions_above(&regions, address(page))) && r->start < address(page + n))
        regions_remove(&regions, r);
    for (unsigned p = page; p < page + n; p++)
        model[p].mapped = false;
}

static void step_protect(unsigned page, unsigned n, uint8_t prot)
{
    bool all = true;

    for (unsigned i = page; i < page + n; i++)
        all &= model[i].mapped;
    assert_int_equal(regions_cover(&regions, address(page), address(page + n)), all);
    if (!all || regions_split(&regions, address(page)) ||
        regions_split(&regions, address(page + n)))
        return;
    struct region *r = regions_above(&regions, address(page));
    for (; r && r->start < address(page + n); r = region_next(r))
        r->prot = prot;
    regions_merge(&regions, address(page), address(page + n));
    for (unsigned i = page; i < page + n; i++)
        model[i].prot = prot;
}

static void step_touch(unsigned page)
{
    struct region *r = regions_find(&regions, address(page));

    if (!r)
        return;
    region_touch(r, address(page) + 77);
    model[page].touched = true;
}

/* Moves the start of a region down over free pages, or up, as a stack or an unmapping does. */
static void step_resize(unsigned page, unsigned to)
{
    struct region *r = regions_find(&regions, address(page));

    if (!r || address(to) >= r->end)
        return;
    unsigned start = (unsigned)((r->start - LOW) / PAGE_SIZE);
    for (unsigned i = to; i < start; i++)
        if (model[i].mapped)
            return;
    regions_resize(&regions, r, address(to), r->end);
    for (unsigned i = to; i < start; i++) {
        model[i].mapped = true;
        model[i].touched = false;
        model[i].prot = r->prot;
    }
    for (unsigned i = start; i < to; i++)
        model[i].mapped = false;
}

static void step_gap(unsigned n, unsigned low, unsigned high)
{
    unsigned run = 0, best = PAGES;
    vaddr_t va;

    for (unsigned i = low; i < high; i++) {
        run = model[i].mapped ? 0 : run + 1;
        if (run >= n)
            best = i + 1 - n;
    }
    int err = regions_find_gap(&regions, n * PAGE_SIZE, address(low), address(high), &va);
    assert_int_equal(err, best < PAGES ? 0 : -ENOMEM);
    if (!err)
        assert_int_equal(va, address(best));
}

static void random_changes_keep_order_rights_and_touched_pages(void **state)
{
    (void)state;
    uint64_t seed = 99;

    for (unsigned step = 0; step < 30000; step++) {
        unsigned page = test_random(&seed) % PAGES;
        unsigned n = 1 + test_random(&seed) % MIN(PAGES - page, 40u);
        switch (test_random(&seed) % 9) {
        case 0:
        case 1:
            step_map(page, n, test_random(&seed) % 3);
            break;
        case 2:
            step_unmap(page, n);
            break;
        case 3:
        case 4:
            step_protect(page, MIN(n, 6u), test_random(&seed) % 3);
            break;
        case 5:
        case 6:
            step_touch(page);
            break;
        case 7:
            step_resize(page, (unsigned)(page + PAGES - 3 + test_random(&seed) % 6) % PAGES);
            break;
        default:
            step_gap(n, page / 2, PAGES - (unsigned)(test_random(&seed) % (PAGES / 4)));
        }
        if (step % 8 == 0)
            compare();
    }
}

static void equal_neighbours_become_one_after_a_change_is_taken_back(void **state)
{
    (void)state;
    assert_int_equal(map(10, 10, 3), 0);
    regions_split(&regions, address(14));
    regions_split(&regions, address(16));
    assert_int_equal(regions.count, 3);
    regions_merge(&regions, address(14), address(16));
    assert_int_equal(regions.count, 1);
    regions_check(&regions, LOW, HIGH);
}

static void a_lack_of_nodes_is_reported_and_changes_nothing(void **state)
{
    (void)state;
    while (regions.spares > 2)
        regions_take(&regions);
    assert_int_equal(map(1, 4, 1), 0);
    assert_int_equal(map(8, 1, 1), 0);
    assert_int_equal(map(20, 1, 1), -ENOSPC);
    assert_int_equal(regions_split(&regions, address(2)), -ENOSPC);
    assert_int_equal(regions_split(&regions, address(1)), 0);
    assert_int_equal(regions.count, 2);
    assert_null(regions_take(&regions));
    regions_check(&regions, LOW, HIGH);
}

/* As many as a space may have, against a sorted array. Gaps are between all of them, each with a
 * size of its own. */
static void tens_of_thousands_of_regions_stay_balanced(void **state)
{
    (void)state;
    struct region *many = calloc(REGIONS_MAX, sizeof *many);
    uint64_t seed = 7;
    vaddr_t va;

    regions = (struct regions){0};
    for (unsigned i = 0; i < REGIONS_MAX; i++)
        regions_give(&regions, &many[i]);
    for (uint64_t i = 0; i < REGIONS_MAX; i++) { /* in an order that is all over the place */
        uint64_t at = i * 40009 % REGIONS_MAX;
        struct region r = {.start = LOW + at * 3 * PAGE_SIZE, .tag = (uint8_t)(i % 2)};
        r.end = r.start + (1 + at % 2) * PAGE_SIZE;
        r.touched_lo = r.touched_hi = r.start;
        assert_int_equal(regions_insert(&regions, &r), 0);
    }
    assert_int_equal(regions.count, REGIONS_MAX);
    assert_true(regions.root->height <= 23);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t at = test_random(&seed) % REGIONS_MAX;
        vaddr_t high = LOW + at * 3 * PAGE_SIZE;
        int err = regions_find_gap(&regions, 2 * PAGE_SIZE, LOW, high, &va);
        uint64_t last = at ? at - 1 - (at - 1) % 2 : 0; /* the last even one below */
        assert_int_equal(err, at ? 0 : -ENOMEM);
        if (at)
            assert_int_equal(va, LOW + last * 3 * PAGE_SIZE + PAGE_SIZE);
    }
    regions_check(&regions, LOW, HIGH + REGIONS_MAX * 3 * PAGE_SIZE);
    while (regions.root) {
        struct region *r = regions_above(&regions, LOW + test_random(&seed) % (REGIONS_MAX << 13));
        regions_remove(&regions, r ? r : regions.root);
        if (regions.count % 5000 == 0)
            regions_check(&regions, LOW, HIGH + REGIONS_MAX * 3 * PAGE_SIZE);
    }
    free(many);
}

/* Parts of a mapped disk keep their page numbers on it, and merge only where these follow each
 * other. */
static void parts_of_a_mapped_disk_keep_their_pages(void **state)
{
    (void)state;
    struct region r = {.start = address(10),
                       .end = address(20),
                       .prot = 1,
                       .source = {(const struct page_source_ops *)1, &model, 110 * PAGE_SIZE - 1},
                       .source_page = 100};
    r.touched_lo = r.touched_hi = r.start;

    assert_int_equal(regions_insert(&regions, &r), 0);
    assert_int_equal(regions_split(&regions, address(13)), 0);
    assert_int_equal(regions_split(&regions, address(15)), 0);
    assert_int_equal(region_source_page(regions_find(&regions, address(14)), address(14)), 104);
    assert_int_equal(region_source_page(regions_find(&regions, address(19)), address(19)), 109);
    regions_merge(&regions, address(10), address(20));
    assert_int_equal(regions.count, 1);
    assert_int_equal(region_source_page(regions.root, address(19)), 109);
    assert_false(region_behind_source(regions.root, address(19)));
    r.start = address(20);
    r.end = address(22);
    r.touched_lo = r.touched_hi = r.start;
    assert_int_equal(regions_insert(&regions, &r), 0); /* page 100 again, behind page 109 */
    regions_merge(&regions, address(10), address(22));
    assert_int_equal(regions.count, 2);
    struct region *behind = region_next(regions_find(&regions, address(10)));
    behind->source_page = 110;
    assert_true(region_behind_source(behind, address(20)));
    behind->source.ops = NULL;
    assert_false(region_behind_source(behind, address(20)));
    regions_merge(&regions, address(10), address(22));
    assert_int_equal(regions.count, 2);
}

/* Reads at page n, as much as is said, and checks how many pages that are. */
static void assert_reads(struct region *r, unsigned n, unsigned least, unsigned most,
                         unsigned expected)
{
    assert_int_equal(region_ahead(r, address(n) + 123, least, most), expected);
    region_read(r, address(n), address(n + expected));
}

static void reading_in_a_row_goes_on_with_twice_as_much(void **state)
{
    (void)state;
    struct region r = {.start = address(10), .end = address(300)};

    unsigned at = 10;
    for (unsigned expected = 1; expected <= 32; expected *= 2) {
        assert_reads(&r, at, 1, 32, expected);
        at += expected;
    }
    assert_reads(&r, at, 1, 32, 32);
    /* advised: sequential */
    assert_reads(&r, 40, 32, 32, 32);
    assert_reads(&r, 295, 32, 32, 5); /* to its end */
    struct region other = {.start = address(10), .end = address(300)};
    assert_reads(&other, 10, 1, 1, 1); /* advised: random */
    assert_reads(&other, 11, 1, 1, 1);
}

static void single_pages_elsewhere_do_not_end_reading_in_a_row(void **state)
{
    (void)state;
    struct region r = {.start = address(10), .end = address(300)};

    for (unsigned at = 10, expected = 1; expected <= 16; at += expected, expected *= 2) {
        assert_reads(&r, at, 1, 32, expected);
        if (expected > 1)
            assert_reads(&r, 200 + 3 * expected, 1, 32, 1);
    }
    assert_reads(&r, 44, 1, 32, 32); /* some were there */
    assert_reads(&r, 76 + 32, 1, 32, 1);
    assert_reads(&r, 76 + 31, 1, 32, 32);
    assert_reads(&r, 250, 1, 32, 1);
    assert_reads(&r, 251, 1, 32, 2); /* two in a row begin another one */
    assert_reads(&r, 253, 1, 32, 4);
    assert_reads(&r, 139, 1, 32, 1);
}

/* A reader that uses one page after the other has pages asked for before it comes to them; each
 * time that it waits it has more of them. */
static void reading_in_a_row_asks_before_it_waits(void **state)
{
    (void)state;
    struct region r = {.start = address(10), .end = address(1000)};

    assert_int_equal(region_read_on(&r, address(10), false, 32), 0); /* nothing was read */
    assert_reads(&r, 10, 1, 32, 1);
    assert_int_equal(region_read_on(&r, address(10), false, 32), 0); /* one page is no row */
    assert_reads(&r, 11, 1, 32, 2);
    assert_int_equal(region_read_on(&r, address(11), false, 32), 4);
    assert_int_equal(r.ahead_next, address(17));
    assert_int_equal(region_read_on(&r, address(12), false, 32), 0); /* four are before it */
    assert_int_equal(region_read_on(&r, address(13), false, 3), 3);  /* there is no room for more */
    assert_int_equal(region_read_on(&r, address(16), false, 1), 0);  /* too few for a request */
    assert_int_equal(region_read_on(&r, address(16), false, 32), 8);
    assert_int_equal(region_read_on(&r, address(20), false, 32), 16);
    assert_int_equal(region_read_on(&r, address(28), false, 32), 32);
    assert_int_equal(r.ahead_next, address(76));
    for (unsigned at = 29; at < 44; at++)
        assert_int_equal(region_read_on(&r, address(at), false, 32), 0);
    assert_int_equal(region_read_on(&r, address(44), false, 32), 32);
    assert_int_equal(region_read_on(&r, address(45), true, 32), 0); /* it waits: 32 more */
    assert_int_equal(region_read_on(&r, address(46), true, 32), 32);
    assert_int_equal(r.ahead_next, address(140));
    assert_int_equal(region_read_on(&r, address(75), false, 32), 0);
    assert_int_equal(region_read_on(&r, address(76), false, 32), 32);
    for (unsigned i = 0; i < 10; i++)
        region_read_on(&r, address(100), true, 32);
    assert_int_equal(r.lead, REGION_LEAD_MAX);
    assert_int_equal(region_read_on(&r, address(200 + 800), false, 32), 0); /* behind them */
    assert_reads(&r, 500, 1, 32, 1);
    assert_reads(&r, 501, 1, 32, 2); /* another row begins */
    assert_int_equal(r.lead, 0);
    assert_reads(&r, 990, 1, 32, 1);
    assert_reads(&r, 991, 1, 32, 2);
    assert_int_equal(region_read_on(&r, address(992), false, 32), 4);
    assert_int_equal(region_read_on(&r, address(996), false, 32), 3); /* to its end */
    assert_int_equal(region_read_on(&r, address(999), false, 32), 0);
}

static void a_gap_larger_than_everything_is_refused(void **state)
{
    (void)state;
    vaddr_t va;
    assert_int_equal(regions_find_gap(&regions, UINT64_MAX - PAGE_SIZE + 1, LOW, HIGH, &va),
                     -ENOMEM);
    assert_int_equal(regions_find_gap(&regions, HIGH - LOW + PAGE_SIZE, LOW, HIGH, &va), -ENOMEM);
    assert_int_equal(regions_find_gap(&regions, 0, LOW, HIGH, &va), -ENOMEM);
    assert_int_equal(regions_find_gap(&regions, HIGH - LOW, LOW, HIGH, &va), 0);
    assert_int_equal(va, LOW);
}

static void a_closed_region_keeps_its_place_but_does_not_count_as_mapped(void **state)
{
    (void)state;
    assert_int_equal(map(4, 4, 1), 0);
    regions.root->flags = REGION_CLOSED;
    assert_false(regions_cover(&regions, address(4), address(5)));
    assert_int_equal(map(5, 1, 1), -EEXIST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_changes_keep_order_rights_and_touched_pages, set_up),
        cmocka_unit_test_setup(equal_neighbours_become_one_after_a_change_is_taken_back, set_up),
        cmocka_unit_test_setup(a_lack_of_nodes_is_reported_and_changes_nothing, set_up),
        cmocka_unit_test(tens_of_thousands_of_regions_stay_balanced),
        cmocka_unit_test_setup(parts_of_a_mapped_disk_keep_their_pages, set_up),
        cmocka_unit_test_setup(reading_in_a_row_goes_on_with_twice_as_much, set_up),
        cmocka_unit_test_setup(single_pages_elsewhere_do_not_end_reading_in_a_row, set_up),
        cmocka_unit_test_setup(reading_in_a_row_asks_before_it_waits, set_up),
        cmocka_unit_test_setup(a_gap_larger_than_everything_is_refused, set_up),
        cmocka_unit_test_setup(a_closed_region_keeps_its_place_but_does_not_count_as_mapped,
                               set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
