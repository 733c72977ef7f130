/*
 * What perf_event_open(2) is asked for: attrs of all sizes and of random bytes against rules stated
 * once more, the names of perf's events against the tables of PMUs, and what readings tell of
 * counts. ROUNDS in the environment makes it longer.
 */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/event_names.h"
#include "hpm/linux/attr.h"
#include "hpm/linux/count.h"
#include "hpm/linux/events.h"
#include "test/host/double/random.h"

static struct perf_event_attr attr;

static unsigned rounds(void)
{
    const char *text = getenv("ROUNDS");

    return text ? (unsigned)atol(text) : 200000;
}

/* Takes an attr of exactly `bytes` bytes, behind which nothing may be read. */
static int take(const void *from, size_t bytes)
{
    void *copy = malloc(bytes);

    memcpy(copy, from, bytes);
    int r = perf_attr_take(copy, bytes, &attr);
    free(copy);
    return r;
}

static void sizes_are_those_that_were_published(void **state)
{
    uint8_t bytes[2 * PAGE_SIZE] = {0};

    (void)state;
    assert_int_equal(perf_attr_bytes(0), 64);
    for (uint32_t size = 1; size < 64; size++)
        assert_int_equal(perf_attr_bytes(size), -E2BIG);
    for (uint32_t size = 64; size <= PAGE_SIZE; size += 8) {
        assert_int_equal(perf_attr_bytes(size), size);
        assert_int_equal(take(bytes, size), 0);
        assert_int_equal(attr.size, size);
    }
    assert_int_equal(perf_attr_bytes(PAGE_SIZE + 1), -E2BIG);
    assert_int_equal(perf_attr_bytes(UINT32_MAX), -E2BIG);
    for (size_t at = sizeof attr; at < PAGE_SIZE; at += 97) {
        bytes[at] = 1;
        assert_int_equal(take(bytes, PAGE_SIZE), -E2BIG);
        assert_int_equal(take(bytes, at), 0);
        bytes[at] = 0;
    }
}

static uint64_t word(const uint8_t *bytes, size_t at)
{
    uint64_t w;

    memcpy(&w, bytes + at, sizeof w);
    return w;
}

/* The rules, by offsets of the published structure: is it refused for its bits? */
static bool is_refused(const uint8_t *b)
{
    uint64_t sample = word(b, 24), format = word(b, 32), bits = word(b, 40), branch = word(b, 72);
    bool inherits = bits >> 1 & 1, at_exec = bits >> 12 & 1, thread = bits >> 35 & 1,
         removed = bits >> 36 & 1, trap = bits >> 37 & 1;
    uint32_t stack;
    uint16_t reserved_2;

    memcpy(&stack, b + 88, sizeof stack);
    memcpy(&reserved_2, b + 110, sizeof reserved_2);
    uint32_t reserved_word;
    memcpy(&reserved_word, b + 116, sizeof reserved_word);
    return sample >> 25 || format >> 5 || bits >> 38 || reserved_2 || reserved_word ||
           (sample >> 14 & 1 && sample >> 24 & 1) || (thread && !inherits) ||
           (removed && at_exec) || (trap && !removed) ||
           (sample >> 11 & 1 && (branch >> 19 || !(branch >> 3))) ||
           (sample >> 12 & 1 && (!word(b, 80) || word(b, 80) >> 33)) ||
           (sample >> 18 & 1 && (!word(b, 96) || word(b, 96) >> 33)) ||
           (sample >> 13 & 1 && (stack >= 65535 || stack % 8));
}

/* Few bits, so that many attrs are taken. */
static void random_attrs_are_taken_by_the_rules(void **state)
{
    uint64_t seed = 7;
    unsigned taken = 0, n = rounds();

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        uint8_t b[128] = {0};
        for (unsigned set = (unsigned)(test_random(&seed) % 12); set; set--)
            b[test_random(&seed) % 128] |= (uint8_t)(1u << test_random(&seed) % 8);
        if (test_random(&seed) % 64 == 0)
            for (size_t at = 0; at < 128; at++)
                b[at] = (uint8_t)test_random(&seed);
        int r = take(b, 128);
        assert_int_equal(r, is_refused(b) ? -EINVAL : 0);
        if (r)
            continue;
        taken++;
        attr.size = 0;
        memset(b + 4, 0, 4);
        assert_memory_equal(&attr, b, 128);
        (void)perf_attr_check_rate(&attr), (void)perf_attr_check_clock(&attr);
        (void)perf_attr_check_told(&attr);
    }
    assert_in_range(taken, n / 20, n - n / 20);
}

