/* Criteria: which texts are accepted and as what, and which are refused with which words. */
#include "test/host/double/expect_panic.h"
#include "hpm/policy/breakdown.h"
#include "hpm/policy/criteria.h"
#include "hpm/events/request.h"
#include "hpm/events/table.h"

#define BOTH        (EVENT_USER | EVENT_KERNEL)
#define ALL_SOURCES ((1u << SOURCE_COUNT) - 1)

static struct criteria criteria;
static char err[256];

static int parse_on(const struct criteria_caps *caps, const char *text)
{
    memset(err, 'x', sizeof err);
    criteria.count = 77;
    return criteria_parse(text, caps, &criteria, err, sizeof err);
}

static int parse(const char *text)
{
    const struct event_pmu pmu = {
        .table = event_table_named("model"), .counters = 4, .fixed = 0x30};
    const struct criteria_caps caps = {.counters = true,
                                       .events = &pmu,
                                       .sources = ALL_SOURCES,
                                       .walks = true,
                                       .fetches = true,
                                       .latency = true,
                                       .access_min = 16,
                                       .time_min_ns = 1000};

    assert_non_null(pmu.table);
    return parse_on(&caps, text);
}

static const struct criterion *only(const char *text)
{
    if (parse(text))
        fail_msg("%s: %s", text, err);
    assert_string_equal(err, "");
    assert_int_equal(criteria.count, 1);
    return &criteria.criterion[0];
}

static void assert_refused(const char *text, int error, const char *message)
{
    assert_int_equal(parse(text), error);
    assert_string_equal(err, message);
    assert_int_equal(criteria.count, 0);
}

static void a_list_is_separated_by_commas_or_blanks(void **state)
{
    static const struct {
        const char *name;
        enum criterion_kind kind;
        uint64_t period;
        unsigned modes;
    } expected[] = {
        {"cycles", CRITERION_EVENT, 100000, BOTH},
        {"L1D_MISSES:u", CRITERION_EVENT, 0, EVENT_USER},
        {"time", CRITERION_TIME, NS_PER_MS, BOTH},
        {"entries", CRITERION_ENTRIES, 10, BOTH},
        {"access.remote:u", CRITERION_ACCESS, 100, EVENT_USER},
    };

    (void)state;
    assert_int_equal(
        parse(" cycles@100000, L1D_MISSES:u,time@1ms  entries@10\taccess.remote@100:u,,\n"), 0);
    assert_int_equal(criteria.count, ARRAY_SIZE(expected));
    for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
        const struct criterion *c = &criteria.criterion[i];
        assert_string_equal(c->name, expected[i].name);
        assert_int_equal(c->kind, expected[i].kind);
        assert_int_equal(c->period, expected[i].period);
        assert_int_equal(c->modes, expected[i].modes);
    }
}

static void an_event_is_what_it_is_for_event_parse(void **state)
{
    static const char *const texts[] = {
        "cycles", "cycles:k", "L1D_MISSES", "served:remote_l2:u", "mem.local:uk", "r11:k"};
    const struct event_pmu pmu = {
        .table = event_table_named("model"), .counters = 4, .fixed = 0x30};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
        struct event event;
        const struct criterion *c = only(texts[i]);
        assert_int_equal(event_parse(&pmu, texts[i], &event, err, sizeof err), 0);
        assert_int_equal(c->kind, CRITERION_EVENT);
        assert_true(event_same(&c->event, &event));
        assert_int_equal(c->modes, event.modes);
        assert_string_equal(c->name, texts[i]);
    }
}

static void modes_and_period_stand_in_either_order(void **state)
{
    static const char *const texts[] = {"SERVED:LOCAL_L2:k@50", "SERVED:LOCAL_L2@50:k",
                                        "SERVED@50:LOCAL_L2:k"};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
        const struct criterion *c = only(texts[i]);
        assert_string_equal(c->name, "SERVED:LOCAL_L2:k");
        assert_int_equal(c->period, 50);
        assert_int_equal(c->event.modes, EVENT_KERNEL);
    }
}

