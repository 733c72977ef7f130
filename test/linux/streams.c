/*
 * Random transfers over connections of TCP's loopback, both ways at once, with random ends:
 *
 *   streams [CONNECTIONS [SEED]]
 *
 * Each end writes and reads parts of random sizes, or looks at them first, and then ends politely
 * (it says that it sends no more, and reads to the end), or rudely: it closes at a random moment,
 * with or without a reset. What arrives is checked byte by byte. Prints TAP; the same under Linux.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TURNS = 6, PART_MAX = 40000, TOTAL_MAX = 300000, HANGS_MS = 30000, LEAK_KB = 400 };

static struct sockaddr_in at;
static int listener;
static unsigned connections, seed;
static atomic_uint next_connection, wrong_bytes, wrong_ends, hanging, both_polite, whole;
static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;

struct end {
    int s;
    unsigned from, to;          /* patterns of what it receives and sends */
    uint32_t state;             /* of its random numbers */
    size_t received, sent, all; /* bytes; it wants to send `all` */
    uint32_t part_max;          /* bytes */
    size_t leaves_at;           /* received and sent; SIZE_MAX: it is polite */
    bool resets, shut, over, other_polite;
    bool saw_end; /* and no error before it */
};

static uint32_t draw(struct end *e, uint32_t n)
{
    e->state ^= e->state << 13;
    e->state ^= e->state >> 17;
    e->state ^= e->state << 5;
    return e->state % n;
}

static uint8_t byte_at(unsigned pattern, size_t i)
{
    return (uint8_t)(i * 31 + (i >> 8) * 7 + pattern * 131);
}

static uint32_t size_of_part(struct end *e)
{
    return 1 + draw(e, e->part_max);
}

/* ---- Steps of an end ------------------------------------------------------------------------- */

static void check_bytes(const struct end *e, const uint8_t *got, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != byte_at(e->from, e->received + i)) {
            atomic_fetch_add(&wrong_bytes, 1);
            return;
        }
}

static bool is_gone(int error)
{
    return error == ECONNRESET || error == EPIPE;
}

/* The connection is broken, as `what` found. */
static void breaks(struct end *e, const char *what)
{
    if (!is_gone(errno) || e->other_polite) {
        printf("# %s: %s\n", what, strerror(errno));
        atomic_fetch_add(&wrong_ends, 1);
    }
    e->over = true;
}

static void receive_part(struct end *e, uint8_t *b)
{
    size_t n = size_of_part(e);

    if (!draw(e, 4)) {
        ssize_t seen = recv(e->s, b, n, MSG_PEEK);
        if (seen > 0)
            check_bytes(e, b, (size_t)seen);
    }
    ssize_t got = recv(e->s, b, n, 0);
    if (got > 0) {
        check_bytes(e, b, (size_t)got);
        e->received += (size_t)got;
    } else if (!got) {
        e->saw_end = true;
    } else if (errno != EAGAIN) {
        breaks(e, "recv");
    }
}

static void send_part(struct end *e, uint8_t *b)
{
    size_t n = size_of_part(e);

    if (n > e->all - e->sent)
        n = e->all - e->sent;
    for (size_t i = 0; i < n; i++)
        b[i] = byte_at(e->to, e->sent + i);
    ssize_t sent = send(e->s, b, n, MSG_NOSIGNAL);
    if (sent >= 0)
        e->sent += (size_t)sent;
    else if (errno != EAGAIN)
        breaks(e, "send");
}

static void step(struct end *e, uint8_t *b)
{
    bool sends = e->sent < e->all;
    struct pollfd p = {e->s, (short)((e->saw_end ? 0 : POLLIN) | (sends ? POLLOUT : 0)), 0};
    int ready = poll(&p, 1, HANGS_MS);

    if (ready <= 0) {
        printf("# poll: %d: received %zu, sent %zu of %zu\n", ready, e->received, e->sent, e->all);
        atomic_fetch_add(&hanging, 1);
        e->over = true;
        return;
    }
    if (!e->saw_end && p.revents & (POLLIN | POLLERR | POLLHUP))
        receive_part(e, b);
    if (!e->over && sends && p.revents & (POLLOUT | POLLERR | POLLHUP))
        send_part(e, b);
}

