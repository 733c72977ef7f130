/* The kernel's memory functions in the booted kernel: at each alignment, and their cost in the
 * simulated machine's cycles. */
#include "kernel/arch/arch.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/core/printf.h"
#include "test/qemu/kernel/suite.h"

#define BYTES      8192
#define ALIGNMENTS 8

static uint8_t from[BYTES + ALIGNMENTS], to[BYTES + ALIGNMENTS];

static void fill(void)
{
    for (unsigned i = 0; i < sizeof(from); i++)
        from[i] = (uint8_t)(i * 7 + i / 251);
}

static bool is_copy(unsigned a, unsigned b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (to[b + i] != from[a + i])
            return false;
    return true;
}

static void bytes_arrive_whatever_the_alignments_are(void)
{
    fill();
    for (unsigned a = 0; a < ALIGNMENTS; a++) {
        for (unsigned b = 0; b < ALIGNMENTS; b++) {
            size_t n = 200 + 8 * a + b;
            memset(to, 0xee, sizeof(to));
            memcpy(to + b, from + a, n);
            CHECK(is_copy(a, b, n) && to[b + n] == 0xee && memcmp(to + b, from + a, n) == 0);
            memmove(to + ALIGNMENTS - 1, to + b, n);
            CHECK(is_copy(a, ALIGNMENTS - 1, n));
            memmove(to + a, to + ALIGNMENTS - 1, n);
            CHECK(is_copy(a, a, n));
        }
    }
}

static uint64_t ticks_of(void (*run)(unsigned a, unsigned b), unsigned a, unsigned b)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < 5; i++) {
        memcpy(to + b, from + a, BYTES);
        uint64_t start = arch_ticks();
        run(a, b);
        least = MIN(least, arch_ticks() - start);
    }
    return least;
}

static void copy(unsigned a, unsigned b)
{
    memcpy(to + b, from + a, BYTES);
}

static void move(unsigned a, unsigned b)
{
    memmove(to + a, to + b, BYTES);
}

static void compare(unsigned a, unsigned b)
{
    CHECK(memcmp(to + b, from + a, BYTES) == 0);
}

static void copies_that_are_not_aligned_alike_cost_less_than_four_times_as_much(void)
{
    void (*const run[])(unsigned, unsigned) = {copy, move, compare};

    if (!machine_id()) {
        suite_skip("time is the host's");
        return;
    }
    fill();
    for (unsigned i = 0; i < ARRAY_SIZE(run); i++) {
        uint64_t alike = ticks_of(run[i], 0, 0), up = ticks_of(run[i], 1, 4),
                 down = ticks_of(run[i], 4, 1);
        kprintf("# %u: %llu cycles for %u bytes, %llu and %llu not aligned alike\n", i,
                (unsigned long long)alike, BYTES, (unsigned long long)up, (unsigned long long)down);
        CHECK(up < 4 * alike && down < 4 * alike);
    }
}

static const struct suite_test tests[] = {
    {"bytes arrive whatever the alignments are", bytes_arrive_whatever_the_alignments_are},
    {"copies that are not aligned alike cost less than four times as much",
     copies_that_are_not_aligned_alike_cost_less_than_four_times_as_much},
    {0},
};

const struct suite string_suite = {"string", tests};
