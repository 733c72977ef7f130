/*
 * Reads the clocks by the vDSO and by system calls, on all CPUs at a time, and compares them; asks
 * for the date and for random bytes; says what a reading costs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/time.h>
#include <time.h>
#include "apps/libc/libc.h"
#include "test/qemu/apps/tap.h"

/* The numbers of Linux's calls. */
#define CALL(number, name, handler) enum { NR_##name = (number) };
#define REFUSED(number, name)
#include "linux_calls.h"

enum { THREADS_MAX = 64, ROUNDS = 2000, TIMED = 1000, AT_SYSINFO_EHDR = 33, AUXV_MAX = 64 };
enum { REALTIME = 0, MONOTONIC = 1, PROCESS_TIME = 2, CLOCKS_END = 12, NO_CLOCK = 77 };
#define VDSO_ADDRESS 0x7fffffbf1000 /* where a start without an auxiliary vector has it */
#define NS_IN_S      UINT64_C(1000000000)

/* ---- The object ------------------------------------------------------------------------------ */

/* ELF's structures (System V ABI, chapter 5). */
struct header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments_at, sections_at;
    uint32_t flags;
    uint16_t size, segment_size, segment_count;
};
struct segment {
    uint32_t type, flags;
    uint64_t offset, address, physical, file_size, memory_size, align;
};
struct symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
};
enum { SEGMENT_DYNAMIC = 2, TAG_HASH = 4, TAG_STRINGS = 5, TAG_SYMBOLS = 6 };

static const uint8_t *vdso;

static uint64_t find_object(char **argv, int argc)
{
    const uint64_t *word = (const uint64_t *)(argv + argc + 1);

    while (*word++) /* the environment */
        ;
    for (unsigned i = 0; i < AUXV_MAX && word[0]; i++, word += 2)
        if (word[0] == AT_SYSINFO_EHDR)
            return word[1];
    return VDSO_ADDRESS;
}

static uint64_t dynamic_value(int64_t tag)
{
    const struct header *h = (const struct header *)vdso;
    const struct segment *s = (const struct segment *)(vdso + h->segments_at);

    while (s->type != SEGMENT_DYNAMIC)
        s++;
    const int64_t *row = (const int64_t *)(vdso + s->offset);
    while (row[0] && row[0] != tag)
        row += 2;
    return (uint64_t)row[1];
}

/* Returns the address of a function under the name that it has on either instruction set, or
 * NULL. */
static void *find_function(const char *name)
{
    const struct symbol *symbols = (const struct symbol *)(vdso + dynamic_value(TAG_SYMBOLS));
    const char *strings = (const char *)vdso + dynamic_value(TAG_STRINGS);
    uint32_t n = ((const uint32_t *)(vdso + dynamic_value(TAG_HASH)))[1];

    for (uint32_t i = 1; i < n; i++) {
        const char *s = strings + symbols[i].name;
        if ((!strncmp(s, "__vdso_", 7) && !strcmp(s + 7, name)) ||
            (!strncmp(s, "__kernel_", 9) && !strcmp(s + 9, name)))
            return (void *)(uintptr_t)(vdso + symbols[i].value);
    }
    return NULL;
}

/* ---- Readings -------------------------------------------------------------------------------- */

typedef int read_clock(int clock, struct timespec *out);

static read_clock *by_vdso, *resolution_by_vdso;

static int by_call(int clock, struct timespec *out)
{
    return (int)syscall2(NR_clock_gettime, (uint64_t)clock, (uint64_t)(uintptr_t)out);
}

static uint64_t ns_by(read_clock *read, int clock)
{
    struct timespec t;

    if (read(clock, &t) || t.tv_nsec < 0 || t.tv_nsec >= (long)NS_IN_S)
        return 0;
    return (uint64_t)t.tv_sec * NS_IN_S + (uint64_t)t.tv_nsec;
}

static _Atomic uint64_t latest, wrong_order, wrong_thread, wrong_date;

/* One reading of each kind between two of the other; what another thread has read before this one
 * began is not later. */
static void compare_once(void)
{
    uint64_t seen = atomic_load(&latest), before = ns_by(by_call, MONOTONIC);
    uint64_t now = ns_by(by_vdso, MONOTONIC), after = ns_by(by_call, MONOTONIC);

    wrong_order += !before || now < before || after < now;
    wrong_thread += now < seen;
    while (now > seen && !atomic_compare_exchange_weak(&latest, &seen, now))
        ;
    before = ns_by(by_call, REALTIME);
    now = ns_by(by_vdso, REALTIME);
    after = ns_by(by_call, REALTIME);
    wrong_date += !before || now < before || after < now;
}

static void *compare(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        compare_once();
    return unused;
}

static void compare_on_all_cpus(unsigned cpus)
{
    pthread_t thread[THREADS_MAX];
    unsigned n = cpus < THREADS_MAX ? cpus : THREADS_MAX;

    for (unsigned i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, compare, NULL);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    tap_check(!wrong_order, "vDSO's clock is between the calls' (%" PRIu64 " are not)",
              wrong_order);
    tap_check(!wrong_date, "... and so is its date (%" PRIu64 " are not)", wrong_date);
    tap_check(!wrong_thread,
              "no thread reads a time before one that another has read (%" PRIu64 ")",
              wrong_thread);
}

