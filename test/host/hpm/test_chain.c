/*
 * Chains by frame pointers (hpm/policy/chain.h), on a made-up memory: chains that are there, and
 * what a program could put in their place. Then the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "hpm/policy/chain.h"

#define USER   0x10000ull
#define TOP    0x7fffff000000ull
#define KERNEL 0xffff800000000000ull
#define CODE   0xffffffff80000000ull
#define STACK  0x7ffffe000000ull
#define KSTACK 0xffff900000000000ull
#define SIGNED 0x002b800000000000ull

static const struct chain_mode mode[CHAIN_MODES] = {
    [CHAIN_USER] = {USER, TOP, USER, TOP + 0x1000, (1ull << 47) - 1},
    [CHAIN_KERNEL] = {KERNEL, UINT64_MAX, CODE, UINT64_MAX, UINT64_MAX},
};

/* Records: address, link, return address; the rest of memory cannot be read. */
struct record {
    uint64_t at, link, address;
};

static struct chain_walk walk;
static uint64_t found[CHAIN_MAX];

/* Walks, and returns the number of addresses. */
static unsigned walk_over(const struct record *r, size_t n, uint64_t link, bool kernel)
{
    uint64_t at;

    found[0] = 1;
    chain_begin(&walk, link, kernel);
    while (chain_wants(&walk, mode, &at)) {
        size_t i = 0;
        while (i < n && r[i].at != at)
            i++;
        if (i == n) {
            walk.cut = true;
            break;
        }
        unsigned count = walk.count;
        uint64_t address = chain_take(&walk, mode, r[i].link, r[i].address);
        if (!address)
            break;
        found[count] = address;
    }
    return walk.count;
}

static void a_chain_has_all_its_addresses(void **state)
{
    const struct record r[] = {{STACK, STACK + 32, 0x401000},
                               {STACK + 32, STACK + 48, 0x402000},
                               {STACK + 48, 0, 0x403000}};

    (void)state;
    assert_int_equal(walk_over(r, 3, STACK, false), 4);
    assert_false(walk.cut);
    assert_int_equal(found[1], 0x401000);
    assert_int_equal(found[3], 0x403000);
    assert_int_equal(walk_over(r, 3, 0, false), 1);
    assert_false(walk.cut);
}

static void a_return_address_of_zero_ends_it(void **state)
{
    const struct record r[] = {{STACK, STACK + 32, 0x401000}, {STACK + 32, STACK + 48, 0}};

    (void)state;
    assert_int_equal(walk_over(r, 2, STACK, false), 2);
    assert_false(walk.cut);
}

static void signatures_are_taken_off(void **state)
{
    const struct record r[] = {{STACK, 0, SIGNED | 0x401000}};

    (void)state;
    assert_int_equal(walk_over(r, 1, STACK, false), 2);
    assert_int_equal(found[1], 0x401000);
}

static void the_kernels_part_goes_on_in_the_programs(void **state)
{
    const struct record r[] = {{KSTACK + 64, KSTACK, CODE + 0x1000},
                               {KSTACK, STACK, 0x401000},
                               {STACK, STACK + 16, 0x402000},
                               {STACK + 16, 0, 0x403000}};

    (void)state;
    assert_int_equal(walk_over(r, 4, KSTACK + 64, true), 5);
    assert_false(walk.cut);
    assert_int_equal(found[1], CODE + 0x1000);
    assert_int_equal(found[4], 0x403000);
}

/* Whatever a program has as link, the kernel's memory is not read for it. */
static void no_link_of_a_program_leads_to_the_kernel(void **state)
{
    const struct record r[] = {{KSTACK, KSTACK + 64, 0x401000},
                               {KSTACK + 64, KSTACK + 80, CODE + 0x1000},
                               {STACK, KSTACK + 64, 0x402000}};

    (void)state;
    assert_int_equal(walk_over(r, 3, KSTACK, true), 2); /* behind the record of its entry */
    assert_true(walk.cut);
    assert_int_equal(walk_over(r, 3, KSTACK + 64, false), 1);
    assert_true(walk.cut);
    assert_int_equal(walk_over(r, 3, STACK, false), 2);
    assert_true(walk.cut);
}