static void what_is_no_event_has_modes_too(void **state)
{
    (void)state;
    assert_int_equal(only("time:u")->modes, EVENT_USER);
    assert_int_equal(only("entries:u@7")->modes, EVENT_USER);
    assert_int_equal(only("time:k@1ms")->modes, EVENT_KERNEL);
    assert_int_equal(only("access.any:k")->modes, EVENT_KERNEL);
    assert_refused(
        "entries:k@7", -EINVAL,
        "'entries:k@7': entries are out of user mode, so there are none of mode k alone");
    assert_int_equal(only("access.any:u:k")->modes, BOTH);
    assert_refused("time:x", -EINVAL, "'time:x': 'x' is neither u nor k");
    assert_refused("entries:uu", -EINVAL, "'entries:uu': mode 'u' is given twice");
    assert_refused("access.l1:LOCAL:u", -EINVAL, "'access.l1:LOCAL:u': 'LOCAL' is neither u nor k");
}

static void each_source_has_its_name_and_groups_have_theirs(void **state)
{
    static const struct {
        const char *text;
        uint32_t sources;
    } names[] = {
        {"access.l1", 1u << SOURCE_L1},
        {"access.l2", 1u << SOURCE_LOCAL_L2},
        {"access.l3", 1u << SOURCE_LOCAL_L3},
        {"access.remote_l2", 1u << SOURCE_REMOTE_L2},
        {"access.remote_l3", 1u << SOURCE_REMOTE_L3},
        {"access.local_memory", 1u << SOURCE_LOCAL_MEMORY},
        {"access.remote_memory", 1u << SOURCE_REMOTE_MEMORY},
        {"access.remote", 1u << SOURCE_REMOTE_L2 | 1u << SOURCE_REMOTE_L3},
        {"access.memory", 1u << SOURCE_LOCAL_MEMORY | 1u << SOURCE_REMOTE_MEMORY},
        {"access.any", ALL_SOURCES},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        const struct criterion *c = only(names[i].text);
        assert_int_equal(c->kind, CRITERION_ACCESS);
        assert_int_equal(c->sources, names[i].sources);
    }
}

static void groups_are_what_the_pmu_records_of_them(void **state)
{
    const struct criteria_caps caps = {.counters = true,
                                       .sources = 1u << SOURCE_LOCAL_L2 | 1u << SOURCE_REMOTE_L2},
                               none = {.counters = true};

    (void)state;
    assert_int_equal(parse_on(&caps, "access.any"), 0);
    assert_int_equal(criteria.criterion[0].sources, caps.sources);
    assert_int_equal(parse_on(&caps, "access.remote"), 0);
    assert_int_equal(criteria.criterion[0].sources, 1u << SOURCE_REMOTE_L2);
    assert_int_equal(parse_on(&caps, "access.memory"), -ENOTSUP);
    assert_string_equal(err, "'access.memory': accesses are recorded here by l2, remote_l2, "
                             "remote, beyond_l1, any only");
    assert_int_equal(parse_on(&none, "access.any"), -ENOTSUP);
    assert_string_equal(err, "'access.any': accesses are recorded here by no hardware");
    assert_int_equal(parse_on(&none, "access.l9"), -ENOENT);
    assert_non_null(strstr(err, "what does: l1, l2, l3, "));
    assert_int_equal(parse_on(&caps, "access.l9@100"), -ENOENT);
    assert_string_equal(
        err, "'access.l9@100': 'l9' serves no accesses; what does: l2, remote_l2, remote, "
             "beyond_l1, any");
}

