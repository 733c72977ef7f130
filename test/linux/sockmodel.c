/*
 * Random operations on sockets, each answer of which is compared with a plain model: which bytes
 * are where, which ends are shut, what poll and epoll must say. Streams, packets and datagrams of
 * AF_UNIX, streams and datagrams of AF_INET over loopback. Prints TAP; the same under Linux.
 *
 *   sockmodel [SEED [STEPS]]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "test/linux/model.h"

#define ENDS       16
#define MESSAGES   8     /* that may wait at an end */
#define BYTES_MAX  30000 /* that may wait at an end */
#define PART_MAX   4000  /* of an operation */
#define PENDING    4     /* connections that may wait */
#define PATIENCE   3000  /* milliseconds for what was sent to arrive */
#define RECEIVE    1u
#define SEND       2u
#define BOTH       3u
#define IN         (POLLIN | POLLRDNORM)
#define OUT        (POLLOUT | POLLWRNORM)
#define ALL_EVENTS (IN | OUT | POLLRDHUP)
#define ANY        (ALL_EVENTS | POLLHUP | POLLERR)

enum kind { UNIX_STREAM, UNIX_PACKET, UNIX_DATAGRAM, TCP, UDP, KINDS };
static const char *const names[KINDS] = {"AF_UNIX streams", "AF_UNIX packets", "AF_UNIX datagrams",
                                         "TCP", "UDP"};

enum mode { NOT_WATCHED, BY_LEVEL, BY_EDGE, ONCE, ONCE_OVER };

struct end {
    bool used;
    enum kind kind;
    int fd;                  /* -1: it waits to be accepted */
    struct end *peer;        /* NULL: it is closed */
    unsigned id, shut;       /* own directions that have ended, as poll sees them */
    bool end_sent, end_come; /* of TCP: FINs, or a reset */
    bool finished;           /* ... a FIN has come */
    bool ignores;            /* ... and it does not receive by its own will */
    bool lost;               /* of datagrams: the peer was found closed */
    int error;               /* pending */
    uint64_t put, taken;     /* bytes that have come, and that were read */
    unsigned length[MESSAGES], messages;
    enum mode mode;
    uint32_t wants;
    uint32_t must; /* of BY_EDGE: events that are due */
    bool may;      /* ... some are possible */
};

struct listener {
    int fd;
    struct end *waiting[PENDING];
    unsigned n;
};

static struct end ends[ENDS];
static struct listener listeners[KINDS]; /* of UNIX_STREAM, UNIX_PACKET, TCP */
static int epoll_fd;
static unsigned last_id;
static uint64_t operations[KINDS];

/* ---- Checks ---------------------------------------------------------------------------------- */

static void fail(const struct end *e, const char *what, long got, long wanted)
{
    printf("# step %u: %s; end %u of %s: %s is %ld (%#lx), the model says %ld (%#lx)\n", step,
           log_line, e ? e->id : 0, e ? names[e->kind] : "all", what, got, (unsigned long)got,
           wanted, (unsigned long)wanted);
    printf("not ok 1 - sockets do what the model says\n1..1\n");
    exit(1);
}