static void compare_clocks(void)
{
    for (int clock = 0; clock < CLOCKS_END; clock++) {
        struct timespec a, b, ra, rb;
        int ea = by_vdso(clock, &a), eb = by_call(clock, &b);
        int fa = resolution_by_vdso(clock, &ra);
        int fb = (int)syscall2(NR_clock_getres, (uint64_t)clock, (uint64_t)(uintptr_t)&rb);
        bool same = ea == eb && fa == fb && fa == ea && (fa || !memcmp(&ra, &rb, sizeof ra));
        if (!ea)
            same &= b.tv_sec - a.tv_sec <= 1 && b.tv_sec >= a.tv_sec;
        tap_check(same, "clock %d is the same by both (%d, %d)", clock, ea, eb);
    }
    tap_check(by_vdso(NO_CLOCK, &(struct timespec){0}) == -22, "no such clock: EINVAL");
    tap_check(resolution_by_vdso(MONOTONIC, NULL) == 0, "a resolution that is not wanted");
}

static void compare_days(void)
{
    int (*day)(struct timeval *, void *) =
        (int (*)(struct timeval *, void *))find_function("gettimeofday");
    long (*seconds)(long *) = (long (*)(long *))find_function("time");
    uint64_t before = ns_by(by_call, REALTIME) / 1000;
    struct timeval t = {0};
    uint32_t zone[2] = {1, 1};

    int err = day(&t, zone);
    uint64_t us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
    tap_check(!err && us >= before && us <= ns_by(by_call, REALTIME) / 1000, "gettimeofday");
    tap_check(!zone[0] && !zone[1], "... of no time zone");
    if (!seconds) {
        tap_skip("time", "this instruction set has none");
        return;
    }
    long kept = 0, now = seconds(&kept);
    tap_check(now == kept && (uint64_t)now >= before / 1000000, "time");
}

/* The kernel knows the functions' names, for profiles and messages. */
static void ask_names(void)
{
    struct sys_symbol s = {0};

    syscall_raw(SYS_SYMBOL, 0, (uint64_t)(uintptr_t)by_vdso + 4, (uint64_t)(uintptr_t)&s, sizeof s,
                0, 0);
    tap_check(
        !strcmp(s.region, "vdso") && strstr(s.function, "clock_gettime") && s.function_offset == 4,
        "code of the vDSO has names: %s, %s+%" PRIu64, s.region, s.function, s.function_offset);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static void compare_cpus(unsigned cpus)
{
    long (*where)(unsigned *, unsigned *, void *) =
        (long (*)(unsigned *, unsigned *, void *))find_function("getcpu");
    unsigned wrong = 0;

    for (unsigned i = 0; i < cpus; i++) {
        uint64_t one[2] = {(uint64_t)1 << i, 0};
        unsigned cpu = ~0u, node = ~0u, cpu_called = ~0u, node_called = ~0u;
        if (syscall3(NR_sched_setaffinity, 0, sizeof one, (uint64_t)(uintptr_t)one))
            wrong++;
        syscall3(NR_getcpu, (uint64_t)(uintptr_t)&cpu_called, (uint64_t)(uintptr_t)&node_called, 0);
        if (where)
            where(&cpu, &node, NULL);
        wrong += cpu_called != i || (where && (cpu != i || node != node_called));
    }
    tap_check(!wrong, "getcpu says where a thread is (%u times not)", wrong);
}

/* ---- Chance, costs --------------------------------------------------------------------------- */

static void draw(void)
{
    uint8_t bytes[2][16] = {{0}};

    for (unsigned i = 0; i < 2; i++)
        tap_check(syscall3(NR_getrandom, (uint64_t)(uintptr_t)bytes[i], sizeof bytes[i], 0) == 16,
                  "random bytes");
    tap_check(memcmp(bytes[0], bytes[1], sizeof bytes[0]), "... are others each time");
    printf("RESULT clocks random=");
    for (unsigned i = 0; i < sizeof bytes; i++)
        printf("%02x", ((uint8_t *)bytes)[i]);
    printf("\n");
}

static uint64_t cost_of(read_clock *read)
{
    uint64_t least = UINT64_MAX;

    for (unsigned trial = 0; trial < 5; trial++) {
        struct timespec t;
        uint64_t began = ns_by(by_vdso, MONOTONIC);
        for (unsigned i = 0; i < TIMED; i++)
            read(MONOTONIC, &t);
        uint64_t took = ns_by(by_vdso, MONOTONIC) - began;
        least = took < least ? took : least;
    }
    return least / TIMED;
}

int main(int argc, char **argv)
{
    const unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);

    vdso = (const uint8_t *)(uintptr_t)find_object(argv, argc);
    if (!tap_check(!memcmp(vdso, "\177ELF\2\1\1", 7), "the vDSO is an ELF object"))
        return tap_done();
    by_vdso = (read_clock *)find_function("clock_gettime");
    resolution_by_vdso = (read_clock *)find_function("clock_getres");
    if (!tap_check(by_vdso && resolution_by_vdso && find_function("gettimeofday"),
                   "... with the functions"))
        return tap_done();
    compare_on_all_cpus(cpus);
    compare_clocks();
    compare_days();
    ask_names();
    compare_cpus(cpus);
    draw();
    printf("RESULT clocks date=%" PRIu64 " vdso_ns=%" PRIu64 " call_ns=%" PRIu64 "\n",
           ns_by(by_vdso, REALTIME) / NS_IN_S, cost_of(by_vdso), cost_of(by_call));
    return tap_done();
}
