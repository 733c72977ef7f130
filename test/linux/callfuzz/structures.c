/* Structures that arguments point to, right or nearly so. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/arguments.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* ---- Structures ------------------------------------------------------------------------------ */

static const char *const paths[] = {"a",
                                    "b",
                                    "a",
                                    "c/d",
                                    "c",
                                    "link",
                                    "loop",
                                    "f/../a",
                                    "./a",
                                    "",
                                    "new",
                                    "a/b",
                                    "c/",
                                    "link/x",
                                    ".",
                                    "..",
                                    "/",
                                    "/tmp",
                                    "/dev/null",
                                    "/dev/zero",
                                    "/proc/self/maps",
                                    "/proc/self/fd/3",
                                    "/no/such",
                                    "/proc/self/status",
                                    "/tmp/../tmp",
                                    "/dev/full",
                                    "/etc",
                                    "//"};
#define OWN_PATHS 14 /* those that lead to the caller's folder */
/* What kernels need not have alike. */
static const char *const own_paths[] = {"/proc",
                                        "/proc/meminfo",
                                        "/proc/cpuinfo",
                                        "/proc/self/task",
                                        "/sys/devices/system/cpu",
                                        "/dev/tty",
                                        "/dev/ptmx",
                                        "/dev/pts/0",
                                        "/dev/pts/1",
                                        "/dev/pts",
                                        "/dev/urandom",
                                        "/proc/self/stat",
                                        "/proc/self/auxv",
                                        "/proc/stat",
                                        "/proc/1/maps",

                                        "/sys/devices/system/node/online",
                                        "/proc/self/cwd/a",
                                        "/dev/shm/x",
                                        "hello"};

uint64_t place(struct maker *m, unsigned i, const void *from, size_t n)
{
    struct random *r = &m->random;
    uint64_t at = m->safe + i * PAGE, end = m->safe + SAFE_PAGES * PAGE;

    if (random_one_in(r, 12))
        return pointer(m);
    if (random_one_in(r, 16)) {
        at = end - n;
        memcpy((void *)at, from, n);
        return at + (random_one_in(r, 2) ? 1 + random_below(r, 8) : 0);
    }
    memcpy((void *)at, from, n);
    return at;
}

static uint64_t place_path(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    char text[4200];
    const char *path = m->relative                        ? paths[random_below(r, OWN_PATHS)]
                       : m->twins || !random_one_in(r, 3) ? PICK(r, paths)
                                                          : PICK(r, own_paths);
    size_t n = strlen(path);

    if (random_one_in(r, 40)) { /* too long, or nearly */
        n = random_one_in(r, 2) ? 4090 + random_below(r, 10) : 250 + random_below(r, 10);
        memset(text, 'x', n);
        if (random_one_in(r, 2))
            for (size_t k = 1; k < n; k += 2)
                text[k] = '/';
    } else {
        memcpy(text, path, n);
    }
    text[n] = '\0';
    return place(m, i, text, n + 1);
}

static uint64_t place_time(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    int64_t t[4] = {0, (int64_t)random_below(r, 200000), 0, (int64_t)random_below(r, 200000)};

    if (random_one_in(r, 8))
        t[random_below(r, 4)] = (int64_t)(random_one_in(r, 2) ? random_next(r) : number(m));
    if (!m->twins)
        return random_one_in(r, 16) ? 0 : place(m, i, t, sizeof t);
    for (unsigned k = 0; k < 4; k += 2) /* no long waits */
        t[k] = t[k] < 0 ? t[k] : 0;
    memcpy((void *)(m->safe + i * PAGE), t, sizeof t);
    return random_one_in(r, 12) ? ARENA + 20 * PAGE : m->safe + i * PAGE;
}

static uint64_t place_set(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    uint64_t set = random_one_in(r, 3) ? 0 : random_next(r) & random_next(r);

    if (!m->twins && !random_one_in(r, 64))
        set &= ~(1ull << (SIGUSR1 - 1));
    return place(m, i, &set, sizeof set);
}