static void what_is_no_record_cuts_it(void **state)
{
    const struct record falling[] = {{STACK + 32, STACK, 0x401000}, {STACK, 0, 0x402000}},
                        circle[] = {{STACK, STACK, 0x401000}},
                        overlap[] = {{STACK, STACK + 8, 0x401000}, {STACK + 8, 0, 0x402000}},
                        no_code[] = {{STACK, STACK + 16, 12}, {STACK + 16, 0, 0x402000}},
                        kernel_code[] = {{STACK, STACK + 16, CODE}};

    (void)state;
    assert_int_equal(walk_over(falling, 2, STACK + 32, false), 2);
    assert_true(walk.cut);
    assert_int_equal(walk_over(circle, 1, STACK, false), 2);
    assert_true(walk.cut);
    assert_int_equal(walk_over(overlap, 2, STACK, false), 2);
    assert_true(walk.cut);
    assert_int_equal(walk_over(no_code, 2, STACK, false), 1);
    assert_true(walk.cut);
    assert_int_equal(walk_over(kernel_code, 1, STACK, false), 1);
    assert_true(walk.cut);
    const uint64_t wild[] = {1, STACK + 4, USER - 16, TOP - 8, TOP, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        assert_int_equal(walk_over(NULL, 0, wild[i], false), 1);
        assert_true(walk.cut);
    }
}

static void it_ends_at_its_longest(void **state)
{
    static struct record r[200];

    (void)state;
    for (unsigned i = 0; i < 200; i++)
        r[i] = (struct record){STACK + 16 * i, STACK + 16 * i + 16, 0x401000 + i};
    assert_int_equal(walk_over(r, 200, STACK, false), CHAIN_MAX);
    assert_true(walk.cut);
    for (unsigned i = 0; i < 200; i++) /* the kernel's may be in a circle */
        r[i] = (struct record){KSTACK + 16 * i, KSTACK + 16 * (i ^ 1), CODE + i};
    assert_int_equal(walk_over(r, 200, KSTACK, true), CHAIN_MAX);
    assert_true(walk.cut);
}

/* ---- By tables of frames --------------------------------------------------------------------- */

static const struct chain_mode *const user = &mode[CHAIN_USER];
static uint64_t link_at, fp_at;
static bool cut;

static bool wants(const struct chain_registers *r, struct symbols_frame f)
{
    link_at = fp_at = 1;
    return chain_frame_wants(r, &f, user, &link_at, &fp_at, &cut);
}

static void a_frame_says_where_the_callers_words_are(void **state)
{
    struct chain_registers r = {.pc = 0x401000, .sp = STACK, .fp = STACK + 64, .link = 0x402000};
    const struct symbols_frame by_sp = {0, 6, 1, 2}, by_fp = {0, SYMBOLS_FRAME_FP | 2, 1, 0},
                               leaf = {0, 0, 0, 0},
                               wide = {0, 326, SYMBOLS_FRAME_RECORD, SYMBOLS_FRAME_RECORD};

    (void)state;
    assert_true(wants(&r, by_fp));
    assert_int_equal(link_at, STACK + 72);
    assert_int_equal(fp_at, 0);
    assert_true(wants(&r, by_sp));
    assert_int_equal(link_at, STACK + 40);
    assert_int_equal(fp_at, STACK + 32);
    assert_true(wants(&r, leaf));
    assert_int_equal(link_at, 0);
    assert_true(wants(&r, wide));
    assert_true(link_at == STACK + 8 && fp_at == STACK);
    struct chain_registers again = r, far = r;
    assert_true(chain_frame_take(&far, &wide, user, 0x403000, 77));
    assert_true(far.pc == 0x403000 && far.sp == STACK + 326 * 8 && far.fp == 77);
    assert_true(chain_frame_take(&r, &by_sp, user, SIGNED | 0x403000, 77));
    assert_true(r.pc == 0x403000 && r.sp == STACK + 48 && r.fp == 77 && r.called && !r.link);
    assert_true(chain_frame_take(&again, &leaf, user, 0, 0));
    assert_true(again.pc == 0x402000 && again.sp == STACK && again.fp == STACK + 64);
}

