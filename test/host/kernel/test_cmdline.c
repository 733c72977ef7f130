/* Boot arguments: what is accepted, what is refused and with which words, and that refusal changes
 * nothing.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "kernel/core/cmdline.h"
#include "kernel/lib/words.h"

static uint64_t slice, trace, policy, limit, record, date, address, gateway, hosts;
static const char *const policies[] = {"default", "cluster", NULL};

static const char *const kinds[] = {"sched", "samples", "marks", NULL};

static const struct arg numbers[] = {
    {"slice_us", ARG_U64, &slice, 100, 1000000, NULL, ARG_GROUP, "time slice"},
    {"mem.limit", ARG_BYTES, &limit, 16 * MIB, 4 * GIB, NULL, ARG_BOOT, "memory used"},
    {0},
};
static const struct arg choices[] = {
    {"trace", ARG_BOOL, &trace, 0, 1, NULL, ARG_BOOT, "say more"},
    {"policy", ARG_CHOICE, &policy, 0, 0, policies, ARG_GROUP, "placement"},
    {"record", ARG_SET, &record, 0, 0, kinds, ARG_BOOT, "what to keep"},
    {"date", ARG_DATE, &date, 0, 0, NULL, ARG_BOOT, "date at the start"},
    {"ip", ARG_ADDRESS, &address, 1, 0, "dhcp", ARG_BOOT, "own address"},
    {"names", ARG_HOSTS, &hosts, 0, 0, "dhcp", ARG_BOOT, "who knows names"},
    {"gateway", ARG_ADDRESS, &gateway, 0, 0, "none", ARG_BOOT, "the way out"},
    {0},
};
static const struct arg *const tables[] = {numbers, choices, NULL};

static struct cmdline line;
static char text[512], err[256];

static int parse(const char *s)
{
    snprintf(text, sizeof(text), "%s", s);
    return cmdline_parse(text, tables, &line, err, sizeof(err));
}

static int set_defaults(void **state)
{
    (void)state;
    slice = 5000;
    trace = 0;
    policy = 0;
    limit = GIB;
    record = 2;
    date = ARG_DATE_AUTO;
    return 0;
}

static void an_empty_line_changes_nothing_and_runs_nothing(void **state)
{
    (void)state;
    assert_int_equal(parse("  \t "), 0);
    assert_int_equal(line.count, 0);
    assert_false(line.help);
    assert_int_equal(slice, 5000);
}

static void boot_arguments_of_every_type_are_applied(void **state)
{
    (void)state;
    assert_int_equal(parse("slice_us=0x1F4   trace=yes policy=cluster mem.limit=64M"), 0);
    assert_int_equal(slice, 500);
    assert_int_equal(trace, 1);
    assert_int_equal(policy, 1);
    assert_int_equal(limit, 64 * MIB);
}

static void a_set_takes_any_of_its_words(void **state)
{
    static const struct {
        const char *line;
        uint64_t value;
        const char *shown;
    } good[] = {{"record=marks", 4, "marks"},
                {"record=marks,sched", 5, "sched,marks"},
                {"record=sched,sched", 1, "sched"},
                {"record=all", 7, "sched,samples,marks"},
                {"record=none", 0, "none"}};
    static const char *const bad[] = {
        "record=",           "record=,",         "record=sched,", "record=sched,nonsense",
        "record=none,sched", "record=all,sched", "record=sche"};
    char shown[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        assert_int_equal(parse(good[i].line), 0);
        assert_int_equal(record, good[i].value);
        assert_string_equal(cmdline_value(&choices[2], record, shown, sizeof(shown)),
                            good[i].shown);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        record = 2;
        assert_int_equal(parse(bad[i]), -EINVAL);
        assert_int_equal(record, 2);
        assert_non_null(
            strstr(err, "none, all, or some, with commas between them, of sched samples marks"));
    }
}

static void an_address_is_four_numbers_or_a_word(void **state)
{
    char buf[64];

    (void)state;
    assert_int_equal(parse("ip=10.0.2.20/24 gateway=10.0.2.2"), 0);
    assert_int_equal(address, 24ull << 32 | 0x0a000214);
    assert_int_equal(gateway, 0x0a000202);
    assert_string_equal(cmdline_value(cmdline_find("ip=", tables), address, buf, sizeof(buf)),
                        "10.0.2.20/24");
    assert_int_equal(parse("ip=dhcp gateway=none"), 0);
    assert_int_equal(address | gateway, 0);
    assert_string_equal(cmdline_value(cmdline_find("ip=", tables), address, buf, sizeof(buf)),
                        "dhcp");
    assert_int_equal(parse("names=10.0.2.3,10.0.2.4"), 0);
    assert_int_equal(hosts, 0x0a0002040a000203ull);
    assert_string_equal(cmdline_value(cmdline_find("names=", tables), hosts, buf, sizeof(buf)),
                        "10.0.2.3,10.0.2.4");
    assert_int_equal(parse("names=10.0.2.3,"), -EINVAL);
    assert_non_null(strstr(err, "dhcp or A.B.C.D or A.B.C.D,A.B.C.D"));
    assert_int_equal(parse("names=0.0.0.0"), -EINVAL);
    assert_int_equal(parse("names=224.0.0.1"), -EINVAL);
    assert_int_equal(parse("names=10.0.2.3/24"), -EINVAL);
    assert_int_equal(parse("ip=10.0.2.300/24"), -EINVAL);
    assert_string_equal(err, "argument=ip reason=value: '10.0.2.300/24' is not accepted; accepted: "
                             "dhcp or A.B.C.D/N, N from 1 to 31");
    assert_int_equal(parse("gateway=10.0.2.2/24"), -EINVAL);
}

static void a_date_is_a_day_a_second_or_left_to_the_machine(void **state)
{
    (void)state;
    assert_int_equal(parse("date=2026-01-01"), 0);
    assert_int_equal(date, 1767225600);
    assert_int_equal(parse("date=2026-01-01T00:00:01"), 0);
    assert_int_equal(date, 1767225601);
    assert_int_equal(parse("date=0"), 0);
    assert_int_equal(date, 0);
    assert_int_equal(parse("date=auto"), 0);
    assert_int_equal(date, ARG_DATE_AUTO);
    date = 5;
    assert_int_equal(parse("date=2026-02-30"), -EINVAL);
    assert_string_equal(err, "argument=date reason=value: '2026-02-30' is not accepted; accepted: "
                             "auto, YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS, or seconds since 1970");
    assert_int_equal(date, 5);
}

static void of_two_values_for_one_argument_the_last_counts(void **state)
{
    (void)state;
    assert_int_equal(parse("slice_us=200 slice_us=300"), 0);
    assert_int_equal(slice, 300);
}

static void an_unknown_argument_is_named(void **state)
{
    (void)state;
    assert_int_equal(parse("slice_us=200 colour=red"), -EINVAL);
    assert_string_equal(err, "argument=colour reason=unknown: no such argument; 'help' lists all");
}

static void an_unknown_argument_brings_the_nearest_to_mind(void **state)
{
    (void)state;
    assert_int_equal(parse("slise_us=200"), -EINVAL);
    assert_string_equal(
        err,
        "argument=slise_us reason=unknown nearest=slice_us: no such argument; 'help' lists all");
    assert_int_equal(parse("-- ploicy=cluster app"), -EINVAL);
    assert_string_equal(
        err, "argument=ploicy reason=unknown nearest=policy: no such argument; 'help' lists all");
    assert_int_equal(parse("hello"), -EINVAL);
    assert_string_equal(err, "argument=hello reason=unknown: no such argument; applications stand "
                             "behind '--'; 'help' lists all");
}

static void distances_are_those_of_single_changes(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } pairs[] = {
        {"", "", 0},       {"", "abc", 3},           {"abc", "", 3},        {"abc", "ABC", 0},
        {"abc", "abd", 1}, {"abc", "ab", 1},         {"ab", "abc", 1},      {"abcd", "acbd", 1},
        {"ca", "abc", 3},  {"kitten", "sitting", 3}, {"hello", "ehllo", 1}, {"a_b", "a?b", 1},
        {"[", "{", 1},     {"flaw", "lawn", 2}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        const char *a = pairs[i].a, *b = pairs[i].b;
        assert_int_equal(nearest_distance(a, strlen(a), b, strlen(b)), pairs[i].distance);
        assert_int_equal(nearest_distance(b, strlen(b), a, strlen(a)), pairs[i].distance);
    }
}

static const char *nearest_of(const char *word, const char *const *names)
{
    struct nearest near = {.text = word, .n = strlen(word)};

    for (; *names; names++)
        nearest_consider(&near, *names);
    return near.best ? near.best : "none";
}

static void the_nearest_is_near(void **state)
{
    static const char *const names[] = {"phases", "private", "hpmstat", "hpmtop", "lu", "cg", NULL};
    char longest[2 * NEAREST_MAX];

    (void)state;
    assert_string_equal(nearest_of("phase", names), "phases");
    assert_string_equal(nearest_of("hpmtsat", names), "hpmstat");
    assert_string_equal(nearest_of("hpmsop", names), "hpmtop");
    assert_string_equal(nearest_of("li", names), "lu");
    assert_string_equal(nearest_of("q", names), "none");
    assert_string_equal(nearest_of("warehouse", names), "none");
    assert_string_equal(nearest_of("", names), "none");
    memset(longest, 'l', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(nearest_of(longest, names), "none");
    assert_string_equal(nearest_of("l", (const char *const[]){longest, NULL}), "none");
    longest[NEAREST_MAX - 1] = '\0';
    assert_string_equal(nearest_of(longest, (const char *const[]){longest, NULL}), longest);
}

/* ---- Quotation ------------------------------------------------------------------------------- */