static void expect(const struct end *e, const char *what, long got, long wanted)
{
    if (got != wanted)
        fail(e, what, got, wanted);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- The model ------------------------------------------------------------------------------- */

static bool is_stream(const struct end *e)
{
    return e->kind == UNIX_STREAM || e->kind == TCP;
}

static bool is_joined(const struct end *e)
{
    return is_stream(e) || e->kind == UNIX_PACKET;
}

static uint64_t waiting_bytes(const struct end *e)
{
    return e->put - e->taken;
}

static char byte_at(const struct end *e, uint64_t at)
{
    return (char)(e->id * 131 + at * 7 + (at >> 8));
}

/* These events have happened: edges. */
static void edge(struct end *e, uint32_t events)
{
    if (e) {
        e->may = true;
        e->must |= events;
    }
}

static unsigned model_poll(const struct end *e)
{
    unsigned found = e->error ? POLLERR : 0;

    if (waiting_bytes(e) || e->messages)
        found |= IN;
    if (e->shut & RECEIVE && e->kind != UDP)
        found |= IN | POLLRDHUP;
    if (e->shut == BOTH)
        found |= POLLHUP;
    return found | OUT;
}

static long model_inq(const struct end *e)
{
    if (e->kind == UNIX_DATAGRAM || e->kind == UDP)
        return e->messages ? e->length[0] : 0;
    return (long)waiting_bytes(e);
}

static long take_error(struct end *e)
{
    int error = e->error;

    e->error = 0;
    return -error;
}

/* A reset comes. */
static void model_reset(struct end *e)
{
    if (e->end_sent && e->end_come)
        return;
    e->error = e->end_come && !e->end_sent ? EPIPE : ECONNRESET;
    e->shut = BOTH;
    e->end_sent = e->end_come = true;
    edge(e, ANY);
}

/* Returns what keeps n bytes from being sent, 0 for nothing. */
static long model_send_error(struct end *e)
{
    if (e->error && e->kind != UNIX_STREAM)
        return take_error(e);
    if (e->shut & SEND)
        return -EPIPE;
    if (e->kind == UNIX_DATAGRAM && !e->peer) {
        bool lost = e->lost;
        e->lost = true;
        if (!lost) { /* nor is what it had sent received */
            e->messages = 0;
            e->taken = e->put;
        }
        return lost ? -ENOTCONN : -ECONNREFUSED;
    }
    if (e->kind == UNIX_DATAGRAM && e->peer->shut & RECEIVE)
        return -EPIPE;
    return 0;
}

/* n bytes are sent: they come to the peer, or are lost. */
static void model_sent(struct end *e, unsigned n)
{
    struct end *to = e->peer;

    if (!to && e->kind == TCP && n)
        model_reset(e);
    if (!to && e->kind == UDP)
        e->error = ECONNREFUSED;
    if (!to || (is_stream(e) && !n))
        return;
    to->put += n;
    if (!is_stream(to))
        to->length[to->messages++] = n;
    edge(to, IN);
}

static void model_shutdown(struct end *e, unsigned how)
{
    struct end *to = is_joined(e) ? e->peer : NULL;
    unsigned there = (how & SEND ? RECEIVE : 0) | (how & RECEIVE ? SEND : 0);

    bool again = e->end_sent;

    e->shut |= how;
    edge(e, ANY);
    if (e->kind == TCP && how & SEND)
        e->end_sent = true;
    e->ignores |= (how & RECEIVE) != 0;
    if (!to)
        return;
    if (e->kind == TCP)
        there &= RECEIVE;
    if (!there || again)
        return;
    if (e->kind == TCP)
        to->end_come = to->finished = true;
    to->shut |= there;
    if (to->end_sent && to->end_come)
        to->shut = BOTH;
    if (e->end_sent && e->end_come)
        e->shut = BOTH;
    edge(to, ANY);
}

static void model_close(struct end *e)
{
    struct end *to = e->peer;

    if (to)
        to->peer = NULL;
    if (to && e->kind == TCP && waiting_bytes(e)) {
        model_reset(to);
    } else if (to && e->kind == TCP && e->end_sent) {
        edge(to, 0);
    } else if (to && e->kind == TCP) {
        to->end_come = to->finished = true;
        to->shut |= RECEIVE;
        if (to->end_sent)
            to->shut = BOTH;
        edge(to, ANY);
    } else if (to && is_joined(e)) {
        to->shut = BOTH;
        if (waiting_bytes(e) || e->messages || e->fd < 0)
            to->error = ECONNRESET;
        edge(to, ANY);
    }
    *e = (struct end){0};
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* Waits until poll says what the model says of all ends; it may take a while to come true. */
static void look_at_polls(void)
{
    struct pollfd p[ENDS + KINDS];
    uint64_t until = now_ms() + PATIENCE;

    for (unsigned i = 0; i < ENDS; i++)
        p[i] = (struct pollfd){.fd = ends[i].used ? ends[i].fd : -1, .events = ALL_EVENTS};
    for (unsigned k = 0; k < KINDS; k++)
        p[ENDS + k] = (struct pollfd){.fd = listeners[k].fd, .events = ALL_EVENTS};
    for (bool right = false; !right;) {
        right = true;
        poll(p, ENDS + KINDS, 0);
        bool late = now_ms() > until;
        for (unsigned i = 0; i < ENDS; i++) {
            if (p[i].fd < 0 || (unsigned)p[i].revents == model_poll(&ends[i]))
                continue;
            right = false;
            if (late)
                fail(&ends[i], "poll", p[i].revents, model_poll(&ends[i]));
        }
        for (unsigned k = 0; k < KINDS; k++) {
            unsigned wanted = listeners[k].n ? IN : 0;
            if (p[ENDS + k].fd < 0 || (unsigned)p[ENDS + k].revents == wanted)
                continue;
            right = false;
            if (late)
                fail(NULL, "poll of a listener", p[ENDS + k].revents, wanted);
        }
    }
}

static void look_at_bytes(struct end *e)
{
    uint64_t until = now_ms() + PATIENCE;
    int n = -1;

    while (!ioctl(e->fd, FIONREAD, &n) && n != model_inq(e) && now_ms() < until)
        continue;
    expect(e, "FIONREAD", n, model_inq(e));
}

static uint32_t wanted_events(const struct end *e)
{
    return e->mode == NOT_WATCHED || e->mode == ONCE_OVER
               ? 0
               : model_poll(e) & (e->wants | EPOLLERR | EPOLLHUP);
}

/* Takes what epoll has. */
static void take_events(uint32_t *events)
{
    struct epoll_event got[ENDS];
    int n = epoll_wait(epoll_fd, got, ENDS, 0);

    for (int i = 0; i < n; i++) {
        struct end *e = got[i].data.ptr;
        expect(e, "events of epoll", got[i].events, wanted_events(e));
        if (e->mode == BY_EDGE && !e->may && e->kind != TCP) /* its packets are not our events */
            fail(e, "a second event of epoll", got[i].events, 0);
        events[e - ends] |= got[i].events;
        if (e->mode == ONCE)
            e->mode = ONCE_OVER;
    }
}

/* Returns one of which epoll should have told, or NULL. */
static struct end *find_silent(const uint32_t *events)
{
    for (unsigned i = 0; i < ENDS; i++) {
        struct end *e = &ends[i];
        uint32_t wanted = e->used ? wanted_events(e) : 0, heard = wanted | EPOLLERR | EPOLLHUP;
        if (wanted && !events[i] && (e->mode != BY_EDGE || e->must & heard))
            return e;
    }
    return NULL;
}

static void look_at_epoll(void)
{
    uint64_t until = now_ms() + PATIENCE;
    uint32_t events[ENDS] = {0};
    struct end *silent;

    take_events(events);
    while ((silent = find_silent(events)) && now_ms() < until)
        take_events(events);
    if (silent)
        fail(silent, "silence of epoll", 0, wanted_events(silent));
    for (unsigned i = 0; i < ENDS; i++) {
        ends[i].must = 0;
        ends[i].may = false;
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

static struct end *new_end(enum kind kind, int fd)
{
    for (unsigned i = 0; i < ENDS; i++)
        if (!ends[i].used) {
            ends[i] = (struct end){.used = true, .kind = kind, .fd = fd, .id = ++last_id};
            return &ends[i];
        }
    return NULL;
}

static unsigned free_ends(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ENDS; i++)
        n += !ends[i].used;
    return n;
}

static void join(struct end *a, struct end *b)
{
    a->peer = b;
    b->peer = a;
}

static struct sockaddr_in bound_udp(int *fd)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;

    *fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (bind(*fd, (void *)&a, n) || getsockname(*fd, (void *)&a, &n))
        fail(NULL, "bind", errno, 0);
    return a;
}

static void make_pair(enum kind kind)
{
    static const int types[KINDS] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
    int fd[2] = {-1, -1};

    if (kind == UDP) {
        struct sockaddr_in a = bound_udp(&fd[0]), b = bound_udp(&fd[1]);
        if (connect(fd[0], (void *)&b, sizeof b) || connect(fd[1], (void *)&a, sizeof a))
            fail(NULL, "connect", errno, 0);
    } else if (socketpair(AF_UNIX, types[kind] | SOCK_NONBLOCK, 0, fd)) {
        fail(NULL, "socketpair", errno, 0);
    }
    struct end *a = new_end(kind, fd[0]), *b = new_end(kind, fd[1]);
    join(a, b);
    note("ends %u and %u are a pair of %s", a->id, b->id, names[kind]);
}

static void make_listener(enum kind kind)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(kind == TCP ? AF_INET : AF_UNIX,
                    (kind == UNIX_PACKET ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_NONBLOCK, 0);

    if (bind(fd, kind == TCP ? (void *)&in : (void *)&un, kind == TCP ? sizeof in : 2) ||
        listen(fd, 2 * PENDING))
        fail(NULL, "listen", errno, 0);
    listeners[kind].fd = fd;
}

/* Nothing that is sent waits for what was sent before. */
static void send_at_once(enum kind kind, int fd)
{
    const int one = 1;

    if (kind == TCP)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void connect_to(enum kind kind)
{
    struct listener *l = &listeners[kind];
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    int type = kind == UNIX_PACKET ? SOCK_SEQPACKET : SOCK_STREAM;
    int fd = socket(kind == TCP ? AF_INET : AF_UNIX, type | SOCK_NONBLOCK, 0);

    send_at_once(kind, fd);
    getsockname(l->fd, (void *)&a, &n);
    long result = result_of(connect(fd, (void *)&a, n));
    struct end *e = new_end(kind, fd), *other = new_end(kind, -1);
    note("end %u connects to a listener of %s, and will be joined to %u", e->id, names[kind],
         other->id);
    if (kind != TCP || result != -EINPROGRESS)
        expect(e, "connect", result, 0);
    join(e, other);
    l->waiting[l->n++] = other;
}

static void accept_from(enum kind kind)
{
    struct listener *l = &listeners[kind];
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK);

    note("end %u is accepted", l->n ? l->waiting[0]->id : 0);
    if (!l->n) {
        expect(NULL, "accept without a connection", result_of(fd), -EAGAIN);
        return;
    }
    if (fd < 0)
        fail(l->waiting[0], "accept", -errno, 0);
    send_at_once(kind, fd);
    l->waiting[0]->fd = fd;
    l->n--;
    memmove(l->waiting, l->waiting + 1, l->n * sizeof l->waiting[0]);
}

/* Divides n bytes into parts. */
static unsigned divide(struct iovec *parts, char *data, unsigned n)
{
    unsigned count = 1 + (unsigned)below(4), at = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned here = i + 1 == count ? n - at : (unsigned)below(n - at + 1);
        parts[i] = (struct iovec){data + at, here};
        at += here;
    }
    return count;
}

static void send_some(struct end *e)
{
    static char data[PART_MAX];
    unsigned n = (unsigned)below(below(4) ? 300 : PART_MAX), flags = MSG_NOSIGNAL;
    struct end *to = e->peer;
    struct iovec parts[4];
    struct msghdr m = {.msg_iov = parts};
    uint64_t at = to ? to->put : 0;

    if (to && (to->messages == MESSAGES || waiting_bytes(to) + n > BYTES_MAX))
        return;
    if (to && to->kind == TCP && to->end_sent && to->ignores) /* Linux resets both */
        return;
    for (unsigned i = 0; i < n; i++)
        data[i] = to ? byte_at(to, at + i) : 'x';
    m.msg_iovlen = divide(parts, data, n);
    note("end %u sends %u bytes", e->id, n);
    long wanted = n;
    if (n || !is_stream(e) || e->kind == UNIX_STREAM)
        wanted = model_send_error(e);
    else
        n = 1, parts[0] = (struct iovec){data, 1}, m.msg_iovlen = 1,
        data[0] = byte_at(to ? to : e, at), wanted = model_send_error(e);
    if (!wanted) {
        wanted = n;
        model_sent(e, n);
    }
    long got = result_of(below(2)            ? sendmsg(e->fd, &m, (int)flags)
                         : m.msg_iovlen == 1 ? send(e->fd, parts[0].iov_base, n, (int)flags)
                                             : sendmsg(e->fd, &m, (int)flags));
    expect(e, "send", got, wanted);
}

/* What a read of n bytes should result in; *bytes: those that are given. */
static long model_receive(struct end *e, unsigned n, unsigned *bytes, bool *whole)
{
    uint64_t there = is_stream(e) ? waiting_bytes(e) : e->messages ? e->length[0] : 0;
    bool error_first = !is_stream(e);

    *bytes = 0;
    *whole = true;
    if (e->finished && !there)
        return 0;
    if (e->error && (error_first || !(there || e->messages)))
        return take_error(e);
    if (!there && !e->messages)
        return e->shut & RECEIVE && is_joined(e) ? 0 : -EAGAIN;
    *bytes = (unsigned)(n < there ? n : there);
    *whole = is_stream(e) || n >= there;
    return *bytes;
}

static void model_taken(struct end *e, unsigned bytes)
{
    bool full = true;

    if (is_stream(e)) {
        e->taken += bytes;
    } else if (e->messages && full) {
        e->taken += e->length[0];
        e->messages--;
        memmove(e->length, e->length + 1, e->messages * sizeof e->length[0]);
    }
}

static void receive_some(struct end *e)
{
    static char data[PART_MAX];
    unsigned n = 1 + (unsigned)below(below(3) ? 300 : PART_MAX - 1), bytes;
    struct iovec parts[4];
    struct msghdr m = {.msg_iov = parts};
    bool peeks = !below(4), all = !below(4), whole;

    look_at_bytes(e);
    memset(data, 0, sizeof data);
    m.msg_iovlen = divide(parts, data, n);
    note("end %u %s %u bytes", e->id, peeks ? "looks at" : "receives", n);
    bool had = e->messages;
    long wanted = model_receive(e, n, &bytes, &whole);
    long got = result_of(
        recvmsg(e->fd, &m, (peeks ? MSG_PEEK : 0) | (all ? MSG_WAITALL : 0) | MSG_DONTWAIT));
    expect(e, "receive", got, wanted);
    if (got >= 0)
        expect(e, "MSG_TRUNC", m.msg_flags & MSG_TRUNC, whole ? 0 : MSG_TRUNC);
    for (unsigned i = 0; i < bytes; i++)
        expect(e, "a byte", data[i], byte_at(e, e->taken + i));
    if (e->kind == UNIX_STREAM && all && !peeks && wanted > 0 && bytes < n)
        e->error = 0; /* Linux takes it, and tells of the bytes */
    if (!peeks && wanted >= 0 && (is_stream(e) || had))
        model_taken(e, bytes);
}

static void shut_down(struct end *e)
{
    static const unsigned hows[] = {RECEIVE, SEND, BOTH};
    int how = (int)below(3);

    if (e->kind == UDP || e->kind == UNIX_DATAGRAM || (e->end_sent && e->end_come))
        return;
    look_at_bytes(e);
    note("end %u is shut down: %d", e->id, how);
    model_shutdown(e, hows[how]);
    expect(e, "shutdown", result_of(shutdown(e->fd, how)), 0);
}

static void close_end(struct end *e)
{
    look_at_bytes(e);
    note("end %u is closed", e->id);
    int fd = e->fd;
    model_close(e);
    close(fd);
}

static void read_error(struct end *e)
{
    int error = -1;
    socklen_t n = sizeof error;

    note("end %u tells its error", e->id);
    long wanted = -take_error(e);
    getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error, &n);
    expect(e, "SO_ERROR", error, wanted);
}

