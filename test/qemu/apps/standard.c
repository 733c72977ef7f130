/*
 * What standards promise of the C library: numbers and text, keys of threads, signals, times,
 * descriptors.
 *   standard          checks all of it
 *   standard closes   closes standard output: the status is 0 if nothing can be written any more
 *   standard memory   takes memory until it is refused, in large pieces and in small ones, and goes
 *   on
 *   standard times    the clocks of processors' time; where time is the host's, what it does shows
 *   in them
 *   standard ends     a signal that nothing handles ends it: 128 and SIGTERM
 */
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include "test/qemu/apps/tap.h"

/* ---- Numbers and text ------------------------------------------------------------------------ */

static void number_is(const char *text, long double value, const char *rest)
{
    char *end;
    long double got = strtold(text, &end);

    tap_check(got == value && strcmp(end, rest) == 0, "strtold of %s leaves '%s'", text, end);
}

static void numbers(void)
{
    number_is("1.5", 1.5L, "");
    number_is("-0.1x", -0.1L, "x");
    number_is(" 3.14159265358979323846264338327950288", 3.14159265358979323846264338327950288L, "");
    number_is("1e4000", 1e4000L, "");
    number_is("4e-4940", 4e-4940L, "");
    number_is("1e99999", __builtin_infl(), "");
    number_is("-inf", -__builtin_infl(), "");
    number_is("0x1.8p1z", 3.0L, "z");
    number_is("none", 0.0L, "none");
    long double nan = strtold("nan", NULL), zero = strtold("-0", NULL);
    tap_check(nan != nan, "strtold of nan");
    tap_check(zero == 0 && __builtin_signbit(zero), "strtold of -0");

    long double scanned = 0;
    double plain = 0;
    tap_check(sscanf("2.75 1e-5", "%Lf %lf", &scanned, &plain) == 2 && scanned == 2.75L &&
                  plain == 1e-5,
              "scanf reads %%Lf");
    int first = 0, second = 0;
    tap_check(sscanf("1 2", "%2$d %1$d", &first, &second) == 2 && first == 2 && second == 1,
              "scanf stores by position");
}

static void __attribute__((format(printf, 2, 3)))
text_is(const char *expected, const char *format, ...)
{
    char text[200];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tap_check(n == (int)strlen(expected) && strcmp(text, expected) == 0, "'%s' is printed as '%s'",
              expected, text);
}

static void texts(void)
{
    text_is("3.141593", "%Lf", 3.14159265358979L);
    text_is("-1234567.250", "%.3Lf", -1234567.25L);
    text_is("2e+00", "%.0Le", 1.5L);
    text_is("1e+10", "%.0Le", 1e10L);
    text_is("1e-01", "%.0Le", 0.1L);
    text_is("10", "%.0Lf", 9.5L);
    text_is("0.1", "%Lg", 0.1L);
    text_is("1.0000000000000000e-4000", "%.16Le", 1e-4000L);
    text_is("inf nan", "%Lf %Lf", __builtin_infl(), __builtin_nanl(""));
    text_is("00000001.5 +2.0", "%010.1Lf %+.1Lf", 1.5L, 2.0L);
    text_is("0x1.8p+1", "%La", 3.0L);
    text_is("2 one 1", "%2$d %3$s %1$d", 1, 2, "one");
    text_is("   7|1.50", "%2$*1$d|%3$.2Lf", 4, 7, 1.5L);
    text_is("9 8 7 6 5 4 3 2 1 0.5", "%10$d %9$d %8$d %7$d %6$d %5$d %4$d %3$d %2$ld %1$.1f", 0.5,
            1l, 2, 3, 4, 5, 6, 7, 8, 9);
    text_is("wide", "%ls", L"wide");
    text_is("wi  ", "%-4.2ls", L"wide");
    text_is("c", "%lc", (wint_t)L'c');
}

static void wide(void)
{
    char text[20];
    wchar_t read[20];

    tap_check(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "there is a locale of UTF-8");
    tap_check(snprintf(text, sizeof text, "%ls", L"\u00fc\u20ac") == 5 &&
                  strcmp(text, "\u00fc\u20ac") == 0,
              "wide characters are printed as UTF-8");
    tap_check(swprintf(read, 20, L"%2$d %1$ls", L"one", 2) == 5 && wcscmp(read, L"2 one") == 0,
              "and wide text has positions, too");
    tap_check(mbstowcs(read, "\u20ac1", 20) == 2 && read[0] == 0x20ac && read[1] == L'1',
              "and read from it");
    tap_check(mbstowcs(read, "\xff", 20) == (size_t)-1 && errno == EILSEQ,
              "what is no UTF-8 is refused");
    setlocale(LC_CTYPE, "C");
}

