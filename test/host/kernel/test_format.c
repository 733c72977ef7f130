/* Conversions agree with the C library's; what is no conversion is printed as it stands. */
#include "test/host/double/expect_panic.h"
#include "kernel/lib/format.h"

#define TEXT_MAX 4096

static char text[TEXT_MAX];
static size_t length;

static void collect(void *to, const char *s, size_t n)
{
    assert_ptr_equal(to, text);
    assert_true(length + n < TEXT_MAX);
    memcpy(text + length, s, n);
    length += n;
    text[length] = '\0';
}

static void format(const char *fmt, ...)
{
    va_list args;

    length = 0;
    text[0] = '\0';
    va_start(args, fmt);
    format_text(collect, text, fmt, args);
    va_end(args);
}

#define EXPECT(want, ...)                \
    do {                                 \
        format(__VA_ARGS__);             \
        assert_string_equal(text, want); \
    } while (0)

/* Against the host's own. */
#define SAME(...)                                  \
    do {                                           \
        char libc[TEXT_MAX];                       \
        snprintf(libc, sizeof(libc), __VA_ARGS__); \
        EXPECT(libc, __VA_ARGS__);                 \
    } while (0)

static void numbers_look_as_the_c_library_prints_them(void **state)
{
    static const long long values[] = {0,   1,    -1,        9,         10,        -10,
                                       255, 4096, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
        long long v = values[i];
        SAME("%lld|%20lld|%-20lld|%020lld|%+lld|% lld", v, v, v, v, v, v);
        SAME("%llu|%llx|%llX|%#llx|%#20llx|%#020llx|%-#20llx|", v, v, v, v, v, v, v);
        SAME("%d|%u|%x|%5d|%-5d|%05d|%.3d|%8.3d|%-8.3d|%.0d", (int)v, (int)v, (int)v, (int)v,
             (int)v, (int)v, (int)v, (int)v, (int)v, (int)v);
        SAME("%hd|%hu|%hhd|%hhu|%ld|%zu|%jd|%td", (short)v, (unsigned short)v, (signed char)v,
             (unsigned char)v, (long)v, (size_t)v, (intmax_t)v, (ptrdiff_t)v);
        SAME("%*d|%-*d|%.*d", 7, (int)v, 7, (int)v, 4, (int)v);
    }
}

static void strings_and_characters_have_widths_and_precisions(void **state)
{
    (void)state;
    SAME("%s|%10s|%-10s|%.2s|%10.2s|%-10.2s|%.0s|%c|%5c|%-5c|%%", "vigil", "vigil", "vigil",
         "vigil", "vigil", "vigil", "vigil", 'v', 'v', 'v');
    SAME("%.*s", -1, "all of it");
    SAME("%*s|", -8, "left");
    EXPECT("(null)", "%s", (char *)NULL);
}

static void a_string_is_not_read_beyond_its_precision(void **state)
{
    char *four = malloc(4);

    (void)state;
    memcpy(four, "abcd", 4);
    EXPECT("abcd", "%.4s", four);
    free(four);
}

static void pointers_are_hexadecimal(void **state)
{
    (void)state;
    EXPECT("0xffff800000001000 0x0", "%p %p", (void *)0xffff800000001000, NULL);
    EXPECT("  0x10|0x10  |", "%6p|%-6p|", (void *)0x10, (void *)0x10);
}

static void what_is_no_conversion_ends_formatting_as_it_stands(void **state)
{
    static const char *const bad[] = {"%y",  "%",   "%-", "%5", "%.",  "%5.",         "%l",
                                      "%ll", "%hh", "%n", "%f", "%lS", "%-0+ #5.3llq"};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        char want[64], fmt[64];
        snprintf(fmt, sizeof(fmt), "a%s %%d", bad[i]);
        snprintf(want, sizeof(want), "%s", fmt);
        if (!strcmp(bad[i], "%") || !strcmp(bad[i], "%-") || !strcmp(bad[i], "%5"))
            continue; /* a blank and the next conversion make it a good one; covered below */
        format(fmt, 1, 2, 3);
        assert_string_equal(text, want);
    }
    EXPECT("%", "%");
    EXPECT("a%-", "a%-");
    EXPECT("a%5", "a%5");
}

static void huge_widths_are_cut(void **state)
{
    (void)state;
    format("%999999999999999999999d", 1);
    assert_int_equal(length, 1024);
    format("%.99999d", 1);
    assert_int_equal(length, 1024);
    format("%*d", INT32_MIN, 1);
    assert_int_equal(length, 1024);
}

/* ---- Random formats -------------------------------------------------------------------------- */

enum verdict { ALIKE, OWN, NONE };

/* Reads the conversion at `p`, which is a '%', and moves `*end` behind it. Returns NONE if it is no
 * conversion, ALIKE if the C library must print it alike, and OWN if the standard leaves open what
 * it looks like. */
