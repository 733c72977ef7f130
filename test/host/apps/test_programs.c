/* The programs on large arrays: laws hold, results do not depend on the number of threads, and a
 * check finds a wrong result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "apps/workloads/barnes/barnes.h"
#include "apps/workloads/cg/cg.h"
#include "apps/workloads/cube/cube.h"
#include "apps/workloads/fft/fft.h"
#include "apps/workloads/lu/lu.h"
#include "apps/workloads/mg/mg.h"
#include "apps/workloads/ocean/ocean.h"
#include "apps/workloads/phylogeny/phylogeny.h"
#include "apps/workloads/sp/sp.h"
#include "test/host/double/spmd_run.h"

enum { SEEDS = 20 };

/* Small shapes, with edges near. */
static const struct shape {
    const struct spmd_program *program;
    const char *arguments;
} shapes[] = {
    {&cg_program, "rows=64 degree=2"},
    {&cg_program, "rows=1500"},
    {&mg_program, "n=8 cycles=1"},
    {&mg_program, "n=24 cycles=2"},
    {&sp_program, "n=5 steps=1"},
    {&sp_program, "n=11 steps=2"},
    {&ocean_program, "n=16 steps=1"},
    {&ocean_program, "n=48 layout=rows tiles=6"},
    {&ocean_program, "n=64 steps=2 tiles=8"},
    {&barnes_program, "bodies=64 opening=120"},
    {&barnes_program, "bodies=700 steps=1"},
    {&phylogeny_program, "sites=16 taxa=4"},
    {&phylogeny_program, "sites=70 taxa=33 moves=40"},
    {&cube_program, "rows=64 dimensions=1"},
    {&cube_program, "rows=2000 dimensions=6 values=5 support=3"},
    {&fft_program, "log2n=4"},
    {&fft_program, "log2n=9 block=3"},
    {&fft_program, "log2n=12 block=8"},
    {&lu_program, "n=16 block=16"},
    {&lu_program, "n=60 block=6 layout=rows"},
    {&lu_program, "n=96 block=8 layout=contiguous"},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static struct spmd_run run;

static const char *with(const struct shape *shape, const char *format, unsigned a, unsigned b)
{
    static char arguments[256];
    int used = snprintf(arguments, sizeof arguments, "%s ", shape->arguments);

    snprintf(arguments + used, sizeof arguments - (size_t)used, format, a, b);
    return arguments;
}

static uint64_t sum_of(const struct shape *shape, const char *format, unsigned a, unsigned b)
{
    const char *arguments = with(shape, format, a, b);
    uint64_t sum;

    program_run(&run, shape->program, arguments);
    if (run.violation)
        fail_msg("%s %s: %s, error %g", shape->program->name, arguments, run.violation, run.error);
    sum = run.sum;
    spmd_end(&run);
    return sum;
}

static void laws_hold_for_every_shape_and_seed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        for (unsigned seed = 0; seed < SEEDS; seed++)
            sum_of(&shapes[i], "seed=%u rounds=%u", seed, 1 + seed % 3);
    }
}

static void results_follow_from_the_seed_alone(void **state)
{
    static const unsigned threads[] = {2, 3, 8, 64};

    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        uint64_t first = sum_of(&shapes[i], "seed=%u rounds=%u", 5, 2);
        assert_true(first != sum_of(&shapes[i], "seed=%u rounds=%u", 6, 2));
        for (unsigned n = 0; n < sizeof threads / sizeof *threads; n++) {
            if (sum_of(&shapes[i], "seed=5 rounds=2 threads=%u marks=%u", threads[n], 1) != first)
                fail_msg("%s %s: %u threads differ", shapes[i].program->name, shapes[i].arguments,
                         threads[n]);
        }
    }
}

static void a_changed_element_is_seen(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            const char *arguments = with(&shapes[i], "seed=%u spoil=%u", seed, 1);
            program_run(&run, shapes[i].program, arguments);
            if (!run.violation || strchr(run.violation, ' '))
                fail_msg("%s %s: not seen", shapes[i].program->name, arguments);
            spmd_end(&run);
        }
    }
}

static void the_size_is_the_largest_that_fits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        const struct spmd_program *program = shapes[i].program;
        for (unsigned mb = 1; mb <= 1024; mb += 1 + mb / 2) {
            if (program_begin(&run, program, with(&shapes[i], "mb=%u threads=%u", mb, 1 + i)) != 0)
                fail_msg("%s %s mb=%u is refused", program->name, shapes[i].arguments, mb);
            uint64_t *size = program->entries[0].value, chosen = program->bytes(&run),
                     limit = (uint64_t)mb << 20;
            assert_true(chosen <= limit);
            assert_int_equal(*size % *program->size_step, 0);
            *size += *program->size_step;
            if (*size <= program->entries[0].max && program->bytes(&run) <= limit)
                fail_msg("%s %s mb=%u: there is room for more", program->name, shapes[i].arguments,
                         mb);
            spmd_end(&run);
        }
    }
}

static void arguments_keep_their_defaults(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        const uint64_t *size = shapes[i].program->entries[0].value, before = *size;
        assert_int_equal(
            program_begin(&run, shapes[i].program, with(&shapes[i], "mb=%u threads=%u", 100, 1)),
            0);
        assert_true(*size != before);
        spmd_end(&run);
        assert_int_equal(*size, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_for_every_shape_and_seed),
        cmocka_unit_test(results_follow_from_the_seed_alone),
        cmocka_unit_test(a_changed_element_is_seen),
        cmocka_unit_test(the_size_is_the_largest_that_fits),
        cmocka_unit_test(arguments_keep_their_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