static void rates_and_clocks_have_limits(void **state)
{
    (void)state;
    attr = (struct perf_event_attr){.freq = 1, .sample_freq = PERF_FREQUENCY_MAX};
    assert_int_equal(perf_attr_check_rate(&attr), 0);
    attr.sample_freq++;
    assert_int_equal(perf_attr_check_rate(&attr), -EINVAL);
    attr.freq = 0;
    assert_int_equal(perf_attr_check_rate(&attr), 0);
    attr.sample_period = UINT64_C(1) << 63;
    assert_int_equal(perf_attr_check_rate(&attr), -EINVAL);
    attr = (struct perf_event_attr){.use_clockid = 1, .clockid = 1};
    assert_int_equal(perf_attr_check_clock(&attr), 0);
    attr.clockid = 2;
    assert_int_equal(perf_attr_check_clock(&attr), -EINVAL);
    attr.clockid = -1;
    assert_int_equal(perf_attr_check_clock(&attr), -EINVAL);
    attr = (struct perf_event_attr){.sample_type = PERF_SAMPLE_CALLCHAIN, .sample_max_stack = 127};
    assert_int_equal(perf_attr_check_told(&attr), 0);
    attr.sample_max_stack = 128;
    assert_int_equal(perf_attr_check_told(&attr), -EOVERFLOW);
    attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
    assert_int_equal(perf_attr_check_told(&attr), -EOPNOTSUPP);
}