static void walks_and_latencies_are_sampled_where_they_are_recorded(void **state)
{
    const struct criteria_caps none = {.counters = true, .sources = ALL_SOURCES},
                               walks = {.counters = true, .sources = 2, .walks = true};

    (void)state;
    assert_true(only("access.walk:u@100")->walks);
    assert_int_equal(criteria.criterion[0].sources, 0);
    assert_false(criteria.criterion[0].fetches);
    assert_true(only("fetch.walk")->fetches);
    assert_int_equal(criteria.criterion[0].kind, CRITERION_ACCESS);
    assert_false(criteria.criterion[0].walks);
    assert_int_equal(only("access.any>=200:k@7k")->min_latency, 200);
    assert_int_equal(criteria.criterion[0].period, 7000);
    assert_int_equal(criteria.criterion[0].modes, EVENT_KERNEL);
    assert_string_equal(criteria.criterion[0].name, "access.any>=200:k");
    assert_int_equal(only("fetch.walk>=65535")->min_latency, 65535);
    assert_int_equal(only("access.beyond_l1")->sources, ALL_SOURCES & ~(1u << SOURCE_L1));
    assert_refused("access.any>=", -EINVAL,
                   "'access.any>=': '>=': a latency is >= and a number of cycles, 1 to 65535");
    assert_int_equal(parse("access.any>200"), -EINVAL);
    assert_int_equal(parse("access.any>=0"), -EINVAL);
    assert_int_equal(parse("access.any>=65536"), -EINVAL);
    assert_int_equal(parse("access.any>=2x"), -EINVAL);
    assert_int_equal(parse("access.>=5"), -ENOENT);
    assert_int_equal(parse("fetch.walks"), -ENOENT);
    assert_int_equal(parse_on(&none, "access.walk"), -ENOTSUP);
    assert_int_equal(parse_on(&none, "fetch.walk"), -ENOTSUP);
    assert_string_equal(err, "'fetch.walk': page walks for instructions are not recorded here");
    assert_int_equal(parse_on(&none, "access.any>=5"), -ENOTSUP);
    assert_string_equal(err, "'access.any>=5': latencies are not recorded here");
    assert_int_equal(parse_on(&walks, "access.l3"), -ENOTSUP);
    assert_string_equal(err, "'access.l3': accesses are recorded here by l2, beyond_l1, any, walk "
                             "only");
}

static void numbers_may_be_shortened(void **state)
{
    (void)state;
    assert_int_equal(only("cycles@20k")->period, 20000);
    assert_int_equal(only("cycles@3M")->period, 3000000);
    assert_int_equal(only("entries@4G")->period, 4000000000);
    assert_int_equal(only("access.l2@1k")->period, 1000);
    assert_int_equal(only("cycles@007")->period, 7);
}

static void times_have_units(void **state)
{
    (void)state;
    assert_int_equal(only("time@1000ns")->period, 1000);
    assert_int_equal(only("time@25us")->period, 25000);
    assert_int_equal(only("time@10ms:u")->period, 10000000);
    assert_int_equal(only("time@3600s")->period, 3600 * NS_PER_S);
    assert_int_equal(only("time")->period, 0);
}

static void the_ends_of_the_ranges_are_in_them(void **state)
{
    (void)state;
    assert_int_equal(only("cycles@1")->period, 1);
    assert_int_equal(only("cycles@4294967296")->period, (uint64_t)1 << 32);
    assert_int_equal(only("access.l2@16")->period, 16);
    assert_int_equal(only("time@1us")->period, 1000);
}

static void absurd_periods_are_refused_with_the_range(void **state)
{
    (void)state;
    assert_refused("cycles@0", -EINVAL, "'cycles@0': the period must be from 1 to 4294967296");
    assert_refused("cycles@4294967297", -EINVAL,
                   "'cycles@4294967297': the period must be from 1 to 4294967296");
    assert_refused("entries@5G", -EINVAL, "'entries@5G': the period must be from 1 to 4294967296");
    assert_refused("access.l2@15:u", -EINVAL,
                   "'access.l2@15:u': the period must be from 16 to 4294967296");
    assert_refused("time@999ns", -EINVAL,
                   "'time@999ns': the period must be from 1000 ns to 3600000000000 ns");
    assert_refused("time@3601s", -EINVAL,
                   "'time@3601s': the period must be from 1000 ns to 3600000000000 ns");
    assert_refused("cycles@99999999999999999999999G", -EINVAL,
                   "'cycles@99999999999999999999999G': the period must be from 1 to 4294967296");
    assert_refused("cycles@18446744073709551617", -EINVAL,
                   "'cycles@18446744073709551617': the period must be from 1 to 4294967296");
    assert_refused("time@18446744074s", -EINVAL,
                   "'time@18446744074s': the period must be from 1000 ns to 3600000000000 ns");
}

