/* The regions of an address space against a map of what each page belongs to. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/region/region.h"

#define LOW      ((vaddr_t)0x10000)
#define PAGES    512
#define HIGH     (LOW + PAGES * PAGE_SIZE)
#define CAPACITY 200

static struct region items[CAPACITY];
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
    regions = (struct regions){items, 0, CAPACITY};
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
    assert_true(err == (taken ? -EEXIST : 0) || (err == -ENOSPC && regions.count == CAPACITY));
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
    uint32_t i = regions_index(&regions, address(page));
    while (i < regions.count && regions.items[i].start < address(page + n))
        regions_remove(&regions, i);
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
    for (uint32_t i = regions_index(&regions, address(page));
         i < regions.count && regions.items[i].start < address(page + n); i++)
        regions.items[i].prot = prot;
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

static void step_gap(unsigned n)
{
    vaddr_t va;
    unsigned run = 0, best = 0;

    for (unsigned i = 0; i < PAGES; i++) {
        run = model[i].mapped ? 0 : run + 1;
        best = MAX(best, run);
    }
    int err = regions_find_gap(&regions, n * PAGE_SIZE, LOW, HIGH, &va);
    assert_int_equal(err, best >= n + 2 ? 0 : -ENOMEM);
    for (unsigned i = 0; i < n + 2 && !err; i++)
        assert_false(model[(va - LOW) / PAGE_SIZE - 1 + i].mapped);
}

static void random_changes_keep_order_rights_and_touched_pages(void **state)
{
    (void)state;
    uint64_t seed = 99;

    for (unsigned step = 0; step < 30000; step++) {
        unsigned page = test_random(&seed) % PAGES;
        unsigned n = 1 + test_random(&seed) % MIN(PAGES - page, 40u);
        switch (test_random(&seed) % 8) {
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
        default:
            step_gap(n);
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

static void full_storage_is_reported_and_changes_nothing(void **state)
{
    (void)state;
    regions.capacity = 2;
    assert_int_equal(map(1, 4, 1), 0);
    assert_int_equal(map(8, 1, 1), 0);
    assert_int_equal(map(20, 1, 1), -ENOSPC);
    assert_int_equal(regions_split(&regions, address(2)), -ENOSPC);
    assert_int_equal(regions_split(&regions, address(1)), 0);
    assert_int_equal(regions.count, 2);
    regions_check(&regions, LOW, HIGH);
}

/* Parts of a mapped disk keep their page numbers on it, and merge only where these follow each
 * other. */
static void parts_of_a_mapped_disk_keep_their_pages(void **state)
{
    (void)state;
    struct block_device *disk = (struct block_device *)1;
    struct region r = {
        .start = address(10), .end = address(20), .prot = 1, .source = disk, .source_page = 100};

    assert_int_equal(regions_insert(&regions, &r), 0);
    assert_int_equal(regions_split(&regions, address(13)), 0);
    assert_int_equal(regions_split(&regions, address(15)), 0);
    assert_int_equal(region_source_page(regions_find(&regions, address(14)), address(14)), 104);
    assert_int_equal(region_source_page(regions_find(&regions, address(19)), address(19)), 109);
    regions_merge(&regions, address(10), address(20));
    assert_int_equal(regions.count, 1);
    assert_int_equal(region_source_page(&regions.items[0], address(19)), 109);
    r.start = address(20);
    r.end = address(22);
    assert_int_equal(regions_insert(&regions, &r), 0); /* page 100 again, behind page 109 */
    regions_merge(&regions, address(10), address(22));
    assert_int_equal(regions.count, 2);
    regions.items[1].source_page = 110;
    regions.items[1].source = NULL;
    regions_merge(&regions, address(10), address(22));
    assert_int_equal(regions.count, 2);
}

static void reading_in_a_row_goes_on_with_twice_as_much(void **state)
{
    (void)state;
    struct region r = {.start = address(10), .end = address(200)};

    vaddr_t at = address(10);
    for (unsigned expected = 1; expected <= 32; expected *= 2) {
        assert_int_equal(region_ahead(&r, at + 123, 1, 32), expected);
        at = r.ahead_next = at + expected * PAGE_SIZE;
    }
    assert_int_equal(region_ahead(&r, at, 1, 32), 32);
    r.ahead_next = at + 32 * PAGE_SIZE;
    assert_int_equal(region_ahead(&r, address(150), 1, 32), 1);
    r.ahead_next = address(151);
    assert_int_equal(region_ahead(&r, address(151), 1, 32), 2);
    /* advised: sequential */
    assert_int_equal(region_ahead(&r, address(40), 32, 32), 32);
    assert_int_equal(region_ahead(&r, address(195), 32, 32), 5); /* to its end */
    r.ahead_next = address(60);
    assert_int_equal(region_ahead(&r, address(60), 1, 1), 1); /* advised: random */
}

static void a_gap_larger_than_everything_is_refused(void **state)
{
    (void)state;
    vaddr_t va;
    assert_int_equal(regions_find_gap(&regions, UINT64_MAX - PAGE_SIZE + 1, LOW, HIGH, &va),
                     -ENOMEM);
    assert_int_equal(regions_find_gap(&regions, HIGH - LOW, LOW, HIGH, &va), -ENOMEM);
    assert_int_equal(regions_find_gap(&regions, HIGH - LOW - 2 * PAGE_SIZE, LOW, HIGH, &va), 0);
    assert_int_equal(va, LOW + PAGE_SIZE);
}

static void a_dying_region_keeps_its_place_but_does_not_count_as_mapped(void **state)
{
    (void)state;
    assert_int_equal(map(4, 4, 1), 0);
    regions.items[0].dying = &regions;
    assert_false(regions_cover(&regions, address(4), address(5)));
    assert_int_equal(map(5, 1, 1), -EEXIST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_changes_keep_order_rights_and_touched_pages, set_up),
        cmocka_unit_test_setup(equal_neighbours_become_one_after_a_change_is_taken_back, set_up),
        cmocka_unit_test_setup(full_storage_is_reported_and_changes_nothing, set_up),
        cmocka_unit_test_setup(parts_of_a_mapped_disk_keep_their_pages, set_up),
        cmocka_unit_test_setup(reading_in_a_row_goes_on_with_twice_as_much, set_up),
        cmocka_unit_test_setup(a_gap_larger_than_everything_is_refused, set_up),
        cmocka_unit_test_setup(a_dying_region_keeps_its_place_but_does_not_count_as_mapped, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
