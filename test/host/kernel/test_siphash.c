/* SipHash against the numbers of its authors: bytes 0, 1, 2, ... with the key 00 01 .. 0f. */
#include "test/host/double/expect_panic.h"
#include "kernel/lib/siphash.h"

static const struct siphash_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
static const uint64_t bytes[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

static void hashes_are_those_of_its_authors(UNUSED void **state)
{
    assert_true(siphash(&key, bytes, 0) == 0x726fdb47dd0e0e31);
    assert_true(siphash(&key, bytes, 1) == 0x93f5f5799a932462);
    assert_true(siphash(&key, bytes, 2) == 0x3f2acc7f57c29bdb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_its_authors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
