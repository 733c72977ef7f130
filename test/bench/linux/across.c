/*
 * Times requests and a transfer over TCP between two addresses of one machine. One Linux program.
 *
 *   across SERVER_IP SERVER_CPU CLIENT_IP CLIENT_CPU ROUNDS MEGABYTES [taken]
 *
 * The server listens at its address; the client binds to its own and connects. 64 bytes go there
 * and 64 back, ROUNDS times; then MEGABYTES go from the client to the server, which looks at each
 * byte. taken: the client first tries to bind to the server's address. Prints cycles, by
 * CLOCK_MONOTONIC: the simulated machine runs at 1 GHz.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64, WARM = 20, PIECE = 16384, PATTERN = 251 };

static int listener, server_cpu;
static unsigned rounds, wrong;
static uint64_t megabytes, received;
static struct sockaddr_in peer; /* as the server sees it */
static char pattern[PIECE + PATTERN];

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "across: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void bind_to_cpu(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fail("sched_setaffinity");
}

static void move(int s, int in)
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

static void turn(int s, int asks)
{
    move(s, !asks);
    move(s, asks);
}

/* Reads all that comes. Byte i is i modulo PATTERN. */
static void take(int s)
{
    static char got[PIECE];
    ssize_t n;

    while ((n = read(s, got, sizeof got)) > 0) {
        wrong += memcmp(got, pattern + received % PATTERN, (size_t)n) != 0;
        received += (uint64_t)n;
    }
    if (n)
        fail("read");
}

static void give(int s)
{
    for (uint64_t done = 0, all = megabytes << 20; done < all;) {
        size_t piece = all - done < PIECE ? all - done : PIECE;
        ssize_t n = write(s, pattern + done % PATTERN, piece);
        if (n <= 0)
            fail("write");
        done += (uint64_t)n;
    }
    shutdown(s, SHUT_WR);
}

static void *serve(void *arg)
{
    socklen_t bytes = sizeof peer;

    (void)arg;
    bind_to_cpu(server_cpu);
    int s = accept(listener, (struct sockaddr *)&peer, &bytes);
    if (s < 0)
        fail("accept");
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    for (unsigned i = 0; i < WARM + rounds; i++)
        turn(s, 0);
    take(s);
    move(s, 0); /* all has come */
    close(s);
    return NULL;
}

static struct sockaddr_in address(const char *ip)
{
    struct sockaddr_in a = {.sin_family = AF_INET};

    if (inet_pton(AF_INET, ip, &a.sin_addr) != 1) {
        fprintf(stderr, "across: %s: accepted is A.B.C.D\n", ip);
        exit(2);
    }
    return a;
}

/* Binds to `own`; before that, where `taken` is not NULL, to that address, which has a listener. */
static int make_socket(const struct sockaddr_in *own, const struct sockaddr_in *taken)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);

    if (taken && (!bind(s, (const struct sockaddr *)taken, sizeof *taken) || errno != EADDRINUSE))
        fail("an address that is taken");
    if (s < 0 || bind(s, (const struct sockaddr *)own, sizeof *own))
        fail("bind");
    return s;
}

int main(int argc, char **argv)
{
    socklen_t bytes = sizeof(struct sockaddr_in);
    pthread_t server;

    if (argc != 7 && argc != 8) {
        fprintf(stderr,
                "across SERVER_IP SERVER_CPU CLIENT_IP CLIENT_CPU ROUNDS MEGABYTES [taken]\n");
        return 2;
    }
    struct sockaddr_in at = address(argv[1]), own = address(argv[3]);
    server_cpu = atoi(argv[2]);
    rounds = (unsigned)atoi(argv[5]);
    megabytes = (uint64_t)atoi(argv[6]);
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (char)(i % PATTERN);
    listener = make_socket(&at, NULL);
    if (listen(listener, 1))
        fail("listen");
    getsockname(listener, (struct sockaddr *)&at, &bytes);
    pthread_create(&server, NULL, serve, NULL);
    bind_to_cpu(atoi(argv[4]));
    int s = make_socket(&own, argc == 8 ? &at : NULL);
    if (connect(s, (struct sockaddr *)&at, sizeof at))
        fail("connect");
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    for (unsigned i = 0; i < WARM; i++)
        turn(s, 1);
    uint64_t from = now();
    for (unsigned i = 0; i < rounds; i++)
        turn(s, 1);
    uint64_t asked = now() - from;
    from = now();
    give(s);
    move(s, 1);
    uint64_t gave = now() - from;
    pthread_join(server, NULL);
    printf("ACROSS rounds=%u cycles=%llu bytes=%llu wrong=%u transfer_cycles=%llu from=%s\n",
           rounds, (unsigned long long)(rounds ? asked / rounds : 0), (unsigned long long)received,
           wrong, (unsigned long long)gave, inet_ntoa(peer.sin_addr));
    return wrong || received != megabytes << 20;
}