static enum verdict read_conversion(const char *p, const char **end)
{
    const char *flags = ++p, *width = flags + strspn(flags, "-0+ #");
    size_t digits = *width == '*' ? 1 : strspn(width, "0123456789"), places = 0;

    p = width + digits;
    bool precise = *p == '.';
    if (precise) {
        places = p[1] == '*' ? 1 : strspn(p + 1, "0123456789");
        p += 1 + places;
    }
    const char *length = p;
    p += *p == 'h' || *p == 'l' ? 1 + (p[1] == *p) : *p == 'z' || *p == 't' || *p == 'j';
    char conversion = *p;
    if (!conversion || !strchr("diuxXpsc%", conversion))
        return NONE;
    *end = p + 1;
    bool plain = !memchr(flags, '0', (size_t)(width - flags)) && !precise && p == length;
    bool hash = memchr(flags, '#', (size_t)(width - flags));
    bool sign =
        memchr(flags, '+', (size_t)(width - flags)) || memchr(flags, ' ', (size_t)(width - flags));
    if (digits > 3 || places > 3)
        return OWN;
    if (conversion == '%')
        return p == flags ? ALIKE : OWN;
    if (conversion == 'x' || conversion == 'X')
        return ALIKE;
    if (strchr("diu", conversion))
        return hash ? OWN : ALIKE;
    return plain && !hash && !sign ? ALIKE : OWN;
}

/* Formats ten small numbers by `fmt`. The result must be the C library's up to the first conversion
 * that is none, and from there the format itself. Returns the verdict on all of it. */
static enum verdict format_as_the_c_library(const char *fmt)
{
    char want[TEXT_MAX], good[20];
    const char *p = fmt;
    enum verdict all = ALIKE;

    while (all == ALIKE && (p = strchr(p, '%')))
        all = read_conversion(p, &p);
    format(fmt, 3l, 1l, 4l, 1l, 5l, 9l, 2l, 6l, 5l, 3l);
    if (all == OWN)
        return all;
    snprintf(good, sizeof(good), "%.*s", (int)(all == NONE ? p - fmt : 16), fmt);
    int n = snprintf(want, sizeof(want), good, 3l, 1l, 4l, 1l, 5l, 9l, 2l, 6l, 5l, 3l);
    snprintf(want + n, sizeof(want) - (size_t)n, "%s", all == NONE ? p : "");
    if (strcmp(text, want))
        fail_msg("'%s' is '%s', and must be '%s'", fmt, text, want);
    return all;
}

static void formats_of_random_characters_are_the_c_librarys_up_to_what_is_none(void **state)
{
    static const char alphabet[] = "%%%%0123456789-+ #.*lhzjtdiuxXcpqn a";
    unsigned verdicts[NONE + 1] = {0};
    uint64_t seed = 7;

    (void)state;
    for (unsigned round = 0; round < 100000; round++) {
        char fmt[12];
        unsigned n = test_random(&seed) % (sizeof(fmt) - 1);
        for (unsigned i = 0; i < n; i++)
            fmt[i] = alphabet[test_random(&seed) % (sizeof(alphabet) - 1)];
        fmt[n] = '\0';
        verdicts[format_as_the_c_library(fmt)]++;
    }
    assert_true(verdicts[ALIKE] > 10000);
    assert_true(verdicts[NONE] > 10000);
}

static void random_conversions_look_as_the_c_library_prints_them(void **state)
{
    static const char *const lengths[] = {"hh", "h", "", "l", "ll", "z", "j", "t"};
    uint64_t seed = 11;

    (void)state;
    for (unsigned round = 0; round < 100000; round++) {
        char fmt[32];
        uint64_t r = test_random(&seed), v = test_random(&seed) >> r % 64;
        int width = (int)(r >> 6) % 24, precision = (int)(r >> 12) % 24;
        char conversion = "diuxX"[(r >> 18) % 5];
        bool precise = r >> 36 & 1;
        const char *length = lengths[(r >> 24) % ARRAY_SIZE(lengths)];
        snprintf(fmt, sizeof(fmt), "%%%s%s%s%s*%s%s%c", r >> 32 & 1 ? "-" : "",
                 r >> 33 & 1 ? "0" : "", r >> 34 & 1 ? "+" : "",
                 r >> 35 & 1 && (conversion | 32) == 'x' ? "#" : "", precise ? ".*" : "", length,
                 conversion);
        if (precise)
            SAME(fmt, width, precision, v);
        else
            SAME(fmt, width, v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_look_as_the_c_library_prints_them),
        cmocka_unit_test(strings_and_characters_have_widths_and_precisions),
        cmocka_unit_test(a_string_is_not_read_beyond_its_precision),
        cmocka_unit_test(pointers_are_hexadecimal),
        cmocka_unit_test(what_is_no_conversion_ends_formatting_as_it_stands),
        cmocka_unit_test(huge_widths_are_cut),
        cmocka_unit_test(formats_of_random_characters_are_the_c_librarys_up_to_what_is_none),
        cmocka_unit_test(random_conversions_look_as_the_c_library_prints_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
