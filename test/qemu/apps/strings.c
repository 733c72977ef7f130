/*
 * Memory and string functions: against loops over bytes, at every alignment and at the edge of a
 * page that cannot be accessed; and what they cost, as a clock tells that counts the simulated
 * machine's cycles.
 *   strings          checks what they do
 *   strings costs    prints what they cost, a line each: cost NAME BYTES CYCLES
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "test/qemu/apps/tap.h"

#define PAGE   4096
#define AREA   (2 * PAGE)
#define ROUNDS 3000

/* Two areas between pages that cannot be accessed, and what should be in them. */
static unsigned char *from, *to, expected[AREA];
static uint64_t state = 1;

static uint32_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static unsigned char *between_guards(void)
{
    char *p =
        mmap(NULL, AREA + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE) ||
        mprotect(p + PAGE + AREA, PAGE, PROT_NONE))
        abort();
    return (unsigned char *)p + PAGE;
}

/* A part of an area: at its start, at its end, or anywhere. */
static size_t place_of_part(size_t n)
{
    switch (next_random() % 4) {
    case 0:
        return 0;
    case 1:
        return AREA - n;
    default:
        return next_random() % (AREA - n + 1);
    }
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static int compare_slowly(const unsigned char *a, const unsigned char *b, size_t n, bool strings)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] || (strings && !a[i]))
            return sign(a[i] - b[i]);
    return 0;
}

static unsigned char *find_slowly(const unsigned char *s, int byte, size_t n, bool last)
{
    const unsigned char *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (s[i] == (unsigned char)byte && (last || !found))
            found = s + i;
    return (unsigned char *)found;
}

static unsigned wrong_moves, wrong_sets, wrong_compares, wrong_finds, wrong_strings;

static bool to_is_expected(void)
{
    for (size_t i = 0; i < AREA; i++)
        if (to[i] != expected[i])
            return false;
    return true;
}

static void check_move(size_t a, size_t b, size_t n)
{
    for (size_t i = 0; i < AREA; i++)
        expected[i] = to[i];
    for (size_t i = 0; i < n; i++)
        expected[b + i] = to[a + i];
    wrong_moves += memmove(to + b, to + a, n) != to + b || !to_is_expected();
    for (size_t i = 0; i < n; i++)
        expected[b + i] = from[a + i];
    wrong_moves += memcpy(to + b, from + a, n) != to + b || !to_is_expected();
}

static void check_set(size_t b, size_t n)
{
    int byte = (int)next_random();

    for (size_t i = 0; i < AREA; i++)
        expected[i] = i - b < n ? (unsigned char)byte : to[i];
    wrong_sets += memset(to + b, byte, n) != to + b || !to_is_expected();
}

static void check_compare(size_t a, size_t b, size_t n)
{
    memcpy(to + b, from + a, n);
    wrong_compares += memcmp(from + a, to + b, n) != 0;
    if (!n)
        return;
    to[b + next_random() % n] ^= 1u << next_random() % 8;
    wrong_compares +=
        sign(memcmp(from + a, to + b, n)) != compare_slowly(from + a, to + b, n, false);
    wrong_compares += sign(strncmp((char *)from + a, (char *)to + b, n)) !=
                      compare_slowly(from + a, to + b, n, true);
}

static void check_find(size_t a, size_t n)
{
    int byte = next_random() % 3 || !n ? (int)next_random() : from[a + next_random() % n];

    wrong_finds += memchr(from + a, byte, n) != find_slowly(from + a, byte, n, false);
}

