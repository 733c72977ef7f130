/* Addresses against the C library's, and what is refused. */
#include "test/host/double/expect_panic.h"
#include "kernel/lib/ipv4.h"
#include <arpa/inet.h>
#include <stdlib.h>

static void addresses_are_as_the_library_has_them(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 100000; i++) {
        uint32_t address = (uint32_t)rand() ^ (uint32_t)rand() << 16;
        struct in_addr in = {htonl(address)};
        char text[IPV4_TEXT_MAX];
        uint64_t back;
        assert_string_equal(ipv4_format(address, text), inet_ntoa(in));
        assert_true(ipv4_parse(text, false, &back));
        assert_int_equal(back, address);
    }
}

static void prefixes_come_back(void **state)
{
    char text[IPV4_TEXT_MAX];
    uint64_t got;

    (void)state;
    for (unsigned n = 1; n <= 31; n++) {
        ipv4_format(0xfffefdfcu | (uint64_t)n << IPV4_PREFIX_SHIFT, text);
        assert_true(ipv4_parse(text, true, &got));
        assert_int_equal(got, 0xfffefdfcu | (uint64_t)n << IPV4_PREFIX_SHIFT);
    }
    assert_string_equal(text, "255.254.253.252/31");
}

static void other_texts_are_refused(void **state)
{
    static const char *const bare[] = {"",          "1",         "1.2.3",     "1.2.3.",
                                       "1.2.3.4.",  "1.2.3.256", "1.2.3.4 ",  " 1.2.3.4",
                                       "1.2.3.-4",  "1..3.4",    "01.2.3.4",  "1.2.3.4x",
                                       "1.2.3.4/8", "0x1.2.3.4", "1.2.3.1000"};
    static const char *const prefixed[] = {"1.2.3.4",    "1.2.3.4/",   "1.2.3.4/0", "1.2.3.4/32",
                                           "1.2.3.4/08", "1.2.3.4/8x", "1.2.3.4/-1"};
    uint64_t got;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bare); i++)
        assert_false(ipv4_parse(bare[i], false, &got));
    for (size_t i = 0; i < ARRAY_SIZE(prefixed); i++)
        assert_false(ipv4_parse(prefixed[i], true, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_as_the_library_has_them),
        cmocka_unit_test(prefixes_come_back),
        cmocka_unit_test(other_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