static void frames_that_cannot_be_cut_it(void **state)
{
    struct chain_registers r = {.pc = 0x401000, .sp = STACK, .fp = STACK - 64, .called = true};

    (void)state;
    assert_false(wants(&r, (struct symbols_frame){0, SYMBOLS_FRAME_NONE, 0, 0}));
    assert_false(cut); /* the chain's end */
    assert_false(wants(&r, (struct symbols_frame){0, SYMBOLS_FRAME_FP | 2, 1, 0})); /* below */
    assert_true(cut);
    assert_false(wants(&r, (struct symbols_frame){0, 0, 1, 0})); /* a caller without a frame */
    assert_true(cut);
    assert_false(wants(&r, (struct symbols_frame){0, 2, 0, 0})); /* its link is gone */
    assert_true(cut);
    const uint64_t wild[] = {KSTACK, KERNEL, UINT64_MAX - 7, STACK + 4, TOP, 0};
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        r.fp = wild[i];
        assert_false(wants(&r, (struct symbols_frame){0, SYMBOLS_FRAME_FP | 2, 1, 2}));
        assert_true(cut);
    }
    assert_false(chain_frame_take(&r, &(struct symbols_frame){0, 2, 1, 0}, user, CODE, 0));
}

/* ---- The table ------------------------------------------------------------------------------- */

static struct chain_table table;

static uint32_t put(unsigned length, uint64_t first)
{
    for (unsigned i = 0; i < length; i++)
        table.work[i] = first + i;
    return chain_number(&table, length);
}

static void equal_chains_have_one_number(void **state)
{
    uint64_t out[CHAIN_MAX];

    (void)state;
    memset(&table, 0, sizeof table);
    assert_int_equal(put(3, 100), 1);
    assert_int_equal(put(2, 100), 2);
    assert_int_equal(put(3, 101), 3);
    assert_int_equal(put(3, 100), 1);
    assert_int_equal(put(2, 100), 2);
    assert_int_equal(chain_read(&table, 1, out, CHAIN_MAX), 3);
    assert_int_equal(out[2], 102);
    assert_int_equal(chain_read(&table, 3, out, 1), 3);
    assert_int_equal(out[0], 101);
    assert_int_equal(out[1], 101); /* of the reading before */
    assert_int_equal(chain_read(&table, 0, out, CHAIN_MAX), 0);
    assert_int_equal(chain_read(&table, 4, out, CHAIN_MAX), 0);
    assert_int_equal(table.full, 0);
}

static void a_full_table_keeps_what_it_has(void **state)
{
    uint64_t out[CHAIN_MAX];

    (void)state;
    memset(&table, 0, sizeof table);
    for (unsigned i = 0; i < CHAINS_MAX; i++)
        assert_int_equal(put(2, 10 * i), i + 1);
    assert_int_equal(put(2, 10 * CHAINS_MAX), 0);
    assert_int_equal(table.full, 1);
    for (unsigned i = 0; i < CHAINS_MAX; i++) {
        assert_int_equal(put(2, 10 * i), i + 1);
        assert_int_equal(chain_read(&table, i + 1, out, CHAIN_MAX), 2);
        assert_int_equal(out[1], 10 * i + 1);
    }
    memset(&table, 0, sizeof table);
    unsigned n = 0;
    while (put(CHAIN_MAX, 1000 * n))
        n++;
    assert_int_equal(n, CHAIN_WORDS / CHAIN_MAX);
    assert_int_equal(put(CHAIN_WORDS % CHAIN_MAX, 7), n + 1); /* a shorter one has room */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_has_all_its_addresses),
        cmocka_unit_test(a_return_address_of_zero_ends_it),
        cmocka_unit_test(signatures_are_taken_off),
        cmocka_unit_test(the_kernels_part_goes_on_in_the_programs),
        cmocka_unit_test(no_link_of_a_program_leads_to_the_kernel),
        cmocka_unit_test(what_is_no_record_cuts_it),
        cmocka_unit_test(it_ends_at_its_longest),
        cmocka_unit_test(a_frame_says_where_the_callers_words_are),
        cmocka_unit_test(frames_that_cannot_be_cut_it),
        cmocka_unit_test(equal_chains_have_one_number),
        cmocka_unit_test(a_full_table_keeps_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
