/*
 * Times requests over loopback while many connections are open: one Linux program, the same file
 * for any kernel.
 *
 *   connections N [REQUESTS]      N connections; requests of each measurement  (2000)
 *
 * A request is a byte that a client sends and a server, the same thread, reads, and a byte back:
 * four calls. `one`: all on one connection, while the others are idle; the median of a few
 * connections, as where their objects lie in caches differs. `all`: on each in turn. Prints
 * nanoseconds of one by CLOCK_MONOTONIC. The simulated machine runs at 1 GHz: cycles.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SOME = 9 };

static int (*ends)[2];

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "connections: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void open_all(unsigned n)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 16) ||
        getsockname(listener, (void *)&at, &bytes))
        fail("listen");
    for (unsigned i = 0; i < n; i++) {
        ends[i][0] = socket(AF_INET, SOCK_STREAM, 0);
        if (ends[i][0] < 0 || connect(ends[i][0], (void *)&at, sizeof at))
            fail("connect");
        ends[i][1] = accept(listener, NULL, NULL);
        if (ends[i][1] < 0)
            fail("accept");
    }
}

static void request(unsigned i)
{
    char byte = 'x';

    for (unsigned from = 0; from < 2; from++)
        if (write(ends[i][from], &byte, 1) != 1 || read(ends[i][1 - from], &byte, 1) != 1)
            fail("transfer");
}

/* On connections from `first` on, in turn. */
static uint64_t time_requests(unsigned requests, unsigned first, unsigned connections)
{
    uint64_t began = now();

    for (unsigned i = 0; i < requests; i++)
        request(first + i % connections);
    return (now() - began) / requests;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint64_t time_one(unsigned requests, unsigned n)
{
    uint64_t times[SOME];

    for (unsigned i = 0; i < SOME; i++) {
        unsigned which = (unsigned)((uint64_t)i * n / SOME);
        time_requests(requests / 4, which, 1);
        times[i] = time_requests(requests, which, 1);
    }
    qsort(times, SOME, sizeof times[0], compare);
    return times[SOME / 2];
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    unsigned requests = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2000;
    struct rlimit files = {2 * n + 16, 2 * n + 16};
    cpu_set_t first;

    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
    setrlimit(RLIMIT_NOFILE, &files);
    ends = calloc(n, sizeof *ends);
    if (!ends)
        fail("memory");
    open_all(n);
    time_requests(n, 0, n);
    uint64_t all = time_requests(requests + n, 0, n);
    uint64_t one = time_one(requests, n);
    printf("CONNECTIONS n=%u one=%llu all=%llu\n", n, (unsigned long long)one,
           (unsigned long long)all);
    return 0;
}
