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

/* ---- By rules -------------------------------------------------------------------------------- */

static const struct chain_mode *const user = &mode[CHAIN_USER];
static struct chain_caller caller;
static bool cut;

static bool wants_rule(const struct chain_registers *r, const struct frame_rule *rule)
{
    chain_caller_begin(r, rule, &caller);
    return chain_caller_wants(r, rule, user, &caller, &cut);
}

static bool wants(const struct chain_registers *r, struct symbols_frame f)
{
    const struct frame_rule rule = chain_rule_of(&f);

    return wants_rule(r, &rule);
}

static bool take(struct chain_registers *r, struct symbols_frame f, uint64_t link, uint64_t fp)
{
    const struct frame_rule rule = chain_rule_of(&f);

    return chain_caller_take(r, &rule, user, &caller, link, fp, 0);
}

static void a_frame_says_where_the_callers_words_are(void **state)
{
    struct chain_registers r = {.pc = 0x401000, .value = {STACK, STACK + 64}, .link = 0x402000};
    const struct symbols_frame by_sp = {0, 6, 1, 2}, by_fp = {0, SYMBOLS_FRAME_FP | 2, 1, 0},
                               leaf = {0, 0, 0, 0},
                               wide = {0, 326, SYMBOLS_FRAME_RECORD, SYMBOLS_FRAME_RECORD};
    struct chain_registers again = r, far = r;

    (void)state;
    assert_true(wants(&r, by_fp));
    assert_int_equal(caller.link_at, STACK + 72);
    assert_int_equal(caller.fp_at, 0);
    assert_true(wants(&far, wide));
    assert_true(caller.link_at == STACK + 8 && caller.fp_at == STACK);
    assert_true(take(&far, wide, 0x403000, 77));
    assert_true(far.pc == 0x403000 && far.value[RULE_SP] == STACK + 326 * 8 &&
                far.value[RULE_FP] == 77);
    assert_true(wants(&r, by_sp));
    assert_int_equal(caller.link_at, STACK + 40);
    assert_int_equal(caller.fp_at, STACK + 32);
    assert_true(take(&r, by_sp, SIGNED | 0x403000, 77));
    assert_true(r.pc == 0x403000 && r.value[RULE_SP] == STACK + 48 && r.value[RULE_FP] == 77 &&
                r.called && !r.link);
    assert_true(wants(&again, leaf));
    assert_int_equal(caller.link_at, 0);
    assert_true(take(&again, leaf, 0, 0));
    assert_true(again.pc == 0x402000 && again.value[RULE_SP] == STACK &&
                again.value[RULE_FP] == STACK + 64);
}

/* A function that aligns its stack, and the code that a signal's handler returns to. */
static void a_frame_may_be_stored_and_belong_to_a_signal(void **state)
{
    const struct frame_rule aligned = {.cfa = {RULE_FP, -8},
                                       .stored = true,
                                       .link = {RULE_CFA, -8},
                                       .fp = {RULE_FP, 0},
                                       .kept = {RULE_FP, -24}},
                            signal = {.cfa = {RULE_SP, 160},
                                      .stored = true,
                                      .signal = true,
                                      .link = {RULE_SP, 168},
                                      .fp = {RULE_SAME, 0},
                                      .kept = {RULE_LOST, 0}};
    struct chain_registers r = {.pc = 0x401000, .value = {STACK, STACK + 64, 5}, .called = true};

    (void)state;
    chain_caller_begin(&r, &aligned, &caller);
    assert_int_equal(caller.cfa_at, STACK + 56);
    caller.cfa = STACK + 128;
    assert_true(chain_caller_wants(&r, &aligned, user, &caller, &cut));
    assert_true(caller.link_at == STACK + 120 && caller.fp_at == STACK + 64 &&
                caller.kept_at == STACK + 40);
    assert_true(chain_caller_take(&r, &aligned, user, &caller, 0x402000, STACK + 256, 9));
    assert_true(r.value[RULE_SP] == STACK + 128 && r.value[RULE_FP] == STACK + 256 &&
                r.value[RULE_KEPT] == 9 && r.called);
    chain_caller_begin(&r, &signal, &caller);
    assert_int_equal(caller.cfa_at, STACK + 128 + 160);
    caller.cfa = STACK - 4096; /* it ran on another stack */
    assert_true(chain_caller_wants(&r, &signal, user, &caller, &cut));
    assert_int_equal(caller.link_at, STACK + 128 + 168);
    assert_true(chain_caller_take(&r, &signal, user, &caller, 0x403000, 0, 0));
    assert_true(!r.called && r.pc == 0x403000 && r.value[RULE_FP] == STACK + 256 &&
                !r.value[RULE_KEPT]);
}