static void zero_is_refused_where_the_pmu_has_no_minimum(void **state)
{
    const struct criteria_caps caps = {.counters = true, .sources = ALL_SOURCES};

    (void)state;
    assert_int_equal(parse_on(&caps, "access.l2@0"), -EINVAL);
    assert_string_equal(err, "'access.l2@0': the period must be from 1 to 4294967296");
    assert_int_equal(parse_on(&caps, "time@0s"), -EINVAL);
    assert_int_equal(parse_on(&caps, "access.l2@1"), 0);
}

static void what_is_no_period_is_refused_with_what_is_one(void **state)
{
    static const char *const counts[] = {"",     "x",  "k",    "10K",  "10kk",
                                         "1.5k", "-1", "0x10", "10ms", "10@20"},
                             *const times[] = {"", "10", "10k", "ms", "10 ms", "10min", "1.5ms"};
    char text[64], message[160];

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
        snprintf(text, sizeof text, "cycles@%s", counts[i]);
        snprintf(message, sizeof message,
                 "'%s': '%s' is no period, which is a number that may end in k, M or G", text,
                 counts[i]);
        assert_refused(text, -EINVAL, message);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(times); i++) {
        snprintf(text, sizeof text, "time@%s", times[i]);
        assert_int_equal(parse(text), -EINVAL);
        assert_non_null(
            strstr(err, " is no period of time, which is a number that ends in ns, us, ms or s"));
    }
}

static void an_unknown_name_is_refused_with_what_there_is(void **state)
{
    (void)state;
    assert_refused(
        "cycels@5", -ENOENT,
        "'cycels@5': 'cycels' is no event of model; nearest: cycles; beside events there are "
        "time, entries and access.SOURCE");
    assert_refused(
        "cycles,l1d.misss", -ENOENT,
        "'l1d.misss': 'l1d.misss' is no event of model; nearest: l1d.miss; beside events there "
        "are time, entries and access.SOURCE");
    assert_int_equal(parse("Time@1ms"), -ENOENT);
    assert_int_equal(parse("access"), -ENOENT);
    assert_refused(
        "access.:u", -ENOENT,
        "'access.:u': '' serves no accesses; what does: l1, l2, l3, remote_l2, remote_l3, "
        "local_memory, remote_memory, remote, memory, beyond_l1, any, walk");
    assert_refused(
        "SERVED:ELSEWHERE", -ENOENT,
        "'SERVED:ELSEWHERE': 'ELSEWHERE' is no part of SERVED; beside events there are time, "
        "entries and access.SOURCE");
}

static void an_event_that_is_refused_says_why(void **state)
{
    (void)state;
    assert_refused("cycles:u:u", -EINVAL, "'cycles:u:u': mode 'u' is given twice");
    assert_refused("cycles@5:", -EINVAL, "'cycles@5:': nothing stands behind a ':' of 'cycles:'");
    assert_refused("@5", -EINVAL, "'@5': an event's name is missing in ''");
    assert_int_equal(parse("l2.miss"), -ENOTSUP);
    assert_string_equal(err, "'l2.miss': 'l2.miss' is not available on model");
}

static void without_a_pmu_time_and_entries_are_left(void **state)
{
    const struct event_pmu no_table = {.counters = 4};
    const struct criteria_caps none = {.counters = true},
                               nameless = {.counters = true, .events = &no_table};

    (void)state;
    assert_int_equal(parse_on(&none, "time@1ms,entries"), 0);
    assert_int_equal(parse_on(&none, "cycles"), -ENOTSUP);
    assert_string_equal(
        err, "'cycles': no events are known here; there are time, entries and access.SOURCE");
    assert_int_equal(parse_on(&nameless, "cycles"), -ENOTSUP);
}