/* ---- Keys of threads ------------------------------------------------------------------------- */

static pthread_key_t key;
static pthread_barrier_t barrier;

/* Gives the key a value, lets it be deleted and made anew, and looks. */
static void *inherits(void *arg)
{
    pthread_setspecific(key, arg);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return pthread_getspecific(key);
}

static unsigned destroyed;

static void destroy(void *value)
{
    (void)value;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
}

static void keys(void)
{
    pthread_t t;
    void *found;
    int value;

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, &value);
    pthread_create(&t, NULL, inherits, &value);
    pthread_barrier_wait(&barrier);
    pthread_key_delete(key);
    tap_check(pthread_setspecific(key, &value) == EINVAL, "a key that was deleted takes no value");
    pthread_key_create(&key, destroy);
    tap_check(!pthread_getspecific(key), "a new key has no value, whatever the old one had");
    pthread_barrier_wait(&barrier);
    pthread_join(t, &found);
    tap_check(!found, "nor has it one in other threads");
    tap_check(!destroyed, "and nothing of the old one's is destroyed");
    pthread_key_delete(key);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught, depth, deepest;

static void catch_it(int signal)
{
    caught = caught * 100 + signal;
}

/* While it runs, another of its kind waits. */
static void catch_again(int signal)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
    if (caught++ == 0)
        raise(signal);
    depth--;
}

static void *kill_own(void *arg)
{
    (void)arg;
    kill(getpid(), SIGUSR1);
    return NULL;
}

static void signals(void)
{
    pthread_t t;

    tap_check(kill(getpid(), 0) == 0, "signal 0 only asks whether there is such a process");
    tap_check(kill(getpid(), -1) == -1 && errno == EINVAL, "a signal below 0 is refused");
    tap_check(kill(getpid(), 1000) == -1 && errno == EINVAL, "and so is one that there is not");
    tap_check(kill(2000000000, 0) == -1 && errno == ESRCH, "and a process that there is not");
    tap_check(signal(SIGUSR1, catch_it) == SIG_DFL, "a signal's handler is none at first");
    tap_check(kill(getpid(), SIGUSR1) == 0 && caught == SIGUSR1, "kill calls the handler");
    caught = 0;
    tap_check(raise(SIGUSR1) == 0 && caught == SIGUSR1, "and raise does, again");
    caught = 0;
    pthread_create(&t, NULL, kill_own, NULL);
    pthread_join(t, NULL);
    tap_check(caught == SIGUSR1, "a handler is the process's, not a thread's");
    tap_check(signal(SIGUSR1, SIG_IGN) == catch_it && kill(getpid(), SIGUSR1) == 0,
              "an ignored signal does nothing");
    caught = 0;
    signal(SIGUSR2, catch_again);
    raise(SIGUSR2);
    tap_check(caught == 2 && deepest == 1,
              "a handler is not interrupted by its own signal, which waits: %d, %d", (int)caught,
              (int)deepest);
    tap_check(signal(SIGKILL, catch_it) == SIG_ERR && errno == EINVAL, "SIGKILL has no handler");
    tap_check(signal(-1, catch_it) == SIG_ERR && errno == EINVAL,
              "nor has a signal that there is not");
    tap_check(kill(getpid(), SIGCHLD) == 0, "what is ignored by default ends nothing");
}

/* ---- Times ----------------------------------------------------------------------------------- */

