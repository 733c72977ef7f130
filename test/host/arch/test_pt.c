/*
 * The page-table walker against a plain list of pages. Tables are in the host's memory: the direct
 * map is only an offset, so a "physical" address is a pointer minus DIRECT_BASE, and the entry
 * format here keeps all its bits.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/pt.h"

#define PRESENT   1
#define LEAF      2
#define PROT_AT   2
#define PROT_BITS 0x7c
#define MARKS_AT  7
#define MARKS     0x180
#define NUMBER    0x200
#define LARGE     (2 * MIB)
#define PAGES     64

static size_t frames_out, frames_left;

static int alloc_frame(const struct arch_frames *self, paddr_t *out)
{
    (void)self;
    if (!frames_left)
        return -ENOMEM;
    void *page = aligned_alloc(PAGE_SIZE, PAGE_SIZE);
    assert_non_null(page);
    memset(page, 0, PAGE_SIZE);
    *out = virt_to_phys(page);
    frames_out++;
    frames_left--;
    return 0;
}

static void free_frame(const struct arch_frames *self, paddr_t frame)
{
    (void)self;
    free(phys_to_virt(frame));
    frames_out--;
    frames_left++;
}

static const struct arch_frames frames = {alloc_frame, free_frame};

static uint64_t leaf(paddr_t pa, unsigned prot, unsigned level)
{
    (void)level;
    return pa | (uint64_t)prot << PROT_AT | LEAF | PRESENT;
}

static uint64_t table(paddr_t pa, unsigned prot)
{
    (void)prot;
    return pa | PRESENT;
}

static bool present(uint64_t e)
{
    return e & PRESENT;
}

static bool is_leaf(uint64_t e, unsigned level)
{
    (void)level;
    return e & LEAF;
}

static paddr_t address(uint64_t e, unsigned level)
{
    (void)level;
    return e & ~PAGE_MASK;
}

static unsigned prot_of(uint64_t e)
{
    return (e & PROT_BITS) >> PROT_AT;
}

static void store(uint64_t *slot, uint64_t e)
{
    *slot = e;
}

/* The marks that the processor sets between two looks at an entry. */
static unsigned marked_meanwhile;

static bool replace(uint64_t *slot, uint64_t old, uint64_t e)
{
    *slot |= (uint64_t)marked_meanwhile << MARKS_AT;
    marked_meanwhile = 0;
    if (*slot != old)
        return false;
    *slot = e;
    return true;
}

static unsigned marks_of(uint64_t e)
{
    return (e & MARKS) >> MARKS_AT;
}

static uint64_t mark(uint64_t e, unsigned marks)
{
    return (e & ~(uint64_t)MARKS) | (uint64_t)marks << MARKS_AT;
}

static uint64_t protect(uint64_t e, unsigned prot)
{
    return mark(leaf(address(e, 3), prot, 3), marks_of(e));
}

static uint64_t number(uint32_t number)
{
    return (uint64_t)number << PAGE_SHIFT | NUMBER;
}

static bool is_number(uint64_t e, uint32_t *number)
{
    *number = (uint32_t)(e >> PAGE_SHIFT);
    return e & NUMBER;
}

static const struct pt_format format = {
    .levels = 4,
    .physical_bits = 40,
    .level = {{39, false}, {30, false}, {21, true}, {12, true}},
    .leaf = leaf,
    .table = table,
    .present = present,
    .is_leaf = is_leaf,
    .address = address,
    .prot = prot_of,
    .store = store,
    .replace = replace,
    .marks = marks_of,
    .mark = mark,
    .protect = protect,
    .number = number,
    .is_number = is_number,
};

static struct pt pt;

static int fresh(void **state)
{
    (void)state;
    frames_out = 0;
    frames_left = 1000;
    pt = (struct pt){.format = &format, .frames = &frames};
    assert_int_equal(alloc_frame(&frames, &pt.root), 0);
    return 0;
}

static int no_frame_is_lost(void **state)
{
    (void)state;
    pt_free_tables(&pt, 0, PT_ENTRIES);
    free_frame(&frames, pt.root);
    return frames_out != 0;
}

static void expect_page(vaddr_t va, paddr_t want_pa, unsigned want_prot)
{
    paddr_t pa;
    unsigned prot;

    assert_int_equal(pt_query(&pt, va, &pa, &prot), 0);
    assert_int_equal(pa, want_pa);
    assert_int_equal(prot, want_prot);
}