static void eight_criteria_are_the_most(void **state)
{
    (void)state;
    assert_int_equal(parse("time,time,time,time,time,time,time,entries"), 0);
    assert_int_equal(criteria.count, CRITERIA_MAX);
    assert_refused("time,time,time,time,time,time,time,entries,cycles", -ENOSPC,
                   "'cycles' is one too many: 8 criteria at most");
}

static void nothing_is_not_a_list(void **state)
{
    (void)state;
    assert_refused("", -EINVAL, "nothing to sample is named");
    assert_refused(" , ,,\t", -EINVAL, "nothing to sample is named");
}

static void a_word_longer_than_any_name_is_refused(void **state)
{
    char text[2 * EVENT_TEXT_MAX];

    (void)state;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_refused(text, -EINVAL,
                   "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...': longer than any name");
    text[EVENT_TEXT_MAX] = '\0';
    assert_refused(text, -EINVAL,
                   "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...': longer than any name");
    text[EVENT_TEXT_MAX - 1] = '\0';
    assert_int_equal(parse(text), -ENOENT);
    memset(text, '0', sizeof text - 1);
    memcpy(text, "cycles@", 7);
    assert_int_equal(parse(text), -EINVAL); /* a long number is merely out of range */
    assert_non_null(strstr(err, "the period must be from"));
}

static void a_message_is_cut_where_there_is_no_room(void **state)
{
    char before[64];

    (void)state;
    assert_int_equal(parse("cycles@0"), -EINVAL);
    memcpy(before, err, sizeof before);
    const struct criteria_caps none = {.counters = true};
    for (size_t size = 1; size < 60; size++) {
        char small[64];
        memset(small, 'x', sizeof small);
        assert_int_equal(criteria_parse("time@0s and", &none, &criteria, small, size), -EINVAL);
        assert_non_null(memchr(small, '\0', size));
        assert_int_equal(small[size], 'x');
    }
}

static void no_event_has_the_name_of_something_else(void **state)
{
    (void)state;
    for (unsigned t = 0; event_tables[t]; t++)
        for (unsigned i = 0; event_name(event_tables[t], i); i++) {
            const char *name = event_name(event_tables[t], i);
            assert_true(strcmp(name, "time") && strcmp(name, "entries") &&
                        strncmp(name, "access.", 7));
            assert_null(strpbrk(name, "@, \t"));
        }
    for (unsigned i = 0; event_generics[i].name; i++) {
        const char *name = event_generics[i].name;
        assert_true(strcmp(name, "time") && strcmp(name, "entries") && strncmp(name, "access.", 7));
        assert_null(strpbrk(name, "@, \t"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_separated_by_commas_or_blanks),
        cmocka_unit_test(an_event_is_what_it_is_for_event_parse),
        cmocka_unit_test(modes_and_period_stand_in_either_order),
        cmocka_unit_test(what_is_no_event_has_modes_too),
        cmocka_unit_test(each_source_has_its_name_and_groups_have_theirs),
        cmocka_unit_test(groups_are_what_the_pmu_records_of_them),
        cmocka_unit_test(walks_and_latencies_are_sampled_where_they_are_recorded),
        cmocka_unit_test(numbers_may_be_shortened),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(the_ends_of_the_ranges_are_in_them),
        cmocka_unit_test(absurd_periods_are_refused_with_the_range),
        cmocka_unit_test(zero_is_refused_where_the_pmu_has_no_minimum),
        cmocka_unit_test(what_is_no_period_is_refused_with_what_is_one),
        cmocka_unit_test(an_unknown_name_is_refused_with_what_there_is),
        cmocka_unit_test(an_event_that_is_refused_says_why),
        cmocka_unit_test(without_a_pmu_time_and_entries_are_left),
        cmocka_unit_test(eight_criteria_are_the_most),
        cmocka_unit_test(nothing_is_not_a_list),
        cmocka_unit_test(a_word_longer_than_any_name_is_refused),
        cmocka_unit_test(a_message_is_cut_where_there_is_no_room),
        cmocka_unit_test(no_event_has_the_name_of_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