static void watch(struct end *e)
{
    static const uint32_t modes[] = {[BY_LEVEL] = 0, [BY_EDGE] = EPOLLET, [ONCE] = EPOLLONESHOT};
    struct epoll_event event = {.data.ptr = e};
    enum mode mode = (enum mode)below(4);
    int op = mode == NOT_WATCHED      ? EPOLL_CTL_DEL
             : e->mode == NOT_WATCHED ? EPOLL_CTL_ADD
                                      : EPOLL_CTL_MOD;

    note("end %u is watched: %d", e->id, (int)mode);
    e->wants = (uint32_t)(below(2) ? EPOLLIN : 0) | (below(2) ? EPOLLOUT : 0) |
               (below(2) ? EPOLLRDHUP : 0);
    event.events = e->wants | (mode == NOT_WATCHED ? 0 : modes[mode]);
    long wanted = e->mode == NOT_WATCHED && mode == NOT_WATCHED ? -ENOENT : 0;
    e->mode = mode;
    expect(e, "epoll_ctl", result_of(epoll_ctl(epoll_fd, op, e->fd, &event)), wanted);
    edge(e, ANY);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static struct end *any_end(void)
{
    for (unsigned tries = 0; tries < 100; tries++) {
        struct end *e = &ends[below(ENDS)];
        if (e->used && e->fd >= 0)
            return e;
    }
    return NULL;
}

static void make_ends(void)
{
    enum kind kind = (enum kind)below(KINDS);
    struct listener *l = &listeners[kind];

    if (free_ends() < 2)
        return;
    if (l->fd < 0 || (kind != TCP && below(2)))
        make_pair(kind);
    else if (l->n < PENDING)
        connect_to(kind);
}

static void do_step(void)
{
    static void (*const of_end[])(struct end * e) = {
        send_some, send_some,    send_some,     send_some, receive_some, receive_some, receive_some,
        watch,     receive_some, look_at_bytes, shut_down, close_end,    read_error,   watch,
    };
    uint64_t what = below(18);
    struct end *e = any_end();

    if (what < sizeof of_end / sizeof of_end[0]) {
        if (e) {
            operations[e->kind]++;
            edge(e, 0);
            edge(e->peer, 0);
            of_end[what](e);
        }
    } else if (what < 16) {
        make_ends();
    } else {
        enum kind kind = (enum kind)below(KINDS);
        if (listeners[kind].fd >= 0)
            accept_from(kind);
    }
    look_at_polls();
    look_at_epoll();
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 20000;

    setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
    seed = first;
    epoll_fd = epoll_create1(0);
    for (unsigned k = 0; k < KINDS; k++)
        listeners[k].fd = -1;
    make_listener(UNIX_STREAM);
    make_listener(UNIX_PACKET);
    make_listener(TCP);
    for (step = 0; step < steps; step++)
        do_step();
    for (unsigned k = 0; k < KINDS; k++)
        printf("# %s: %llu operations\n", names[k], (unsigned long long)operations[k]);
    printf("ok 1 - sockets do what the model says\n1..1\n");
    return 0;
}
