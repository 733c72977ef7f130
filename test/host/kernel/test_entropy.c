/* Random bytes: the same by the same seed, others in each stream and request, and from the clock
 * where the processor has none. */
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "kernel/core/entropy.h"

struct cpu cpus[CPU_MAX], *host_cpu = cpus;
bool host_irqs_on = true;
uint64_t host_ticks = 1;
static unsigned lines;
static bool has_generator;
static uint64_t drawn;

void host_interrupt(void)
{
}
uint64_t arch_clock_ns(void)
{
    return host_ticks;
}
bool arch_random(uint64_t *out)
{
    *out = ++drawn;
    return has_generator;
}
void kprintf(UNUSED const char *format, ...)
{
    lines++;
}

enum { MANY = 1000 };

static void starts_anew(uint64_t seed, bool repeat)
{
    entropy_wanted = seed;
    entropy_start(repeat);
}

static void a_shorter_request_gets_the_start_of_a_longer_one(void **state)
{
    uint8_t a[MANY], b[MANY] = {0};
    struct entropy_stream s, same;

    (void)state;
    starts_anew(0, true);
    entropy_stream_init(&s, 7);
    same.lock = s.lock;
    memcpy(same.key, s.key, sizeof(same.key));
    entropy_bytes(&s, a, sizeof(a));
    entropy_bytes(&same, b, sizeof(b) - 500);
    assert_memory_equal(a, b, sizeof(b) - 500);
    assert_memory_equal(s.key, same.key, sizeof(s.key));
    entropy_bytes(&s, a, 16);
    entropy_bytes(&same, b, 16);
    assert_memory_equal(a, b, 16);
}

static void streams_and_requests_differ(void **state)
{
    uint8_t bytes[40][16];
    struct entropy_stream s[8];

    (void)state;
    starts_anew(5, false);
    for (unsigned i = 0; i < 8; i++)
        entropy_stream_init(&s[i], i / 2); /* a pid may be used again */
    for (unsigned i = 0; i < 40; i++)
        entropy_bytes(i % 9 ? &s[i % 9 - 1] : NULL, bytes[i], sizeof(bytes[i]));
    for (unsigned i = 0; i < 40; i++)
        for (unsigned j = 0; j < i; j++)
            assert_memory_not_equal(bytes[i], bytes[j], sizeof(bytes[i]));
}

static void nothing_is_written_beyond_the_end_and_all_before_it(void **state)
{
    struct entropy_stream s;

    (void)state;
    starts_anew(1, false);
    entropy_stream_init(&s, 1);
    for (size_t n = 0; n < 200; n++) {
        uint8_t *bytes = malloc(n + 1);
        unsigned ones = 0;
        memset(bytes, 0, n + 1);
        for (unsigned i = 0; i < 20; i++)
            entropy_bytes(&s, bytes, n);
        assert_int_equal(bytes[n], 0);
        for (size_t i = 0; i < n; i++)
            ones += (unsigned)__builtin_popcount(bytes[i]);
        if (n > 100)
            assert_in_range(ones, n * 4 - n, n * 4 + n);
        free(bytes);
    }
}

static void the_secret_is_the_processors_or_else_the_clocks(void **state)
{
    (void)state;
    lines = 0;
    has_generator = true;
    drawn = 0;
    starts_anew(0, false);
    assert_int_equal(drawn, 4);
    assert_int_equal(lines, 0);
    has_generator = false;
    starts_anew(0, false);
    assert_int_equal(lines, 1);
    drawn = 0;
    starts_anew(3, false);
    starts_anew(0, true);
    assert_int_equal(drawn, 0);
    assert_int_equal(lines, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shorter_request_gets_the_start_of_a_longer_one),
        cmocka_unit_test(streams_and_requests_differ),
        cmocka_unit_test(nothing_is_written_beyond_the_end_and_all_before_it),
        cmocka_unit_test(the_secret_is_the_processors_or_else_the_clocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