static void a_return_address_above_the_frame_ends_it(void **state)
{
    const struct frame_rule rule = {
        .cfa = {RULE_SP, 32}, .link = {RULE_CFA, 8}, .fp = {RULE_CFA, -16}};
    struct chain_registers r = {.pc = 0x401000, .value = {STACK, STACK + 64}, .called = true};

    (void)state;
    assert_true(wants_rule(&r, &rule));
    assert_true(caller.link_at == STACK + 40 && caller.fp_at == STACK + 16);
    assert_int_equal(caller.cfa, STACK + 48);
}

static void frames_that_cannot_be_cut_it(void **state)
{
    struct chain_registers r = {.pc = 0x401000, .value = {STACK, STACK - 64}, .called = true};

    (void)state;
    assert_false(wants(&r, (struct symbols_frame){0, SYMBOLS_FRAME_NONE, 0, 0}));
    assert_false(cut); /* the chain's end */
    assert_false(wants(&r, (struct symbols_frame){0, SYMBOLS_FRAME_FP | 2, 1, 0})); /* below */
    assert_true(cut);
    assert_false(wants(&r, (struct symbols_frame){0, 0, 1, 0})); /* a caller without a frame */
    assert_true(cut);
    assert_false(wants(&r, (struct symbols_frame){0, 2, 0, 0})); /* its link is gone */
    assert_true(cut);
    const struct frame_rule high = {.cfa = {RULE_SP, 64}, .link = {RULE_CFA, INT32_MAX - 7}};
    r.value[RULE_SP] = TOP - 1024;
    assert_false(wants_rule(&r, &high));
    assert_true(cut);
    const uint64_t wild[] = {KSTACK, KERNEL, UINT64_MAX - 7, STACK + 4, TOP, 0};
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        r.value[RULE_FP] = wild[i];
        assert_false(wants(&r, (struct symbols_frame){0, SYMBOLS_FRAME_FP | 2, 1, 2}));
        assert_true(cut);
    }
    assert_false(take(&r, (struct symbols_frame){0, 2, 1, 0}, CODE, 0));
}

static void the_latest_mapping_counts(void **state)
{
    static struct chain_images images;

    (void)state;
    assert_null(chain_image_at(&images, 0x1000));
    images.image[0] = (struct chain_image){.start = 0x1000, .end = 0x3000, .bias = 1};
    images.image[1] = (struct chain_image){.start = 0x2000, .end = 0x4000, .bias = 2};
    images.count = 2;
    assert_int_equal(chain_image_at(&images, 0x1fff)->bias, 1);
    assert_int_equal(chain_image_at(&images, 0x2000)->bias, 2);
    assert_null(chain_image_at(&images, 0x4000));
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
    uint64_t out[CHAIN_MAX] = {0};

    (void)state;
    memset(&table, 0, sizeof table);
    uint32_t three = put(3, 100), two = put(2, 101);
    assert_true(three && two && two != three);
    assert_int_equal(table.count, 3); /* the longer one goes on from the shorter */
    uint32_t other = put(3, 101);
    assert_int_equal(table.count, 6);
    assert_int_equal(put(3, 100), three);
    assert_int_equal(put(2, 101), two);
    assert_int_equal(chain_read(&table, three, out, CHAIN_MAX), 3);
    assert_true(out[0] == 100 && out[2] == 102);
    assert_int_equal(chain_read(&table, other, out, 1), 3);
    assert_int_equal(out[0], 101);
    assert_int_equal(out[1], 101); /* of the reading before */
    assert_int_equal(chain_read(&table, 0, out, CHAIN_MAX), 0);
    assert_int_equal(chain_read(&table, 7, out, CHAIN_MAX), 0);
    assert_int_equal(table.full, 0);
}

static void a_full_table_keeps_what_it_has(void **state)
{
    static uint32_t number[CHAIN_CALLS];
    uint64_t out[CHAIN_MAX];

    (void)state;
    memset(&table, 0, sizeof table);
    for (unsigned i = 0; i < CHAIN_CALLS / 2; i++)
        assert_true(number[i] = put(2, 10 * i));
    assert_int_equal(put(2, 10 * CHAIN_CALLS), 0);
    assert_int_equal(table.full, 1);
    for (unsigned i = 0; i < CHAIN_CALLS / 2; i++) {
        assert_int_equal(put(2, 10 * i), number[i]);
        assert_int_equal(chain_read(&table, number[i], out, CHAIN_MAX), 2);
        assert_true(out[0] == 10 * i && out[1] == 10 * i + 1);
    }
    memset(&table, 0, sizeof table);
    unsigned n = 0;
    while (put(CHAIN_MAX, 1000 * n))
        n++;
    assert_int_equal(n, CHAIN_CALLS / CHAIN_MAX);
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
        cmocka_unit_test(a_frame_may_be_stored_and_belong_to_a_signal),
        cmocka_unit_test(a_return_address_above_the_frame_ends_it),
        cmocka_unit_test(frames_that_cannot_be_cut_it),
        cmocka_unit_test(the_latest_mapping_counts),
        cmocka_unit_test(equal_chains_have_one_number),
        cmocka_unit_test(a_full_table_keeps_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