/* Talks until the end is over. */
static void talk(struct end *e)
{
    uint8_t *b = malloc(PART_MAX);

    while (!e->over && e->received + e->sent < e->leaves_at) {
        if (e->sent == e->all && !e->shut) {
            shutdown(e->s, SHUT_WR);
            e->shut = true;
        }
        if (e->shut && e->saw_end)
            break;
        step(e, b);
    }
    if (e->resets && e->leaves_at != SIZE_MAX)
        setsockopt(e->s, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
    close(e->s);
    free(b);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void prepare(struct end *e, unsigned number, bool connects)
{
    e->state = (seed + number) * 2654435761u + connects + 1;
    e->from = 2 * number + connects;
    e->to = 2 * number + !connects;
    draw(e, 2);
    const struct {
        uint32_t part, all;
    } sizes[] = {{32, 4000}, {600, 30000}, {PART_MAX, TOTAL_MAX}};
    unsigned size = draw(e, 3);
    e->part_max = sizes[size].part;
    e->all = draw(e, sizes[size].all);
    e->leaves_at = draw(e, 3) ? SIZE_MAX : draw(e, (uint32_t)(2 * e->all + 1));
    e->resets = draw(e, 2);
    if (!draw(e, 3))
        setsockopt(e->s, SOL_SOCKET, SO_SNDBUF, &(int){(int)draw(e, 20000)}, sizeof(int));
    fcntl(e->s, F_SETFL, O_NONBLOCK);
}

static void *accepted_end(void *arg)
{
    talk(arg);
    return NULL;
}

/* Makes the two ends of a connection. */
static bool meet(int s[2])
{
    pthread_mutex_lock(&meeting);
    s[0] = socket(AF_INET, SOCK_STREAM, 0);
    bool met = !connect(s[0], (struct sockaddr *)&at, sizeof at);
    s[1] = met ? accept(listener, NULL, NULL) : -1;
    pthread_mutex_unlock(&meeting);
    return met && s[1] >= 0;
}

static void run(unsigned number)
{
    struct end a = {0}, b = {0};
    pthread_t other;
    int s[2];

    if (!meet(s)) {
        printf("# connect or accept: %s\n", strerror(errno));
        atomic_fetch_add(&wrong_ends, 1);
        return;
    }
    a.s = s[0];
    b.s = s[1];
    prepare(&a, number, true);
    prepare(&b, number, false);
    a.other_polite = b.leaves_at == SIZE_MAX;
    b.other_polite = a.leaves_at == SIZE_MAX;
    pthread_create(&other, NULL, accepted_end, &b);
    talk(&a);
    pthread_join(other, NULL);
    if (a.leaves_at != SIZE_MAX || b.leaves_at != SIZE_MAX)
        return;
    bool right = a.received == b.all && b.received == a.all && a.saw_end && b.saw_end;
    atomic_fetch_add(&both_polite, 1);
    atomic_fetch_add(&whole, right);
    if (!right)
        printf("# %u: %zu and %zu sent of %zu and %zu, %zu and %zu received\n", number, a.sent,
               b.sent, a.all, b.all, b.received, a.received);
}

static void *work(void *arg)
{
    for (unsigned i; (i = atomic_fetch_add(&next_connection, 1)) < connections;)
        run(i);
    return arg;
}

static void run_all(void)
{
    pthread_t workers[TURNS];

    next_connection = 0;
    for (int i = 0; i < TURNS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < TURNS; i++)
        pthread_join(workers[i], NULL);
    seed += connections;
}

static long free_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemFree: %ld kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

int main(int argc, char **argv)
{
    socklen_t bytes = sizeof at;

    connections = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
    seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&at, bytes) || listen(listener, 64))
        return 2;
    getsockname(listener, (struct sockaddr *)&at, &bytes);
    run_all();
    long before = free_kb();
    run_all();
    long used = before - free_kb();
    printf("# %u connections twice, %u of them polite; %ld KB less\n", connections, both_polite,
           used);
    check(!wrong_bytes, "every byte is what was sent");
    check(both_polite && whole == both_polite, "all that two polite ends sent has arrived");
    check(!wrong_ends, "rude ends are an end or a reset to the other");
    check(!hanging, "no end waits for ever");
    check(used < LEAK_KB, "memory is free again");
    printf("1..%u\n", count);
    return failed != 0;
}
