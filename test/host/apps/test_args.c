/* The applications' arguments: accepted values, and refusals, which name the argument and the
 * values it accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "apps/common/args.h"

static uint64_t number;
static unsigned choice;
static struct args_list list;
static const char *text;
static char error[256];

static const char *const colours[] = {"red", "green", NULL};
static const struct args_entry entries[] = {
    {"n", ARGS_NUMBER, &number, 2, 70000000000, NULL, "a number"},
    {"colour", ARGS_CHOICE, &choice, 0, 0, colours, "a choice"},
    {"sizes", ARGS_LIST, &list, 1, 9, NULL, "a list"},
    {"text", ARGS_TEXT, &text, 2, 6, NULL, "a text"},
};
static const struct args_table table = {"program", "for tests", entries,
                                        sizeof entries / sizeof entries[0]};

static int parse(const char *argument)
{
    char copy[1024];
    char *argv[] = {"program", copy, NULL};

    snprintf(copy, sizeof copy, "%s", argument);
    error[0] = '\0';
    return args_parse(&table, 2, argv, error, sizeof error);
}

static int set_up(void **state)
{
    (void)state;
    number = 5;
    choice = 0;
    list = (struct args_list){0};
    text = "none";
    return 0;
}

static void no_argument_leaves_the_defaults(void **state)
{
    char *argv[] = {"program", NULL};

    (void)state;
    assert_int_equal(args_parse(&table, 1, argv, error, sizeof error), 0);
    assert_int_equal(number, 5);
}

static void values_of_every_kind_are_read(void **state)
{
    char *argv[] = {"program", "n=70000000000", "colour=green", "sizes=2,3,9", "text=a=,b", NULL};

    (void)state;
    assert_int_equal(args_parse(&table, 5, argv, error, sizeof error), 0);
    assert_int_equal(number, 70000000000);
    assert_int_equal(choice, 1);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.item[2], 9);
    assert_string_equal(text, "a=,b");
}

static void the_last_of_repeated_arguments_counts(void **state)
{
    char *argv[] = {"program", "n=7", "n=8", NULL};

    (void)state;
    assert_int_equal(args_parse(&table, 3, argv, error, sizeof error), 0);
    assert_int_equal(number, 8);
}

static void an_unknown_argument_is_named_and_the_known_ones_listed(void **state)
{
    static const char *const unknown[] = {"m=3", "n", "=3", "", "nn=3", "N=3", "help"};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        char expected[64];
        assert_int_equal(parse(unknown[i]), -1);
        snprintf(expected, sizeof expected, ": '%s' is no argument", unknown[i]);
        assert_non_null(strstr(error, expected));
        assert_non_null(strstr(error, "n=, colour=, sizes=, text="));
    }
}

static void the_nearest_argument_is_named(void **state)
{
    (void)state;
    assert_int_equal(parse("color=red"), -1);
    assert_string_equal(error, "argument=color reason=unknown nearest=colour: 'color=red' is no "
                               "argument; accepted are n=, colour=, sizes=, text=");
    assert_int_equal(parse("sizse=1"), -1);
    assert_non_null(strstr(error, " nearest=sizes: "));
    assert_int_equal(parse("taxed=1"), -1);
    assert_null(strstr(error, "nearest"));
}

static void help_is_one_of_two_words_alone(void **state)
{
    char *asks[][3] = {{"program", "help"}, {"program", "--help"}, {"program", "n=3"}};

    (void)state;
    assert_true(args_asks_for_help(2, asks[0]));
    assert_true(args_asks_for_help(2, asks[1]));
    assert_false(args_asks_for_help(2, asks[2]));
    assert_false(args_asks_for_help(1, asks[0]));
}

static void a_malformed_or_excessive_number_is_refused_with_its_range(void **state)
{
    static const struct {
        const char *argument, *reason;
    } bad[] = {{"n=", "value"},
               {"n=1", "range"},
               {"n=70000000001", "range"},
               {"n=-3", "value"},
               {"n= 3", "value"},
               {"n=3 ", "value"},
               {"n=0x10", "value"},
               {"n=99999999999999999999999", "value"}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char expected[64];
        assert_int_equal(parse(bad[i].argument), -1);
        snprintf(expected, sizeof expected, "argument=n reason=%s: ", bad[i].reason);
        assert_non_null(strstr(error, expected));
        assert_non_null(strstr(error, "2..70000000000"));
        assert_int_equal(number, 5);
    }
}

static void an_unknown_choice_is_refused_with_the_choices(void **state)
{
    static const char *const bad[] = {"colour=", "colour=blue", "colour=redd", "colour=re"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(parse(bad[i]), -1);
        assert_non_null(strstr(error, "argument=colour reason="));
        assert_non_null(strstr(error, "red, green"));
    }
}

static void a_bad_list_is_refused_with_its_range(void **state)
{
    static const char *const bad[] = {"sizes=",   "sizes=0",  "sizes=1,10",
                                      "sizes=1,", "sizes=,1", "sizes=1;2"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(parse(bad[i]), -1);
        assert_non_null(strstr(error, "argument=sizes reason="));
        assert_non_null(strstr(error, "1..9"));
        assert_int_equal(list.count, 0);
    }
}

static void a_list_longer_than_its_limit_is_refused(void **state)
{
    char argument[256] = "sizes=1";

    (void)state;
    for (unsigned i = 1; i < ARGS_LIST_MAX; i++)
        strcat(argument, ",1");
    assert_int_equal(parse(argument), 0);
    assert_int_equal(list.count, ARGS_LIST_MAX);
    strcat(argument, ",1");
    assert_int_equal(parse(argument), -1);
}

static void a_text_is_refused_by_its_length(void **state)
{
    static const char *const bad[] = {"text=", "text=a", "text=abcdefg"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(parse(bad[i]), -1);
        assert_non_null(strstr(error, "argument=text reason="));
        assert_non_null(strstr(error, "2..6 characters"));
        assert_string_equal(text, "none");
    }
    assert_int_equal(parse("text=ab"), 0);
    assert_int_equal(parse("text=abcdef"), 0);
}

static void a_message_too_long_for_its_buffer_is_cut(void **state)
{
    char argument[600];
    char *argv[] = {"program", argument, NULL};
    char small[32];

    (void)state;
    memset(argument, 'x', sizeof argument - 1);
    argument[sizeof argument - 1] = '\0';
    assert_int_equal(args_parse(&table, 2, argv, small, sizeof small), -1);
    assert_int_equal(strlen(small), sizeof small - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_argument_leaves_the_defaults, set_up),
        cmocka_unit_test_setup(values_of_every_kind_are_read, set_up),
        cmocka_unit_test_setup(the_last_of_repeated_arguments_counts, set_up),
        cmocka_unit_test_setup(an_unknown_argument_is_named_and_the_known_ones_listed, set_up),
        cmocka_unit_test_setup(the_nearest_argument_is_named, set_up),
        cmocka_unit_test_setup(help_is_one_of_two_words_alone, set_up),
        cmocka_unit_test_setup(a_malformed_or_excessive_number_is_refused_with_its_range, set_up),
        cmocka_unit_test_setup(an_unknown_choice_is_refused_with_the_choices, set_up),
        cmocka_unit_test_setup(a_bad_list_is_refused_with_its_range, set_up),
        cmocka_unit_test_setup(a_list_longer_than_its_limit_is_refused, set_up),
        cmocka_unit_test_setup(a_text_is_refused_by_its_length, set_up),
        cmocka_unit_test_setup(a_message_too_long_for_its_buffer_is_cut, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