static void quoted_blanks_and_separators_belong_to_the_word(void **state)
{
    (void)state;
    assert_int_equal(parse("'trace=on' policy=\"cluster\" -- app 'one two' name=\"a;b & c\"tail '' "
                           "\"it's\";'b c' x"),
                     0);
    assert_int_equal(trace, 1);
    assert_int_equal(policy, 1);
    assert_int_equal(line.count, 2);
    assert_int_equal(line.commands[0].argc, 5);
    assert_string_equal(line.commands[0].argv[1], "one two");
    assert_string_equal(line.commands[0].argv[2], "name=a;b & ctail");
    assert_string_equal(line.commands[0].argv[3], "");
    assert_string_equal(line.commands[0].argv[4], "it's");
    assert_string_equal(line.commands[1].argv[0], "b c");
    assert_int_equal(line.commands[1].argc, 2);
}

static void a_quoted_assignment_is_one(void **state)
{
    (void)state;
    assert_int_equal(parse("slice_us='300'  \"slice_us=\"'400' -- 'policy=cluster' app"), 0);
    assert_int_equal(slice, 400);
    assert_int_equal(line.commands[0].assign_count, 1);
    assert_int_equal(parse("policy='clus ter'"), -EINVAL);
    assert_string_equal(err, "argument=policy reason=value: 'clus ter' is not accepted; accepted: "
                             "one of default cluster");
}