/* A string of n - 1 characters and its end. */
static void check_string(size_t a, size_t b, size_t n)
{
    char *s = (char *)from + a, *t = (char *)to + b;
    int byte = next_random() % 3 ? (int)next_random() % 256 : s[next_random() % n];
    size_t part = next_random() % (2 * n);

    wrong_strings += strlen(s) != n - 1 || strnlen(s, part) != (part < n - 1 ? part : n - 1);
    wrong_strings += strchr(s, byte) != (char *)find_slowly(from + a, byte, n, false);
    wrong_strings += strrchr(s, byte) != (char *)find_slowly(from + a, byte, n, true);
    for (size_t i = 0; i < AREA; i++)
        expected[i] = i - b < n ? from[a + i - b] : to[i];
    wrong_strings += strcpy(t, s) != t || !to_is_expected();
    wrong_strings += stpcpy(t, s) != t + n - 1 || !to_is_expected();
    wrong_strings += strcmp(s, t) != 0 || strncmp(s, t, part) != 0;
    to[b + next_random() % n] ^= 1u << next_random() % 8;
    to[b + n - 1] = 0;
    wrong_strings += sign(strcmp(s, t)) != compare_slowly(from + a, to + b, n, true);
    wrong_strings +=
        sign(strncmp(s, t, part)) != compare_slowly(from + a, to + b, part < n ? part : n, true);
    for (size_t i = 0; i < part && b + i < AREA; i++)
        expected[b + i] = i < n ? from[a + i] : 0;
    if (b + part <= AREA) {
        memcpy(to + b, expected + b, n);
        wrong_strings += strncpy(t, s, part) != t || memcmp(to + b, expected + b, part);
    }
}

static void check_one(void)
{
    size_t n = next_random() % 4 ? next_random() % 200 : next_random() % (PAGE + 200);
    size_t a = place_of_part(n), b = place_of_part(n);

    for (unsigned i = 0; i < 16; i++)
        from[next_random() % AREA] = (unsigned char)next_random();
    check_move(a, b, n);
    check_set(b, n);
    check_compare(a, b, n);
    check_find(a, n);
    if (!n)
        return;
    for (size_t i = a; i < a + n - 1; i++)
        from[i] += !from[i];
    from[a + n - 1] = 0;
    check_string(a, b, n);
}

static void joins(void)
{
    char text[64] = "one";
    volatile size_t four = 4; /* the compiler would warn that it cuts */

    tap_check(strcmp(strcat(text, " two"), "one two") == 0 &&
                  strcmp(strncat(text, " three", four), "one two thr") == 0,
              "strcat and strncat append");
    char *end = stpncpy(text, "ab", 5);
    tap_check(end == text + 2 && memcmp(text, "ab\0\0\0wo thr", 12) == 0,
              "stpncpy fills up with zeros");
    tap_check(mempcpy(text, "xyz", 3) == text + 3 && memccpy(text, "k=v", '=', 3) == text + 2 &&
                  !memccpy(text, "kv", '=', 2),
              "mempcpy and memccpy say where they end");
}

static void checks(void)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        check_one();
    tap_check(!wrong_moves, "memcpy and memmove move bytes, whatever overlaps: %u times not",
              wrong_moves);
    tap_check(!wrong_sets, "memset sets them: %u times not", wrong_sets);
    tap_check(!wrong_compares, "memcmp and strncmp find the first that differs: %u times not",
              wrong_compares);
    tap_check(!wrong_finds, "memchr finds the first that is there: %u times not", wrong_finds);
    tap_check(!wrong_strings, "strings are measured, compared, searched, copied: %u times not",
              wrong_strings);
    joins();
}

/* ---- What they cost -------------------------------------------------------------------------- */

#define SIZE   20000
#define PLACES 5
static char *left, *right;
static char *places[PLACES];
static volatile size_t result;

