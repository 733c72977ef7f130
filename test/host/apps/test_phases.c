/* The kinds of work in phases: laws hold, the same seed gives the same sum, and a check finds a
 * wrong result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "apps/workloads/phases/job.h"
#include "apps/workloads/phases/lz.h"
#include "apps/workloads/phases/vm.h"
#include "hpm/hpm.h"

enum { SEEDS = 20, LABELS_MAX = 32 };

static char labels[LABELS_MAX][16];
static unsigned label_count;

void hpm_mark(const char *label)
{
    assert_in_range(label_count, 0, LABELS_MAX - 1);
    strncpy(labels[label_count++], label, sizeof labels[0] - 1);
}

/* Returns the violation of the last of `rounds` rounds. */
static const char *run(const struct phases_kind *kind, uint64_t size, uint64_t seed,
                       unsigned rounds, bool spoil, uint64_t *sum)
{
    struct phases_job job = {
        .size = size, .prng = prng_seeded(seed, 0), .spoil = spoil, .marks = rounds == 1};
    const char *violation = NULL;

    label_count = 0;
    kind->prepare(&job);
    assert_true(job.product_bytes > 0);
    for (; rounds; rounds--)
        violation = kind->round(&job);
    *sum = job.sum;
    arena_free(&job.arena);
    return violation;
}

/* Small sizes, with edges near. */
static uint64_t small_size(const struct phases_kind *kind, unsigned which)
{
    uint64_t room = kind->size_max - kind->size_min, step = kind == &phases_graph   ? 1
                                                            : kind == &phases_chase ? 60
                                                                                    : 23;

    return kind->size_min + which * step % (room < 300 ? room / 2 : 300);
}

static void laws_hold_for_every_size_and_seed(void **state)
{
    (void)state;
    for (unsigned k = 0; phases_kinds[k]; k++) {
        for (unsigned s = 0; s < SEEDS; s++) {
            uint64_t sum, size = small_size(phases_kinds[k], s);
            const char *violation = run(phases_kinds[k], size, s, 3, false, &sum);
            if (violation)
                fail_msg("%s size=%u seed=%u: %s", phases_kinds[k]->name, (unsigned)size, s,
                         violation);
        }
    }
}

static void sums_follow_from_the_seed(void **state)
{
    (void)state;
    for (unsigned k = 0; phases_kinds[k]; k++) {
        uint64_t size = small_size(phases_kinds[k], 7), first, again, other, longer;
        run(phases_kinds[k], size, 5, 2, false, &first);
        run(phases_kinds[k], size, 5, 2, false, &again);
        run(phases_kinds[k], size, 6, 2, false, &other);
        run(phases_kinds[k], size, 5, 3, false, &longer);
        assert_int_equal(first, again);
        assert_true(first != other && first != longer);
    }
}

static void a_flipped_bit_is_seen(void **state)
{
    (void)state;
    for (unsigned k = 0; phases_kinds[k]; k++) {
        for (unsigned s = 0; s < SEEDS; s++) {
            uint64_t sum;
            if (!run(phases_kinds[k], small_size(phases_kinds[k], s), s, 1, true, &sum))
                fail_msg("%s seed=%u: not seen", phases_kinds[k]->name, s);
        }
    }
}

static void phases_are_named_and_the_last_checks(void **state)
{
    (void)state;
    for (unsigned k = 0; phases_kinds[k]; k++) {
        uint64_t sum;
        run(phases_kinds[k], small_size(phases_kinds[k], 9), 1, 1, false, &sum);
        assert_in_range(label_count, 4, LABELS_MAX);
        assert_string_equal(labels[label_count - 1], "check");
        for (unsigned i = 0; i < label_count; i++)
            assert_true(labels[i][0] && !strchr(labels[i], ' '));
    }
    assert_string_equal(labels[1], "sieve");
}

/* ---- The compressor -------------------------------------------------------------------------- */

static uint8_t text[70000], packed[71000], unpacked[70000];
static struct lz_tables tables;

static void packed_bytes_come_back(size_t bytes)
{
    size_t size = lz_compress(&tables, text, bytes, packed);

    assert_in_range(size, 0, lz_bound(bytes));
    memset(unpacked, 0xee, bytes);
    assert_int_equal(lz_decompress(packed, size, unpacked, bytes), bytes);
    assert_memory_equal(unpacked, text, bytes);
    if (bytes)
        assert_int_equal(lz_decompress(packed, size, unpacked, bytes - 1), -1);
}