static void a_mark_without_partner_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *line, *message;
    } bad[] = {
        {"slice_us=300 -- app 'one two",
         "reason=quotation character=21: the quotation mark there has no partner: 'one two"},
        {"slice_us=300 '",
         "reason=quotation character=14: the quotation mark there has no partner: '"},
        {"-- app \"a' b",
         "reason=quotation character=8: the quotation mark there has no partner: \"a' b"},
        {"-- app 'a' ''b'c d",
         "reason=quotation character=15: the quotation mark there has no partner: 'c d"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_int_equal(parse(bad[i].line), -EINVAL);
        assert_string_equal(err, bad[i].message);
        assert_int_equal(slice, 5000);
        assert_int_equal(line.count, 0);
    }
}

static void words_are_written_so_that_they_are_read_again(void **state)
{
    static const char *const pairs[][2] = {
        {"plain=1,2", "plain=1,2"}, {"", "''"},           {"one two", "'one two'"},
        {"a;b", "'a;b'"},           {"it's", "\"it's\""}, {"say \"so\"", "'say \"so\"'"},
        {"a'b\"c", "\"a'b\"'\"c'"}, {"\"'", "'\"'\"'\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        char written[64], again[80];
        struct text t = {written, sizeof written};
        words_put(&t, pairs[i][0]);
        assert_string_equal(written, pairs[i][1]);
        snprintf(again, sizeof again, "-- app %s", written);
        assert_int_equal(parse(again), 0);
        assert_int_equal(line.commands[0].argc, 2);
        assert_string_equal(line.commands[0].argv[1], pairs[i][0]);
    }
}

static void a_refused_line_applies_none_of_its_arguments(void **state)
{
    (void)state;
    assert_int_equal(parse("slice_us=200 trace=1 policy=none"), -EINVAL);
    assert_int_equal(slice, 5000);
    assert_int_equal(trace, 0);
    assert_int_equal(parse("slice_us=200 -- app ; policy=none app"), -EINVAL);
    assert_int_equal(slice, 5000);
    assert_int_equal(line.count, 0);
}

static void a_malformed_value_is_shown_with_what_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(parse("policy=fastest"), -EINVAL);
    assert_string_equal(err, "argument=policy reason=value: 'fastest' is not accepted; accepted: "
                             "one of default cluster");
    assert_int_equal(parse("mem.limit=15M"), -EINVAL);
    assert_string_equal(err, "argument=mem.limit reason=range: '15M' is not accepted; accepted: "
                             "bytes, with K M or G behind "
                             "the number, from 16M to 4G");
    assert_int_equal(parse("slice_us"), -EINVAL);
    assert_string_equal(err, "argument=slice_us reason=missing: it needs a value; accepted: a "
                             "number from 100 to 1000000");
}