static void members_are_like_their_leader(void **state)
{
    struct perf_event_attr leader = {.pinned = 1}, member = {0};
    struct perf_scope scope = {7, -1}, other = {8, -1}, cpu = {0, 2};

    (void)state;
    assert_int_equal(perf_attr_check_member(&member, scope, &leader, scope), 0);
    assert_int_equal(perf_attr_check_member(&member, other, &leader, scope), -EINVAL);
    assert_int_equal(perf_attr_check_member(&member, cpu, &leader, scope), -EINVAL);
    assert_int_equal(perf_attr_check_member(&leader, scope, &member, scope), -EINVAL);
    member.inherit = 1;
    assert_int_equal(perf_attr_check_member(&member, scope, &leader, scope), -EINVAL);
    member = (struct perf_event_attr){.exclusive = 1};
    assert_int_equal(perf_attr_check_member(&member, scope, &leader, scope), -EINVAL);
    member = (struct perf_event_attr){.use_clockid = 1, .clockid = 1};
    assert_int_equal(perf_attr_check_member(&member, scope, &leader, scope), -EINVAL);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static struct perf_found found;

static const struct perf_pmu pmu8 = {8, 0x1cd, 0x82d0, 0};

static int find(uint32_t type, uint64_t config)
{
    attr = (struct perf_event_attr){.type = type, .config = config};
    return perf_find(&attr, &pmu8, &found);
}

/* Returns the name of the event on a PMU, or NULL. */
static const char *name_on(const char *pmu, uint32_t type, uint64_t config)
{
    if (find(type, config))
        return NULL;
    for (const char *const *name = found.names; *name; name++)
        if (!parse(pmu, *name))
            return *name;
    return NULL;
}

#define CACHE(cache, op, result)                                      \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static void events_are_those_that_count_the_same(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t config;
        const char *model, *n1;
    } rows[] = {
        {0, PERF_COUNT_HW_CPU_CYCLES, "cycles", "cycles"},
        {0, PERF_COUNT_HW_INSTRUCTIONS, "instructions", "instructions"},
        {0, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch", "branch"},
        {0, PERF_COUNT_HW_BRANCH_MISSES, "branch.miss", "branch.miss"},
        {0, PERF_COUNT_HW_CACHE_MISSES, NULL, "llc.miss"},
        {0, PERF_COUNT_HW_BUS_CYCLES, NULL, NULL},
        {3, CACHE(L1D, READ, ACCESS), "load", "L1D_CACHE_RD"},
        {3, CACHE(L1D, READ, MISS), "L1D_LOAD_MISSES", "L1D_CACHE_REFILL_RD"},
        {3, CACHE(LL, READ, ACCESS), "LLC_LOADS", "LL_CACHE_RD"},
        {3, CACHE(LL, READ, MISS), "LLC_LOAD_MISSES", "LL_CACHE_MISS_RD"},
        {3, CACHE(DTLB, READ, MISS), "DTLB_LOAD_MISSES", "L1D_TLB_REFILL_RD"},
        {3, CACHE(ITLB, READ, MISS), "itlb.miss", "itlb.miss"},
        {3, CACHE(NODE, READ, MISS), NULL, NULL},
        {3, UINT64_MAX, NULL, NULL},
        {0, PERF_COUNT_HW_MAX, NULL, NULL},
        {0, UINT64_MAX, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *model = name_on("model", rows[i].type, rows[i].config);
        const char *n1 = name_on("neoverse-n1", rows[i].type, rows[i].config);
        assert_true(model ? rows[i].model && !strcmp(model, rows[i].model) : !rows[i].model);
        assert_true(n1 ? rows[i].n1 && !strcmp(n1, rows[i].n1) : !rows[i].n1);
    }
}

static void software_events_and_codes_are_found(void **state)
{
    char name[PERF_NAME_MAX];

    (void)state;
    assert_int_equal(find(1, PERF_COUNT_SW_PAGE_FAULTS), 0);
    assert_true(found.is_software && found.software == PERF_FAULTS);
    assert_int_equal(find(1, PERF_COUNT_SW_ALIGNMENT_FAULTS), -ENOENT);
    assert_int_equal(find(1, PERF_COUNT_SW_MAX), -ENOENT);
    assert_int_equal(find(1, UINT64_MAX), -ENOENT);
    assert_int_equal(find(PERF_TYPE_TRACEPOINT, 0), -ENOENT);
    assert_int_equal(find(9, 0x11), -ENOENT);
    assert_int_equal(find(8, 0x11), 0);
    assert_true(found.has_code && found.code == 0x11);
    perf_code_name(0x11, name);
    assert_string_equal(name, "r11");
    perf_code_name(0, name);
    assert_string_equal(name, "r0");
    perf_code_name(UINT64_MAX, name);
    assert_string_equal(name, "rffffffffffffffff");
    attr = (struct perf_event_attr){.exclude_kernel = 1};
    assert_true(perf_name(&attr, "cycles", name));
    assert_string_equal(name, "cycles:u");
    attr = (struct perf_event_attr){.exclude_user = 1};
    assert_true(perf_name(&attr, "cycles", name));
    assert_string_equal(name, "cycles:k");
    attr.exclude_kernel = 1;
    assert_false(perf_name(&attr, "cycles", name));
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* An event that is seen in random parts of its time: running equals enabled if and only if all of
 * the time since the last reset was seen, and value * enabled / running is the count that one
 * occurrence in each unit of length has. */
static void a_count_is_exact_only_if_its_times_are_equal(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (unsigned i = 0; i < rounds() / 20; i++) {
        struct perf_count sum = {0}, at = {0};
        uint64_t whole = 0;
        bool partly = false;
        for (unsigned n = 1 + (unsigned)(test_random(&seed) % 20); n; n--) {
            struct perf_count begin = at;
            uint64_t ns = 1000 + test_random(&seed) % 1000000;
            bool blind = test_random(&seed) % 8 == 0;
            uint64_t seen = test_random(&seed) % 4 ? ns : test_random(&seed) % ns;
            at.enabled_ns += ns;
            at.length += ns;
            at.seen += seen;
            at.counted += seen;
            perf_count_add(&sum, &begin, &at, blind);
            whole += ns;
            partly = partly || blind || seen < ns;
            if (test_random(&seed) % 8 == 0) {
                perf_count_reset(&sum);
                whole = 0;
                partly = false;
                assert_int_equal(sum.counted, 0);
                assert_int_equal(perf_running_ns(&sum), sum.enabled_ns);
            }
        }
        uint64_t running = perf_running_ns(&sum);
        assert_true(running <= sum.enabled_ns);
        assert_int_equal(running == sum.enabled_ns, !partly);
        assert_true(sum.counted <= whole);
        if (running > sum.enabled_ns / 1000) {
            double scaled = (double)sum.counted * (double)sum.enabled_ns / (double)running;
            assert_true(scaled > (double)whole * 0.99 - 10 && scaled < (double)whole * 1.01 + 10);
        }
    }
}

static void what_is_read_has_the_asked_layout(void **state)
{
    const struct perf_shown e[2] = {
        {.count = {.counted = 10, .enabled_ns = 100, .since_ns = 100, .length = 4, .seen = 1},
         .id = 7,
         .lost = 3},
        {.count = {.counted = 20, .enabled_ns = 90, .since_ns = 90}, .id = 8, .lost = 4},
    };
    const uint64_t all[] = {2, 100, 25, 10, 7, 3, 20, 8, 4}, one[] = {10, 100, 25, 7, 3};

    (void)state;
    for (uint64_t format = 0; format < PERF_FORMAT_MAX; format++) {
        uint64_t out[16], wanted[16], n = 0;
        bool group = format & PERF_FORMAT_GROUP;
        memset(out, 0xee, sizeof out);
        memset(wanted, 0xee, sizeof wanted);
        for (size_t i = 0; i < (group ? ARRAY_SIZE(all) : ARRAY_SIZE(one)); i++) {
            size_t field = group ? i < 3 ? i : 3 + (i - 3) % 3 : i + (i ? 0 : 3);
            bool is_in = group    ? field == 0   ? true
                                    : field == 1 ? format & PERF_FORMAT_TOTAL_TIME_ENABLED
                                    : field == 2 ? format & PERF_FORMAT_TOTAL_TIME_RUNNING
                                    : field == 3 ? true
                                    : field == 4 ? format & PERF_FORMAT_ID
                                                 : format & PERF_FORMAT_LOST
                         : i == 0 ? true
                         : i == 1 ? format & PERF_FORMAT_TOTAL_TIME_ENABLED
                         : i == 2 ? format & PERF_FORMAT_TOTAL_TIME_RUNNING
                         : i == 3 ? format & PERF_FORMAT_ID
                                  : format & PERF_FORMAT_LOST;
            if (is_in)
                wanted[n++] = group ? all[i] : one[i];
        }
        assert_int_equal(perf_read_words(format, group ? 2 : 1), n);
        perf_read_put(format, e, group ? 2 : 1, out);
        assert_memory_equal(out, wanted, sizeof out);
    }
}

static int find_access(uint64_t config, uint64_t config1, unsigned precise, unsigned shift)
{
    const struct perf_pmu pmu = {8, 0x66, 0x67, shift};

    attr = (struct perf_event_attr){.type = 8, .config = config, .config1 = config1};
    attr.precise_ip = precise & 3;
    return perf_find(&attr, &pmu, &found);
}

static void accesses_are_found_by_code_and_latency(void **state)
{
    char name[PERF_NAME_MAX];

    (void)state;
    assert_int_equal(find_access(0x66, 0, 0, 0), 0);
    assert_true(found.has_code && !found.is_access);
    assert_int_equal(find_access(0x65, 30, 3, 0), 0);
    assert_true(found.has_code && !found.is_access);
    assert_int_equal(find_access(0x66, 30, 0, 0), 0);
    assert_true(found.is_access && !found.stores && !found.has_code && found.min_latency == 30);
    assert_int_equal(find_access(0x67, 0, 1, 0), 0);
    assert_true(found.is_access && found.stores && !found.min_latency);
    perf_access_name(&found, name);
    assert_string_equal(name, "access.any");
    /* Low bits have another meaning where the latency is not in them. */
    assert_int_equal(find_access(0x66, 1, 0, 16), 0);
    assert_false(found.is_access);
    assert_int_equal(find_access(0x66, 30 << 16 | 1, 0, 16), 0);
    assert_true(found.is_access && found.min_latency == 30);
    for (uint32_t latency = 1; latency <= PERF_LATENCY_MAX; latency += 1 + latency / 9) {
        char wanted[32];
        assert_int_equal(find_access(0x66, latency, 3, 0), 0);
        snprintf(wanted, sizeof wanted, "access.any>=%u", latency);
        perf_access_name(&found, name);
        assert_string_equal(name, wanted);
    }
    assert_int_equal(find_access(0x66, PERF_LATENCY_MAX + 1, 3, 0), -EINVAL);
    assert_int_equal(find_access(0x66, UINT64_MAX, 3, 0), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_that_were_published),
        cmocka_unit_test(random_attrs_are_taken_by_the_rules),
        cmocka_unit_test(rates_and_clocks_have_limits),
        cmocka_unit_test(members_are_like_their_leader),
        cmocka_unit_test(events_are_those_that_count_the_same),
        cmocka_unit_test(software_events_and_codes_are_found),
        cmocka_unit_test(accesses_are_found_by_code_and_latency),
        cmocka_unit_test(a_count_is_exact_only_if_its_times_are_equal),
        cmocka_unit_test(what_is_read_has_the_asked_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