static uint64_t place_action(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    uint64_t a[4] = {random_one_in(r, 4) ? (uint64_t)(uintptr_t)SIG_IGN
                                         : (uint64_t)(uintptr_t)handle_signal};

    if (random_one_in(r, 100))
        a[0] = random_next(r);
    a[1] = random_one_in(r, 2)
               ? 0
               : random_next(r) & (random_one_in(r, 16) && !m->twins ? 0x5800000f : 0x50000007);
    a[1] |= 0x04000000; /* SA_RESTORER */
    a[2] = (uint64_t)(uintptr_t)signal_restorer;
    return random_one_in(r, 4) ? 0 : place(m, i, a, sizeof a);
}

static uint64_t place_stack(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    stack_t s = {.ss_sp = (void *)pointer(m),
                 .ss_flags = random_one_in(r, 3) ? (int)flags(m) : 0,
                 .ss_size = random_one_in(r, 3) ? length(m) : 8192};

    return random_one_in(r, 4) ? 0 : place(m, i, &s, sizeof s);
}

static uint64_t place_parts(struct maker *m, unsigned i)
{
    struct iovec parts[12];

    for (unsigned k = 0; k < 12; k++)
        parts[k] = (struct iovec){(void *)pointer(m), length(m)};
    return place(m, i, parts, sizeof parts);
}

static uint64_t place_polled(struct maker *m, unsigned i)
{
    struct {
        int fd;
        uint16_t events, found;
    } p[12];

    for (unsigned k = 0; k < 12; k++) {
        p[k].fd = (int)descriptor(m);
        p[k].events = (uint16_t)(random_next(&m->random) & 0x3f);
        p[k].found = 0;
    }
    return place(m, i, p, sizeof p);
}

static uint64_t place_clone(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    uint64_t a[11] = {random_one_in(r, 2) ? 0x3d0f00 : flags(m),
                      0,
                      pointer(m),
                      pointer(m),
                      0,
                      m->safe + 8 * PAGE,
                      4096,
                      pointer(m)};

    if (random_one_in(r, 4))
        a[random_below(r, 11)] = random_next(r);
    return place(m, i, a, random_one_in(r, 4) ? 64 + random_below(r, 25) : sizeof a);
}

static uint64_t place_words(struct maker *m, unsigned i)
{
    uint64_t words[8];

    for (unsigned k = 0; k < 8; k++)
        words[k] = number(m);
    return random_one_in(&m->random, 3) ? number(m) : place(m, i, words, sizeof words);
}

/* What perf_event_open takes. */
static uint64_t place_event(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    struct perf_event_attr a = {.size = sizeof a, .type = (uint32_t)random_below(r, 6)};

    a.config = random_one_in(r, 8) ? flags(m) : random_below(r, 12);
    if (a.type == PERF_TYPE_HW_CACHE)
        a.config = random_below(r, 8) | random_below(r, 3) << 8 | random_below(r, 2) << 16;
    a.read_format = random_one_in(r, 8) ? flags(m) : random_below(r, 32);
    a.disabled = random_one_in(r, 4);
    a.inherit = random_one_in(r, 2);
    a.pinned = random_one_in(r, 6);
    a.exclude_kernel = random_one_in(r, 2);
    a.enable_on_exec = random_one_in(r, 8);
    if (random_one_in(r, 2)) {
        a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
        a.sample_period = 50000 + random_below(r, 1000000);
    }
    if (random_one_in(r, 4))
        a.size = (uint32_t)number(m);
    if (random_one_in(r, 4))
        ((uint8_t *)&a)[random_below(r, sizeof a)] = (uint8_t)random_next(r);
    return place(m, i, &a, sizeof a);
}

uint64_t make_structure(struct maker *m, char kind, unsigned i)
{
    switch (kind) {
    case 'p':
        return place_path(m, i);
    case 'S':
        return place_set(m, i);
    case 'A':
        return place_action(m, i);
    case 'T':
        return place_time(m, i);
    case 'v':
        return place_parts(m, i);
    case 'e':
        return place_polled(m, i);
    case 'K':
        return place_stack(m, i);
    case 'C':
        return place_clone(m, i);
    case 'Q':
        return place_event(m, i);
    default:
        return place_words(m, i);
    }
}