static void do_memcpy(size_t n)
{
    memcpy(right + 3, left + 1, n);
}
static void do_memmove_up(size_t n)
{
    memmove(left, left + 5, n);
}
static void do_memmove_down(size_t n)
{
    memmove(left + 5, left, n);
}
static void do_memset(size_t n)
{
    memset(right + 1, (int)n, n);
}
static void do_memcmp(size_t n)
{
    result = (size_t)memcmp(left + 1, right + 1, n);
}
static void do_memchr(size_t n)
{
    result = (size_t)memchr(left + 1, 'x', n);
}
static void do_strlen(size_t n)
{
    left[n + 1] = 0;
    result = strlen(left + 1);
    left[n + 1] = 'a';
}
static void do_strnlen(size_t n)
{
    result = strnlen(left + 1, n);
}
static void do_strchr(size_t n)
{
    left[n + 1] = 0;
    result = (size_t)strchr(left + 1, 'x');
    left[n + 1] = 'a';
}
static void do_strrchr(size_t n)
{
    left[n + 1] = 0;
    result = (size_t)strrchr(left + 1, 'x');
    left[n + 1] = 'a';
}
static void do_strcpy(size_t n)
{
    left[n + 1] = 0;
    strcpy(right + 3, left + 1);
    left[n + 1] = 'a';
    right[n + 3] = 'a';
}
static void do_strncpy(size_t n)
{
    strncpy(right + 3, left + 1, n);
}
static void do_strcat(size_t n)
{
    left[n + 1] = right[3] = 0;
    strcat(right + 3, left + 1);
    left[n + 1] = 'a';
    right[n + 3] = 'a';
}
static void do_strcmp(size_t n)
{
    left[n + 1] = right[n + 1] = 0;
    result = (size_t)strcmp(left + 1, right + 1);
    left[n + 1] = right[n + 1] = 'a';
}
static void do_strncmp(size_t n)
{
    result = (size_t)strncmp(left + 1, right + 1, n);
}
static void do_malloc(size_t n)
{
    char *volatile p = malloc(n);
    free(p);
}

static const struct cost {
    const char *name;
    void (*run)(size_t n);
} costs[] = {
    {"memcpy", do_memcpy},      {"memmove-up", do_memmove_up}, {"memmove-down", do_memmove_down},
    {"memset", do_memset},      {"memcmp", do_memcmp},         {"memchr", do_memchr},
    {"strlen", do_strlen},      {"strnlen", do_strnlen},       {"strchr", do_strchr},
    {"strrchr", do_strrchr},    {"strcpy", do_strcpy},         {"strncpy", do_strncpy},
    {"strcat", do_strcat},      {"strcmp", do_strcmp},         {"strncmp", do_strncmp},
    {"malloc-free", do_malloc},
};

static uint64_t cycles(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define REPEATS 20

/* The least of a few, each of several calls, without what the clock takes. Each has another target:
 * two of 16 KB fill a first cache of 32 KB, and frames that happen to share its sets would be
 * measured instead. */
static uint64_t cost_of(const struct cost *c, size_t n)
{
    uint64_t least = UINT64_MAX, clock = UINT64_MAX;

    memset(left, 'a', SIZE);
    for (unsigned i = 0; i < PLACES; i++) {
        right = places[i];
        memset(right, 'a', SIZE);
        c->run(n);
        uint64_t start = cycles(), end = cycles();
        clock = end - start < clock ? end - start : clock;
        start = cycles();
        for (unsigned j = 0; j < REPEATS; j++)
            c->run(n);
        end = cycles();
        least = end - start < least ? end - start : least;
    }
    return (least > clock ? least - clock : 0) / REPEATS;
}

static void print_costs(void)
{
    static const size_t sizes[] = {64, 256, 1024, 4096, 16384};

    left = malloc(SIZE);
    for (unsigned i = 0; i < PLACES; i++)
        places[i] = malloc(SIZE);
    for (unsigned i = 0; i < sizeof costs / sizeof *costs; i++)
        for (unsigned j = 0; j < 5; j++)
            printf("cost %s %zu %llu\n", costs[i].name, sizes[j],
                   (unsigned long long)cost_of(&costs[i], sizes[j]));
    printf("cost malloc-free 102400 %llu\n", (unsigned long long)cost_of(&costs[15], 102400));
    printf("cost malloc-free 1048576 %llu\n", (unsigned long long)cost_of(&costs[15], 1 << 20));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "costs") == 0) {
        print_costs();
        return 0;
    }
    from = between_guards();
    to = between_guards();
    for (unsigned i = 0; i < AREA; i++)
        from[i] = (unsigned char)(1 + i % 5);
    checks();
    return tap_done();
}