static void expect_nothing(vaddr_t va)
{
    paddr_t pa;
    unsigned prot;

    assert_int_equal(pt_query(&pt, va, &pa, &prot), -ENOENT);
}

static void a_range_is_mapped_by_the_largest_pages_that_fit(void **state)
{
    (void)state;
    assert_int_equal(pt_map(&pt, LARGE - PAGE_SIZE, 3 * LARGE - PAGE_SIZE, 2 * LARGE, PROT_R), 0);
    /* Root, two tables on the way, a table of pages on either side of the large page. */
    assert_int_equal(frames_out, 5);
    expect_page(LARGE - PAGE_SIZE, 3 * LARGE - PAGE_SIZE, PROT_R);
    expect_page(LARGE + 5 * PAGE_SIZE + 7, 3 * LARGE + 5 * PAGE_SIZE, PROT_R);
    expect_page(3 * LARGE - 2 * PAGE_SIZE, 5 * LARGE - 2 * PAGE_SIZE, PROT_R);
    expect_nothing(LARGE - 2 * PAGE_SIZE);
    expect_nothing(3 * LARGE - PAGE_SIZE);
}

static void what_is_mapped_is_not_mapped_over(void **state)
{
    (void)state;
    assert_int_equal(pt_map(&pt, 0, LARGE, LARGE, PROT_R), 0);
    assert_int_equal(pt_map(&pt, PAGE_SIZE, 0, PAGE_SIZE, PROT_R), -EEXIST);
    assert_int_equal(pt_map(&pt, LARGE, 0, PAGE_SIZE, PROT_R), 0);
    assert_int_equal(pt_map(&pt, LARGE, 0, PAGE_SIZE, PROT_R), -EEXIST);
    assert_int_equal(pt_map(&pt, LARGE, 0, LARGE, PROT_R), -EEXIST);
}

static void single_pages_of_a_large_one_cannot_be_changed(void **state)
{
    paddr_t pa;

    (void)state;
    assert_int_equal(pt_map(&pt, 0, LARGE, LARGE, PROT_R), 0);
    assert_int_equal(pt_unmap(&pt, PAGE_SIZE, &pa), -EINVAL);
    assert_int_equal(pt_protect(&pt, PAGE_SIZE, PROT_R | PROT_W), -EINVAL);
    expect_page(PAGE_SIZE, LARGE + PAGE_SIZE, PROT_R);
}

static void running_out_of_frames_leaves_a_tree_that_works(void **state)
{
    (void)state;
    for (size_t left = 0; left < 3; left++) {
        frames_left = left;
        assert_int_equal(pt_map(&pt, (vaddr_t)left << 39, 0, PAGE_SIZE, PROT_R), -ENOMEM);
        expect_nothing((vaddr_t)left << 39);
        frames_left = 1000;
        assert_int_equal(pt_map(&pt, (vaddr_t)left << 39, PAGE_SIZE, PAGE_SIZE, PROT_R), 0);
        expect_page((vaddr_t)left << 39, PAGE_SIZE, PROT_R);
    }
}

static void copies_of_a_prepared_root_share_what_comes_later(void **state)
{
    const vaddr_t va = (vaddr_t)300 << 39;
    uint64_t *root = phys_to_virt(pt.root);

    (void)state;
    assert_int_equal(pt_prepare(&pt, va, PROT_R), 0);
    uint64_t before = root[300];
    assert_true(present(before));
    assert_int_equal(pt_map(&pt, va + 5 * GIB, PAGE_SIZE, PAGE_SIZE, PROT_R), 0);
    assert_int_equal(root[300], before);
    assert_int_equal(pt_prepare(&pt, va, PROT_R), 0);
    assert_int_equal(root[300], before);
}

struct model {
    bool mapped;
    paddr_t pa;
    unsigned prot;
};

/* Returns addresses in different tables of every level. */
static vaddr_t address_of(unsigned i)
{
    return (vaddr_t)(i & 1) << 39 | (vaddr_t)(i >> 1 & 1) << 30 | (vaddr_t)(i >> 2 & 1) << 21 |
           (vaddr_t)(i >> 3) << 12;
}