static uint64_t clock_is(clockid_t clock)
{
    struct timespec t = {0};

    if (clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *work(void *arg)
{
    uint64_t end = clock_is(CLOCK_MONOTONIC) + (uintptr_t)arg * 1000000;

    while (clock_is(CLOCK_MONOTONIC) < end)
        continue;
    return (void *)(uintptr_t)clock_is(CLOCK_THREAD_CPUTIME_ID);
}

static void time_spent(void)
{
    struct tms before, after;
    void *thread_ns;
    pthread_t t;

    tap_check(sysconf(_SC_CLK_TCK) > 0, "sysconf knows the ticks of a second: %ld",
              sysconf(_SC_CLK_TCK));
    clock_t start = clock();
    usleep(30000);
    double slept = (double)(clock() - start) / CLOCKS_PER_SEC;
    tap_check(slept < 0.01, "a sleep of 30 ms is no processor time: %.3f s", slept);
    start = clock();
    times(&before);
    uint64_t all = clock_is(CLOCK_PROCESS_CPUTIME_ID), own = clock_is(CLOCK_THREAD_CPUTIME_ID);
    pthread_create(&t, NULL, work, (void *)5);
    pthread_join(t, &thread_ns);
    all = clock_is(CLOCK_PROCESS_CPUTIME_ID) - all;
    own = clock_is(CLOCK_THREAD_CPUTIME_ID) - own;
    times(&after);
    double used = (double)(clock() - start) / CLOCKS_PER_SEC;
    double ticks = (double)(after.tms_utime - before.tms_utime) / (double)sysconf(_SC_CLK_TCK);
    uint64_t other = (uintptr_t)thread_ns;
    tap_check(other > 0 && other <= all, "a thread that has ended is counted: %llu of %llu ns",
              (unsigned long long)other, (unsigned long long)all);
    tap_check(own < other / 5, "one that waits uses less than one that works: %llu ns",
              (unsigned long long)own);
    tap_check(used > 0 && used * 1e9 >= (double)other - 1e6, "clock knows: %.6f s", used);
    tap_check(ticks > used - 0.001 && ticks < used + 0.001, "and so does times: %.6f s", ticks);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static int closes(void)
{
    struct stat st;

    if (close(0) || read(0, &st, 1) != -1 || errno != EBADF || close(0) != -1 || errno != EBADF)
        return 1;
    if (close(1) || write(1, "written to what is closed\n", 26) != -1 || errno != EBADF)
        return 2;
    if (isatty(1) || errno != EBADF || fstat(1, &st) != -1 || lseek(1, 0, SEEK_SET) != -1 ||
        errno != EBADF)
        return 3;
    if (printf("buffered for what is closed\n") >= 0 && fflush(stdout) == 0)
        return 4;
    return write(2, "closed\n", 7) == 7 ? 0 : 5;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct piece {
    struct piece *next;
};

static void give_all(struct piece *first)
{
    for (struct piece *piece; (piece = first); free(piece))
        first = piece->next;
}

/* Pieces of bytes each, written to, until there is none; and gives them back. How much it was, in
 * KB. */
static unsigned long take_all(size_t bytes)
{
    struct piece *first = NULL, *piece;
    unsigned long n = 0;

    for (; (piece = malloc(bytes)); n++) {
        memset(piece, 1, bytes);
        piece->next = first;
        first = piece;
    }
    give_all(first);
    return n * (bytes / 16) / 64;
}

/* Numbers are made text, and text numbers, for the first time when not a byte can be had. */
static void numbers_without_memory(void)
{
    static const size_t sizes[] = {100000, 2000, 16};
    struct piece *first = NULL, *piece;
    char text[5000] = "", *end = text;

    for (unsigned i = 0; i < 3; i++)
        for (; (piece = malloc(sizes[i])); first = piece) {
            memset(piece, 1, sizes[i]);
            piece->next = first;
        }
    bool none = !malloc(1);
    int length = snprintf(text, sizeof text, "%.3f %g", 1e300, 0.1);
    bool right =
        length == 309 && strcmp(text + 301, ".000 0.1") == 0 && strtod(text, &end) == 1e300;
    int longer = snprintf(text, sizeof text, "%.2Lf", 0x1p16000L);
    give_all(first);
    tap_check(none && right && end == text + 305,
              "doubles are printed and read without memory (%d)", length);
    tap_check(longer == 4820 && strcmp(text + 4817, ".00") == 0, "... and a long double (%d)",
              longer);
    tap_check(printf("# %.1f\n", 2.5) == 6, "... and doubles behind them");
}

static void to_the_limit(void)
{
    struct timespec moment = {0};

    numbers_without_memory();
    errno = 0;
    unsigned long large = take_all(100000);
    tap_check(large > 500 && errno == ENOMEM,
              "malloc of 100 KB is refused when there is no memory: %lu KB", large);
    unsigned long huge = take_all(10 << 20), again = take_all(100000);
    tap_check(again > large * 8 / 10,
              "what was freed can be had again, after larger ones (%lu KB): %lu KB", huge, again);
    errno = 0;
    unsigned long small = take_all(2000);
    tap_check(small > large * 8 / 10 && errno == ENOMEM,
              "malloc of 2 KB is refused then, too: %lu KB", small);
    tap_check(clock_gettime(CLOCK_MONOTONIC, &moment) == 0, "and the program goes on");
}

static int ends(void)
{
    kill(getpid(), SIGTERM);
    return 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "closes") == 0)
        return closes();
    if (strcmp(mode, "ends") == 0)
        return ends();
    if (strcmp(mode, "memory") == 0 || strcmp(mode, "times") == 0) {
        mode[0] == 'm' ? to_the_limit() : time_spent();
        return tap_done();
    }
    numbers();
    texts();
    wide();
    keys();
    signals();
    return tap_done();
}