static void numbers_outside_their_range_or_with_a_tail_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"slice_us=",
                                      "slice_us=99",
                                      "slice_us=1000001",
                                      "slice_us=12x",
                                      "slice_us=-5",
                                      "slice_us=0x",
                                      "slice_us=0xg",
                                      "slice_us=1 000=",
                                      "slice_us=200=200",
                                      "mem.limit=64MM",
                                      "mem.limit=64T",
                                      "mem.limit=99999G",
                                      "trace=2",
                                      "trace=",
                                      "policy=",
                                      "=5",
                                      "=",
                                      "policy=cluste",
                                      "slice_us=18446744073709551716",
                                      "mem.limit=17179869185G"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        if (!parse(bad[i]))
            fail_msg("accepted: %s", bad[i]);
    assert_int_equal(slice, 5000);
}

static void applications_are_split_at_semicolons_and_ampersands(void **state)
{
    (void)state;
    assert_int_equal(parse("trace=on -- one 1 2;policy=cluster two --policy=x & three ;"), 0);
    assert_int_equal(line.count, 3);
    assert_int_equal(line.commands[0].argc, 3);
    assert_string_equal(line.commands[0].argv[2], "2");
    assert_false(line.commands[0].background);
    assert_int_equal(line.commands[1].assign_count, 1);
    assert_string_equal(line.commands[1].assign[0], "policy=cluster");
    assert_string_equal(line.commands[1].argv[1], "--policy=x");
    assert_true(line.commands[1].background);
    assert_string_equal(line.commands[2].argv[0], "three");
    assert_int_equal(trace, 1);
    assert_int_equal(policy, 0);
}

static void an_assignment_that_holds_for_the_whole_boot_is_refused_at_an_application(void **state)
{
    (void)state;
    assert_int_equal(parse("-- trace=on app"), -EINVAL);
    assert_string_equal(err, "argument=trace reason=scope: it holds for the whole boot, so it must "
                             "stand in front of '--'");
}

static void separators_need_an_application(void **state)
{
    (void)state;
    assert_int_equal(parse("-- ; app"), -EINVAL);
    assert_int_equal(parse("-- app ;; app"), -EINVAL);
    assert_int_equal(parse("-- policy=cluster"), -EINVAL);
    assert_string_equal(err, "reason=missing: no application behind 'policy=cluster'");
    assert_int_equal(parse("trace=on ; app"), -EINVAL);
    assert_string_equal(
        err, "reason=separator: ';' and '&' separate applications, which stand behind '--'");
}

static void help_is_understood_among_arguments_only(void **state)
{
    (void)state;
    assert_int_equal(parse("trace=on help"), 0);
    assert_true(line.help);
    assert_int_equal(parse("--help"), 0);
    assert_true(line.help);
    assert_int_equal(trace, 1);
    assert_int_equal(parse("-- help"), 0);
    assert_false(line.help);
    assert_string_equal(line.commands[0].argv[0], "help");
}

static void too_many_applications_or_arguments_are_refused_not_dropped(void **state)
{
    (void)state;
    char many[512] = "-- a";
    for (int i = 1; i < CMD_MAX; i++)
        strcat(many, ";a");
    assert_int_equal(parse(many), 0);
    assert_int_equal(line.count, CMD_MAX);
    strcat(many, ";a");
    assert_int_equal(parse(many), -EINVAL);
    assert_string_equal(err, "reason=many most=16: at most 16 applications can stand on one line");

    strcpy(many, "-- app");
    for (int i = 1; i < CMD_ARGS_MAX; i++)
        strcat(many, " x");
    assert_int_equal(parse(many), 0);
    assert_int_equal(line.commands[0].argc, CMD_ARGS_MAX);
    strcat(many, " x");
    assert_int_equal(parse(many), -EINVAL);
    assert_string_equal(err, "reason=many most=64: at most 64 words, its name included, can be "
                             "given to application 'app'");
}

