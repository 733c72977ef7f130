/* The first contents of a stack are what the System V ABI says, read back as a C library does. */
#include "test/host/double/expect_panic.h"
#include <elf.h>
#include "kernel/proc/program_stack.h"

#define TOP ((vaddr_t)0x7ffffffff000)

static uint8_t buffer[PROGRAM_STACK_MAX];
static vaddr_t sp;

/* Returns the bytes of the buffer at a program's address. */
static const void *at(uint64_t va)
{
    assert_true(va >= sp && va < TOP);
    return buffer + PROGRAM_STACK_MAX - (TOP - va);
}

static uint64_t word(unsigned i)
{
    uint64_t v;

    memcpy(&v, at(sp + 8 * (uint64_t)i), sizeof(v));
    return v;
}

static int64_t build(const char *const *argv, const char *const *envp)
{
    static const struct auxv_entry auxv[] = {{AT_PAGESZ, 4096}, {AT_UID, 0}};
    struct program_stack s = {.argv = argv,
                              .envp = envp,
                              .path = "/bin/x",
                              .platform = "isa",
                              .auxv = auxv,
                              .auxv_count = 2};

    memset(s.random, 0x5a, sizeof(s.random));
    memset(buffer, 0xee, sizeof(buffer));
    return program_stack_build(&s, TOP, buffer, &sp);
}

static void words_lead_to_the_strings(void **state)
{
    const char *argv[] = {"x", "one", "", NULL}, *envp[] = {"A=b", NULL};
    int64_t n = build(argv, envp);

    (void)state;
    assert_int_equal(sp % 16, 0);
    assert_int_equal(n, TOP - sp);
    assert_int_equal(word(0), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_string_equal(at(word(1 + i)), argv[i]);
    assert_int_equal(word(4), 0);
    assert_string_equal(at(word(5)), "A=b");
    assert_int_equal(word(6), 0);
    bool path = false, platform = false, random = false;
    unsigned i = 7;
    for (; word(i) != AT_NULL; i += 2) {
        if (word(i) == AT_PAGESZ)
            assert_int_equal(word(i + 1), 4096);
        path |= word(i) == AT_EXECFN && !strcmp(at(word(i + 1)), "/bin/x");
        platform |= word(i) == AT_PLATFORM && !strcmp(at(word(i + 1)), "isa");
        random |= word(i) == AT_RANDOM && ((const uint8_t *)at(word(i + 1)))[15] == 0x5a;
    }
    assert_true(path && platform && random);
    assert_int_equal(i, 7 + 2 * 5);
}

static void a_program_may_have_no_words(void **state)
{
    const char *none[] = {NULL};

    (void)state;
    assert_true(build(none, none) > 0);
    assert_int_equal(word(0), 0);
    assert_int_equal(word(1), 0);
    assert_int_equal(word(2), 0);
    assert_int_equal(word(3), AT_PAGESZ);
}

/* The longest arguments that fit are built, whatever their number; a byte more is refused. */
static void too_long_arguments_are_refused(void **state)
{
    static char text[PROGRAM_STACK_MAX];
    const char *argv[] = {text, NULL}, *none[] = {NULL};
    size_t n = 0, longest = 0;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    for (n = PROGRAM_STACK_MAX - 1024; n < PROGRAM_STACK_MAX - 1; n++) {
        text[n] = '\0';
        int64_t bytes = build(argv, none);
        text[n] = 'a';
        if (bytes < 0) {
            assert_int_equal(bytes, -E2BIG);
            assert_true(longest == n - 1);
            return;
        }
        longest = n;
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_lead_to_the_strings),
        cmocka_unit_test(a_program_may_have_no_words),
        cmocka_unit_test(too_long_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