static void step(struct model *m, vaddr_t va, uint64_t random)
{
    unsigned prot = PROT_R | (random >> 8 & (PROT_W | PROT_X));
    paddr_t pa = (random >> 16 & 0xffff) << PAGE_SHIFT, was;

    switch (random % 3) {
    case 0:
        assert_int_equal(pt_map(&pt, va, pa, PAGE_SIZE, prot), m->mapped ? -EEXIST : 0);
        if (!m->mapped)
            *m = (struct model){true, pa, prot};
        break;
    case 1:
        assert_int_equal(pt_unmap(&pt, va, &was), m->mapped ? 0 : -ENOENT);
        if (m->mapped)
            assert_int_equal(was, m->pa);
        m->mapped = false;
        break;
    case 2:
        assert_int_equal(pt_protect(&pt, va, prot), m->mapped ? 0 : -ENOENT);
        m->prot = m->mapped ? prot : m->prot;
        break;
    }
}

static void random_changes_agree_with_a_list(void **state)
{
    struct model model[PAGES] = {0};
    uint64_t seed = 42;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned i = test_random(&seed) % PAGES;
        step(&model[i], address_of(i), test_random(&seed));
        unsigned look = test_random(&seed) % PAGES;
        if (model[look].mapped)
            expect_page(address_of(look), model[look].pa, model[look].prot);
        else
            expect_nothing(address_of(look));
    }
}

static void what_has_too_many_bits_is_refused_as_a_whole(void **state)
{
    static const struct {
        paddr_t pa;
        uint64_t size;
    } beyond[] = {
        {(paddr_t)1 << 40, PAGE_SIZE},        {((paddr_t)1 << 40) - PAGE_SIZE, 2 * PAGE_SIZE},
        {0, ((uint64_t)1 << 40) + PAGE_SIZE}, {-PAGE_SIZE, PAGE_SIZE},
        {-PAGE_SIZE, 2 * PAGE_SIZE},          {(paddr_t)1 << 63, (uint64_t)1 << 63},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(beyond); i++) {
        assert_int_equal(pt_map(&pt, LARGE, beyond[i].pa, beyond[i].size, PROT_R), -ERANGE);
        expect_nothing(LARGE);
    }
    assert_int_equal(pt_map(&pt, LARGE, ((paddr_t)1 << 40) - PAGE_SIZE, PAGE_SIZE, PROT_R), 0);
    expect_page(LARGE, ((paddr_t)1 << 40) - PAGE_SIZE, PROT_R);
}

static struct arch_page look(vaddr_t va)
{
    struct arch_page page;

    pt_look(&pt, va, 1, &page);
    return page;
}

static void a_number_takes_a_pages_place_and_makes_room_for_one(void **state)
{
    unsigned marks;
    paddr_t pa;

    (void)state;
    assert_int_equal(pt_evict(&pt, LARGE, 7, &pa, &marks), -ENOENT);
    assert_int_equal(pt_map(&pt, LARGE, 5 * PAGE_SIZE, PAGE_SIZE, PROT_R), 0);
    assert_int_equal(pt_forget(&pt, LARGE), -ENOENT);
    assert_int_equal(pt_evict(&pt, LARGE, UINT32_MAX, &pa, &marks), 0);
    assert_int_equal(pa, 5 * PAGE_SIZE);
    assert_int_equal(marks, 0);
    expect_nothing(LARGE);
    assert_int_equal(look(LARGE).kind, ARCH_PAGE_OUT);
    assert_int_equal(look(LARGE).number, UINT32_MAX);
    assert_int_equal(pt_unmap(&pt, LARGE, &pa), -ENOENT);
    assert_int_equal(pt_evict(&pt, LARGE, 7, &pa, &marks), -ENOENT);
    assert_int_equal(pt_map(&pt, LARGE, 6 * PAGE_SIZE, PAGE_SIZE, PROT_R), 0);
    expect_page(LARGE, 6 * PAGE_SIZE, PROT_R);
    assert_int_equal(pt_evict(&pt, LARGE, 0, &pa, &marks), 0);
    assert_int_equal(pt_forget(&pt, LARGE), 0);
    assert_int_equal(look(LARGE).kind, ARCH_PAGE_NONE);
    assert_int_equal(pt_forget(&pt, LARGE), -ENOENT);
}

