/* lwIP, by itself: streams of bytes arrive whole and in order over a wire that loses, delays,
 * repeats, reorders and falsifies packets, connections end, and no memory is left. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/lossy.h"

#define SEEDS 300

static void try(const struct lossy *l)
{
    const char *wrong = lossy_run(l);

    if (wrong)
        fail_msg("seed %u: %s", (unsigned)l->seed, wrong);
}

static void streams_arrive_over_a_good_wire(UNUSED void **state)
{
    struct lossy l = {.seed = 1, .connections = 4, .bytes = 400000, .mtu = 1500, .delay_ms = 20};

    try(&l);
}

static void streams_arrive_though_packets_are_lost(UNUSED void **state)
{
    struct lossy l = {.seed = 2, .connections = 2, .bytes = 100000, .mtu = 1500, .loss = 80};

    try(&l);
}

static void streams_arrive_though_packets_come_out_of_order(UNUSED void **state)
{
    struct lossy l = {
        .seed = 3, .connections = 2, .bytes = 100000, .mtu = 1500, .jitter_ms = 200, .twice = 50};

    try(&l);
}

static void streams_arrive_though_bits_are_wrong(UNUSED void **state)
{
    struct lossy l = {.seed = 4, .connections = 2, .bytes = 100000, .mtu = 1500, .wrong = 50};

    try(&l);
}

static void streams_arrive_though_programs_refuse_them_at_first(UNUSED void **state)
{
    struct lossy l = {.seed = 5, .connections = 2, .bytes = 100000, .mtu = 1500, .refuse = 300};

    try(&l);
}

static void streams_arrive_though_memory_is_short_at_times(UNUSED void **state)
{
    struct lossy l = {
        .seed = 6, .connections = 2, .bytes = 100000, .mtu = 1500, .short_of_memory = 100};

    try(&l);
}

static void streams_arrive_by_any_seed(UNUSED void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lossy l = lossy_draw(seed);
        try(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_arrive_over_a_good_wire),
        cmocka_unit_test(streams_arrive_though_packets_are_lost),
        cmocka_unit_test(streams_arrive_though_packets_come_out_of_order),
        cmocka_unit_test(streams_arrive_though_bits_are_wrong),
        cmocka_unit_test(streams_arrive_though_programs_refuse_them_at_first),
        cmocka_unit_test(streams_arrive_though_memory_is_short_at_times),
        cmocka_unit_test(streams_arrive_by_any_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