static void unprintable_bytes_are_refused_and_not_echoed(void **state)
{
    (void)state;
    assert_int_equal(parse("trace=on \x1b[2J"), -EINVAL);
    for (const char *c = err; *c; c++)
        assert_true(*c >= ' ' && *c <= '~');
}

static void a_message_is_cut_to_the_room_it_is_given(void **state)
{
    (void)state;
    char small[8];
    strcpy(text, "slice_us=7");
    assert_int_equal(cmdline_parse(text, tables, &line, small, sizeof(small)), -EINVAL);
    assert_string_equal(small, "argumen");
}

static void the_key_of_a_refused_argument_is_one_word(void **state)
{
    (void)state;
    assert_int_equal(parse("'a b:c'=1"), -EINVAL);
    assert_non_null(strstr(err, "argument=a_b_c reason=unknown:"));
}

static void one_assignment_can_be_made_and_taken_back(void **state)
{
    (void)state;
    const struct arg *a = cmdline_find("slice_us=700", tables);
    assert_non_null(a);
    uint64_t old = *a->value;
    assert_int_equal(cmdline_set("slice_us=700", tables, true, err, sizeof(err)), 0);
    assert_int_equal(slice, 700);
    *a->value = old;
    assert_int_equal(cmdline_set("mem.limit=32M", tables, true, err, sizeof(err)), -EINVAL);
    assert_int_equal(cmdline_set("mem.limit=32M", tables, false, err, sizeof(err)), 0);
    assert_null(cmdline_find("slice", tables));
    assert_null(cmdline_find("slice_us2=1", tables));
}

static void values_print_the_way_they_are_written(void **state)
{
    (void)state;
    char buf[64];
    assert_string_equal(cmdline_value(&numbers[0], 5000, buf, sizeof(buf)), "5000");
    assert_string_equal(cmdline_value(&numbers[1], 64 * MIB, buf, sizeof(buf)), "64M");
    assert_string_equal(cmdline_value(&numbers[1], 2 * GIB, buf, sizeof(buf)), "2G");
    assert_string_equal(cmdline_value(&numbers[1], 1000, buf, sizeof(buf)), "1000");
    assert_string_equal(cmdline_value(&choices[0], 1, buf, sizeof(buf)), "on");
    assert_string_equal(cmdline_value(&choices[1], 1, buf, sizeof(buf)), "cluster");
    assert_string_equal(cmdline_value(&choices[3], ARG_DATE_AUTO, buf, sizeof(buf)), "auto");
    assert_string_equal(cmdline_value(&choices[3], 86399, buf, sizeof(buf)), "1970-01-01T23:59:59");
    assert_string_equal(cmdline_accepts(&choices[0], buf, sizeof(buf)), "on or off");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, set_defaults)
    const struct CMUnitTest tests[] = {
        TEST(an_empty_line_changes_nothing_and_runs_nothing),
        TEST(boot_arguments_of_every_type_are_applied),
        TEST(a_set_takes_any_of_its_words),
        TEST(a_date_is_a_day_a_second_or_left_to_the_machine),
        TEST(an_address_is_four_numbers_or_a_word),
        TEST(of_two_values_for_one_argument_the_last_counts),
        TEST(an_unknown_argument_is_named),
        TEST(an_unknown_argument_brings_the_nearest_to_mind),
        TEST(distances_are_those_of_single_changes),
        TEST(the_nearest_is_near),
        TEST(quoted_blanks_and_separators_belong_to_the_word),
        TEST(a_quoted_assignment_is_one),
        TEST(a_mark_without_partner_is_refused_with_its_place),
        TEST(words_are_written_so_that_they_are_read_again),
        TEST(a_refused_line_applies_none_of_its_arguments),
        TEST(a_malformed_value_is_shown_with_what_is_accepted),
        TEST(numbers_outside_their_range_or_with_a_tail_are_refused),
        TEST(applications_are_split_at_semicolons_and_ampersands),
        TEST(an_assignment_that_holds_for_the_whole_boot_is_refused_at_an_application),
        TEST(separators_need_an_application),
        TEST(help_is_understood_among_arguments_only),
        TEST(too_many_applications_or_arguments_are_refused_not_dropped),
        TEST(unprintable_bytes_are_refused_and_not_echoed),
        TEST(the_key_of_a_refused_argument_is_one_word),
        TEST(a_message_is_cut_to_the_room_it_is_given),
        TEST(one_assignment_can_be_made_and_taken_back),
        TEST(values_print_the_way_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