static void a_number_is_put_where_tables_are_and_nothing_else(void **state)
{
    unsigned marks;
    paddr_t pa;

    (void)state;
    assert_int_equal(pt_put_number(&pt, LARGE, 7), -ENOENT);
    assert_int_equal(pt_skip(&pt, 0, LARGE + PAGE_SIZE), LARGE + PAGE_SIZE);
    assert_int_equal(pt_reserve(&pt, LARGE), 0);
    assert_int_equal(pt_reserve(&pt, LARGE), 0);
    assert_int_equal(pt_skip(&pt, 0, LARGE + PAGE_SIZE), LARGE);
    assert_int_equal(pt_skip(&pt, LARGE + PAGE_SIZE, LARGE + 2 * PAGE_SIZE), LARGE + PAGE_SIZE);
    assert_int_equal(pt_put_number(&pt, LARGE, 7), 0);
    assert_int_equal(look(LARGE).kind, ARCH_PAGE_OUT);
    assert_int_equal(look(LARGE).number, 7);
    assert_int_equal(pt_put_number(&pt, LARGE, 8), -EEXIST);
    assert_int_equal(pt_map(&pt, LARGE, 6 * PAGE_SIZE, PAGE_SIZE, PROT_R), 0);
    assert_int_equal(pt_put_number(&pt, LARGE, 8), -EEXIST);
    assert_int_equal(pt_evict(&pt, LARGE, 0, &pa, &marks), 0);
    assert_int_equal(pt_forget(&pt, LARGE), 0);
}

static void what_the_processor_marks_amid_a_change_is_not_lost(void **state)
{
    unsigned marks;
    paddr_t pa;

    (void)state;
    assert_int_equal(pt_map(&pt, LARGE, PAGE_SIZE, PAGE_SIZE, PROT_R | PROT_W), 0);
    marked_meanwhile = ARCH_USED;
    assert_int_equal(pt_protect(&pt, LARGE, PROT_R), 0);
    assert_int_equal(look(LARGE).marks, ARCH_USED);
    expect_page(LARGE, PAGE_SIZE, PROT_R);
    marked_meanwhile = ARCH_WRITTEN;
    assert_int_equal(pt_mark(&pt, LARGE, ARCH_USED, 0, &marks), 0);
    assert_int_equal(marks, ARCH_USED | ARCH_WRITTEN);
    assert_int_equal(look(LARGE).marks, ARCH_WRITTEN);
    marked_meanwhile = ARCH_USED;
    assert_int_equal(pt_evict(&pt, LARGE, 3, &pa, &marks), 0);
    assert_int_equal(marks, ARCH_USED | ARCH_WRITTEN);
    assert_int_equal(pt_mark(&pt, LARGE, 0, ARCH_USED, &marks), -ENOENT);
}

static void a_row_of_pages_is_looked_at_in_one_go(void **state)
{
    struct arch_page row[32];
    unsigned marks;
    paddr_t pa;

    (void)state;
    assert_int_equal(pt_look(&pt, LARGE, 32, row), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pt_map(&pt, LARGE + 2 * i * PAGE_SIZE, i * PAGE_SIZE, PAGE_SIZE, PROT_R),
                         0);
    assert_int_equal(pt_evict(&pt, LARGE + 2 * PAGE_SIZE, 9, &pa, &marks), 0);
    assert_int_equal(pt_look(&pt, LARGE, 32, row), 3);
    assert_true(row[0].kind == ARCH_PAGE_HERE && row[0].pa == 0 && row[0].prot == PROT_R);
    assert_true(row[2].kind == ARCH_PAGE_OUT && row[2].number == 9);
    assert_true(row[4].kind == ARCH_PAGE_HERE && row[4].pa == 2 * PAGE_SIZE);
    assert_true(row[1].kind == ARCH_PAGE_NONE && row[31].kind == ARCH_PAGE_NONE);
    assert_int_equal(pt_map(&pt, 4 * LARGE, LARGE, LARGE, PROT_R), 0);
    assert_int_equal(pt_look(&pt, 4 * LARGE, 32, row), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_range_is_mapped_by_the_largest_pages_that_fit, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(what_is_mapped_is_not_mapped_over, fresh, no_frame_is_lost),
        cmocka_unit_test_setup_teardown(single_pages_of_a_large_one_cannot_be_changed, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(running_out_of_frames_leaves_a_tree_that_works, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(copies_of_a_prepared_root_share_what_comes_later, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(random_changes_agree_with_a_list, fresh, no_frame_is_lost),
        cmocka_unit_test_setup_teardown(a_number_takes_a_pages_place_and_makes_room_for_one, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(a_number_is_put_where_tables_are_and_nothing_else, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(what_the_processor_marks_amid_a_change_is_not_lost, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(a_row_of_pages_is_looked_at_in_one_go, fresh,
                                        no_frame_is_lost),
        cmocka_unit_test_setup_teardown(what_has_too_many_bits_is_refused_as_a_whole, fresh,
                                        no_frame_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
