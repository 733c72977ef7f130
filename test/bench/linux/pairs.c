/*
 * Times requests of 64 bytes and their answers over TCP's loopback: a pair of threads on each CPU,
 * all at once. One Linux program, the same file for any kernel.
 *
 *   pairs CPUS ROUNDS [CPUS ROUNDS ...]
 *
 * Prints for each the requests of all pairs in a second, from the first client's beginning to the
 * last one's end, and the cycles of one, the mean of all clients. Clients read CLOCK_MONOTONIC: the
 * simulated machine runs at 1 GHz.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64, PAIRS_MAX = 64, WARM = 20 };

struct pair {
    pthread_t client, server;
    int cpu, client_end, server_end;
    uint64_t from_ns, to_ns; /* of the client */
};

static struct pair pairs[PAIRS_MAX];
static pthread_barrier_t ready, begin, end;
static unsigned rounds;
static struct sockaddr_in at;
static int listener;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "pairs: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void bind_to(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fail("sched_setaffinity");
}

static void move(int s, bool in)
{
    static const char out[BYTES];
    char got[BYTES];

    for (size_t done = 0; done < BYTES;) {
        ssize_t n = in ? read(s, got, BYTES - done) : write(s, out, BYTES - done);
        if (n <= 0)
            fail(in ? "read" : "write");
        done += (size_t)n;
    }
}

static void turn(int s, bool asks)
{
    move(s, !asks);
    move(s, asks);
}

static void talk(int s, bool asks, uint64_t *from_ns, uint64_t *to_ns)
{
    for (unsigned i = 0; i < WARM; i++)
        turn(s, asks);
    pthread_barrier_wait(&begin);
    *from_ns = now();
    for (unsigned i = 0; i < rounds; i++)
        turn(s, asks);
    *to_ns = now();
    pthread_barrier_wait(&end);
}

static void *client(void *arg)
{
    struct pair *p = arg;

    bind_to(p->cpu);
    p->client_end = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(p->client_end, (struct sockaddr *)&at, sizeof at))
        fail("connect");
    setsockopt(p->client_end, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    pthread_barrier_wait(&ready);
    talk(p->client_end, true, &p->from_ns, &p->to_ns);
    close(p->client_end);
    return NULL;
}

static void *server(void *arg)
{
    struct pair *p = arg;
    uint64_t from_ns, to_ns;

    bind_to(p->cpu);
    pthread_barrier_wait(&ready);
    talk(p->server_end, false, &from_ns, &to_ns);
    close(p->server_end);
    return NULL;
}

/* Makes a pair's connection. Each client connects from its own CPU. */
static void join_pair(struct pair *p)
{
    pthread_create(&p->client, NULL, client, p);
    p->server_end = accept(listener, NULL, NULL);
    if (p->server_end < 0)
        fail("accept");
    setsockopt(p->server_end, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    pthread_create(&p->server, NULL, server, p);
}

static void report(unsigned n)
{
    uint64_t from_ns = pairs[0].from_ns, to_ns = pairs[0].to_ns, all_ns = 0;

    for (unsigned i = 0; i < n; i++) {
        from_ns = pairs[i].from_ns < from_ns ? pairs[i].from_ns : from_ns;
        to_ns = pairs[i].to_ns > to_ns ? pairs[i].to_ns : to_ns;
        all_ns += pairs[i].to_ns - pairs[i].from_ns;
    }
    printf("PAIRS cpus=%u rounds=%u per_s=%llu cycles=%llu\n", n, rounds,
           (unsigned long long)((uint64_t)n * rounds * 1000000000 / (to_ns - from_ns)),
           (unsigned long long)(all_ns / n / rounds));
}

static void measure(unsigned n)
{
    pthread_barrier_init(&ready, NULL, 2 * n + 1);
    pthread_barrier_init(&begin, NULL, 2 * n + 1);
    pthread_barrier_init(&end, NULL, 2 * n + 1);
    for (unsigned i = 0; i < n; i++) {
        pairs[i].cpu = (int)i;
        join_pair(&pairs[i]);
    }
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    report(n);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(pairs[i].client, NULL);
        pthread_join(pairs[i].server, NULL);
    }
    pthread_barrier_destroy(&ready);
    pthread_barrier_destroy(&begin);
    pthread_barrier_destroy(&end);
}

int main(int argc, char **argv)
{
    socklen_t bytes = sizeof at;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&at, bytes) || listen(listener, PAIRS_MAX))
        fail("listen");
    getsockname(listener, (struct sockaddr *)&at, &bytes);
    for (int i = 1; i + 1 < argc; i += 2) {
        rounds = (unsigned)atoi(argv[i + 1]);
        if (atoi(argv[i]) < 1 || atoi(argv[i]) > PAIRS_MAX || !rounds) {
            fprintf(stderr, "pairs: CPUS: from 1 to %d; ROUNDS: at least 1\n", PAIRS_MAX);
            return 2;
        }
        measure((unsigned)atoi(argv[i]));
    }
    return 0;
}