static void everything_comes_back_from_the_compressor(void **state)
{
    struct prng prng = prng_seeded(3, 0);

    (void)state;
    for (size_t bytes = 0; bytes < 300; bytes++) /* one repeated byte */
        packed_bytes_come_back(bytes);
    for (unsigned period = 1; period < 40000;
         period = period * 3 + 1) { /* matches nearer and farther than the window */
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = i < period ? (uint8_t)prng_next(&prng) : text[i - period];
        packed_bytes_come_back(sizeof text);
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(prng_next(&prng) >> 56 & 3);
    packed_bytes_come_back(sizeof text);
    packed_bytes_come_back(127);
    packed_bytes_come_back(129);
}

static void any_bytes_may_be_decompressed(void **state)
{
    struct prng prng = prng_seeded(4, 0);
    uint8_t *bytes = malloc(64), *out = malloc(256); /* a sanitizer watches their ends */
    const uint8_t no_distance[] = {0, 'a', 128, 0, 0}, too_far[] = {0, 'a', 128, 2, 0},
                  cut[] = {0, 'a', 128, 1};

    (void)state;
    assert_int_equal(lz_decompress(no_distance, sizeof no_distance, out, 256), -1);
    assert_int_equal(lz_decompress(too_far, sizeof too_far, out, 256), -1);
    assert_int_equal(lz_decompress(cut, sizeof cut, out, 256), -1);
    for (unsigned i = 0; i < 20000; i++) {
        size_t size = prng_below(&prng, 65);
        for (size_t b = 0; b < size; b++)
            bytes[b] = (uint8_t)prng_next(&prng) & (i & 1 ? 0x83 : 0xff);
        assert_in_range(lz_decompress(bytes + 64 - size, 0, out, 256), 0, 0);
        ptrdiff_t done = lz_decompress(memmove(bytes + 64 - size, bytes, size), size, out, 256);
        assert_true(done >= -1 && done <= 256);
    }
    free(bytes);
    free(out);
}

/* ---- The interpreter ------------------------------------------------------------------------- */

static int run_one(struct vm_code first)
{
    uint64_t memory[4] = {0};
    struct vm vm = {.memory = memory, .words = 4};
    const struct vm_code code[] = {first, {VM_HALT, 0, 0, 0, 0}};

    return vm_run(&vm, code, 2, 1000);
}

static void what_a_program_may_not_do_ends_it(void **state)
{
    (void)state;
    assert_int_equal(run_one((struct vm_code){VM_LOAD, 1, 2, 0, 3}), 0);
    assert_int_equal(run_one((struct vm_code){VM_LOAD, 1, 2, 0, 4}), -1);
    assert_int_equal(run_one((struct vm_code){VM_LOAD, 1, 2, 0, -1}), -1);
    assert_int_equal(run_one((struct vm_code){VM_STORE, 1, 2, 0, 4}), -1);
    assert_int_equal(run_one((struct vm_code){VM_JUMP, 0, 0, 0, 2}), -1);
    assert_int_equal(run_one((struct vm_code){VM_JUMP, 0, 0, 0, -1}), -1);
    assert_int_equal(run_one((struct vm_code){VM_JUMP, 0, 0, 0, 0}), -1); /* an endless loop */
    /* a recursion without end */
    assert_int_equal(run_one((struct vm_code){VM_CALL, 0, 0, 0, 0}), -1);
    assert_int_equal(run_one((struct vm_code){VM_RETURN, 0, 0, 0, 0}), -1);
    assert_int_equal(run_one((struct vm_code){VM_POP, 0, 0, 0, 0}), -1);
    assert_int_equal(run_one((struct vm_code){VM_TRAP, 0, 0, 0, 0}), -1);
    assert_int_equal(run_one((struct vm_code){VM_POP + 1, 0, 0, 0, 0}), -1);
    assert_int_equal(run_one((struct vm_code){VM_ADD, 0, VM_REGISTERS, 0, 0}), -1);
    assert_int_equal(run_one((struct vm_code){VM_SHL, 0, 0, 0, 200}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_for_every_size_and_seed),
        cmocka_unit_test(sums_follow_from_the_seed),
        cmocka_unit_test(a_flipped_bit_is_seen),
        cmocka_unit_test(phases_are_named_and_the_last_checks),
        cmocka_unit_test(everything_comes_back_from_the_compressor),
        cmocka_unit_test(any_bytes_may_be_decompressed),
        cmocka_unit_test(what_a_program_may_not_do_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
