/*
 * Sockets of AF_INET over loopback, as a program of Linux's has them: streams, datagrams, waiting,
 * options, errors. Prints TAP; the same under Linux.
 *
 *   inet [fused]        connections do without packets (net.fusion)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

/* Checks the result of a call, and errno if that is not 0. */
static void gives(long result, long wanted, int error, const char *what)
{
    int now = errno;
    bool right = result == wanted && (!error || now == error);

    if (!right)
        printf("# %ld, %s\n", result, result < 0 ? strerror(now) : "no error");
    check(right, what);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct sockaddr_in loopback(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int bind_to(int s, struct sockaddr_in a)
{
    return bind(s, (struct sockaddr *)&a, sizeof(a));
}

static int connect_to(int s, struct sockaddr_in a)
{
    return connect(s, (struct sockaddr *)&a, sizeof(a));
}

static struct sockaddr_in name_of(int s)
{
    struct sockaddr_in a = {0};
    socklen_t n = sizeof(a);

    getsockname(s, (struct sockaddr *)&a, &n);
    return a;
}

static int listener(int backlog)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);

    bind_to(s, loopback(0));
    listen(s, backlog);
    return s;
}

/* Makes a connection: s[0] connected, s[1] was accepted. */
static void make_pair(int s[2])
{
    int l = listener(1);

    s[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect_to(s[0], name_of(l));
    s[1] = accept(l, NULL, NULL);
    close(l);
}

static void close_pair(const int s[2])
{
    close(s[0]);
    close(s[1]);
}

static unsigned polled(int s, int wanted, int ms)
{
    struct pollfd p = {.fd = s, .events = (short)wanted};

    return poll(&p, 1, ms) < 0 ? ~0u : (unsigned)p.revents;
}

static int option(int s, int level, int name)
{
    int value = -1;
    socklen_t n = sizeof(value);

    return getsockopt(s, level, name, &value, &n) ? -errno : value;
}

/* ---- Making and names ------------------------------------------------------------------------ */

static void test_making(void)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);

    check(s >= 0, "a socket");
    gives(option(s, SOL_SOCKET, SO_TYPE), SOCK_STREAM, 0, "... of its type");
    gives(option(s, SOL_SOCKET, SO_DOMAIN), AF_INET, 0, "... its domain");
    gives(option(s, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP, 0, "... and its protocol");
    close(s);
    gives(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP), -1, EPROTONOSUPPORT, "no stream over UDP");
    gives(socket(AF_INET, SOCK_SEQPACKET, 0), -1, ESOCKTNOSUPPORT, "no packets in sequence");
    s = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
    check(s >= 0 && fcntl(s, F_GETFL) == (O_RDWR | O_NONBLOCK) && fcntl(s, F_GETFD) == FD_CLOEXEC,
          "a socket with flags");
    close(s);
}

static void test_names(void)
{
    struct sockaddr_in a = loopback(0),
                       other = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("192.0.2.77")};
    int s = socket(AF_INET, SOCK_STREAM, 0), t = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = name_of(s);
    socklen_t n = sizeof(name);

    check(name.sin_family == AF_INET && !name.sin_port && !name.sin_addr.s_addr,
          "no name at first");
    gives(getpeername(s, (struct sockaddr *)&name, &n), -1, ENOTCONN, "no other end");
    gives(bind(s, (struct sockaddr *)&a, 4), -1, EINVAL, "an address that is too short");
    a.sin_family = AF_UNIX;
    gives(bind_to(s, a), -1, EAFNOSUPPORT, "an address of another family");
    gives(bind_to(s, other), -1, EADDRNOTAVAIL, "an address of another host");
    gives(bind_to(s, loopback(0)), 0, 0, "any port");
    name = name_of(s);
    check(name.sin_port && name.sin_addr.s_addr == htonl(INADDR_LOOPBACK), "... has a name");
    gives(bind_to(s, loopback(0)), -1, EINVAL, "... bound once only");
    gives(bind_to(t, name), -1, EADDRINUSE, "a port that is in use");
    close(s);
    gives(bind_to(t, name), 0, 0, "... and is not any more");
    close(t);
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static void test_connecting(void)
{
    int l = listener(4), s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = name_of(l), from, peer;
    socklen_t n = sizeof(from);

    gives(option(l, SOL_SOCKET, SO_ACCEPTCONN), 1, 0, "a socket that listens");
    gives(polled(l, POLLIN, 0), 0, 0, "... has no connection yet");
    gives(connect_to(s, at), 0, 0, "connects");
    gives(connect_to(s, at), -1, EISCONN, "... once only");
    gives(polled(l, POLLIN, 1000), POLLIN, 0, "... which poll tells the listener");
    int c = accept4(l, (struct sockaddr *)&from, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);
    check(c >= 0 && fcntl(c, F_GETFL) == (O_RDWR | O_NONBLOCK), "accepts, with flags");
    check(n == sizeof(from) && from.sin_port == name_of(s).sin_port, "... from the other's port");
    n = sizeof(peer);
    gives(getpeername(s, (struct sockaddr *)&peer, &n), 0, 0, "the other end");
    check(peer.sin_port == at.sin_port && name_of(c).sin_port == at.sin_port, "... has the port");
    char b;
    gives(read(c, &b, 1), -1, EAGAIN, "nothing to read");
    close(c);
    gives(read(s, &b, 1), 0, 0, "the end");
    close(s);
    close(l);
    s = socket(AF_INET, SOCK_STREAM, 0);
    gives(connect_to(s, at), -1, ECONNREFUSED, "none listens");
    close(s);
    s = socket(AF_INET, SOCK_STREAM, 0);
    gives(read(s, &b, 1), -1, ENOTCONN, "reads without a connection");
    gives(send(s, "x", 1, MSG_NOSIGNAL), -1, EPIPE, "sends without a connection");
    gives(shutdown(s, SHUT_WR), -1, ENOTCONN, "shuts without a connection");
    gives(accept(s, NULL, NULL), -1, EINVAL, "accepts without listening");
    gives((long)polled(s, POLLIN | POLLOUT, 0), POLLOUT | POLLHUP, 0, "poll of a new socket");
    close(s);
}

static void test_no_waiting(void)
{
    int l = listener(4), s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in at = name_of(l);
    int result = connect_to(s, at);

    check(!result || errno == EINPROGRESS, "connects without waiting");
    gives(polled(s, POLLOUT, 1000), POLLOUT, 0, "... which poll tells");
    gives(option(s, SOL_SOCKET, SO_ERROR), 0, 0, "... has no error");
    close(s);
    close(l);
    s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    result = connect_to(s, at);
    check(result < 0 && (errno == EINPROGRESS || errno == ECONNREFUSED), "to where none listens");
    if (errno == EINPROGRESS) {
        check(polled(s, POLLOUT, 1000) & POLLERR, "... poll tells the error");
        gives(option(s, SOL_SOCKET, SO_ERROR), ECONNREFUSED, 0, "... SO_ERROR says which");
    } else {
        check(true, "... was told at once");
        check(true, "... which it was");
    }
    gives(option(s, SOL_SOCKET, SO_ERROR), 0, 0, "... once");
    close(s);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static void test_streams(void)
{
    char buffer[64] = "";
    struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
    int s[2], n = 0;

    make_pair(s);
    gives(writev(s[0], parts, 2), 5, 0, "sends parts");
    gives(polled(s[1], POLLIN, 1000), POLLIN, 0, "... which poll tells");
    gives(recv(s[1], buffer, 2, MSG_PEEK), 2, 0, "looks");
    gives(ioctl(s[1], FIONREAD, &n), 0, 0, "FIONREAD");
    gives(n, 5, 0, "... says how much there is");
    gives(recv(s[1], buffer, sizeof(buffer), MSG_PEEK), 5, 0, "looks at all");
    gives(read(s[1], buffer, 3), 3, 0, "reads a part");
    check(!memcmp(buffer, "abc", 3), "... which is right");
    gives(recv(s[1], buffer, sizeof(buffer), MSG_DONTWAIT), 2, 0, "reads the rest");
    gives(recv(s[1], buffer, sizeof(buffer), MSG_DONTWAIT), -1, EAGAIN, "no more");
    gives(send(s[0], "x", 1, MSG_OOB) < 0 || true, 1, 0, "urgent data is refused or sent");
    recv(s[1], buffer, sizeof(buffer), MSG_DONTWAIT);
    gives(read(s[1], NULL, 0), 0, 0, "reads nothing");
    write(s[0], "12345", 5);
    gives(readv(s[1], &(struct iovec){(void *)8, 5}, 1), -1, EFAULT, "reads to a bad address");
    close_pair(s);
}

static void test_shutting(void)
{
    char buffer[8];
    int s[2];

    signal(SIGPIPE, SIG_IGN);
    make_pair(s);
    write(s[0], "last", 4);
    gives(shutdown(s[0], 3), -1, EINVAL, "shuts an unknown direction");
    gives(shutdown(s[0], SHUT_WR), 0, 0, "shuts sending");
    gives(write(s[0], "x", 1), -1, EPIPE, "... and sends no more");
    gives(read(s[1], buffer, 8), 4, 0, "what was sent arrives");
    gives(read(s[1], buffer, 8), 0, 0, "... and then the end");
    check(polled(s[1], POLLIN | POLLRDHUP, 1000) == (POLLIN | POLLRDHUP), "poll tells the end");
    gives(write(s[1], "back", 4), 4, 0, "the other direction is open");
    gives(read(s[0], buffer, 8), 4, 0, "... and arrives");
    close(s[1]);
    gives(read(s[0], buffer, 8), 0, 0, "both have ended");
    close(s[0]);
    make_pair(s);
    gives(shutdown(s[0], SHUT_RD), 0, 0, "shuts receiving");
    gives(read(s[0], buffer, 8), 0, 0, "... and reads the end");
    close_pair(s);
    make_pair(s);
    write(s[0], "unread", 6);
    polled(s[1], POLLIN, 1000);
    close(s[1]);
    for (int i = 0; i < 100 && !(polled(s[0], POLLIN, 10) & POLLERR); i++)
        continue;
    gives(read(s[0], buffer, 8), -1, ECONNRESET, "data that is not read resets");
    gives(read(s[0], buffer, 8), 0, 0, "... which is said once");
    close(s[0]);
    make_pair(s);
    struct linger now = {1, 0};
    gives(setsockopt(s[1], SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0, 0, "lingers for 0 s");
    close(s[1]);
    polled(s[0], POLLIN, 1000);
    gives(read(s[0], buffer, 8), -1, ECONNRESET, "... resets");
    gives(send(s[0], "x", 1, MSG_NOSIGNAL), -1, EPIPE, "... sends no more");
    close(s[0]);
}

#define LARGE (3 << 20)

static uint8_t byte_at(size_t i)
{
    return (uint8_t)((uint32_t)i * 2654435761u >> 24);
}

static void *write_large(void *arg)
{
    static uint8_t data[LARGE];

    for (unsigned i = 0; i < LARGE; i++)
        data[i] = byte_at(i);
    for (size_t done = 0; done < LARGE;) {
        ssize_t n = write(*(int *)arg, data + done, LARGE - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    shutdown(*(int *)arg, SHUT_WR);
    return NULL;
}

static void test_large(void)
{
    static uint8_t got[65536];
    int s[2];
    size_t done = 0;
    bool right = true;
    pthread_t t;

    make_pair(s);
    pthread_create(&t, NULL, write_large, &s[0]);
    for (ssize_t n; (n = read(s[1], got, 1 + done % sizeof(got))) > 0; done += (size_t)n)
        for (ssize_t i = 0; i < n; i++)
            right &= got[i] == byte_at(done + (size_t)i);
    check(right && done == LARGE, "3 MB from thread to thread, in order, up to the end");
    pthread_join(t, NULL);
    close_pair(s);
}

/* Closes while much is on its way. */
static void test_close_behind(void)
{
    static uint8_t got[4096];
    size_t done = 0, sent = 0;
    bool right = true;
    int s[2];

    make_pair(s);
    fcntl(s[0], F_SETFL, O_NONBLOCK);
    do { /* what another CPU still delivers makes room */
        uint8_t data[1000];
        ssize_t n = 1;
        for (; n > 0; sent += n > 0 ? (size_t)n : 0) {
            for (size_t i = 0; i < sizeof(data); i++)
                data[i] = byte_at(sent + i);
            n = write(s[0], data, sizeof(data));
        }
    } while (errno == EAGAIN && polled(s[0], POLLOUT, 200));
    check(errno == EAGAIN && sent > 65536, "sends until there is no room");
    gives((long)polled(s[0], POLLOUT, 0), 0, 0, "... which poll tells");
    close(s[0]);
    for (ssize_t n; (n = read(s[1], got, sizeof(got))) > 0; done += (size_t)n)
        for (ssize_t i = 0; i < n; i++)
            right &= got[i] == byte_at(done + (size_t)i);
    check(right && done == sent, "what was sent before the close arrives");
    close(s[1]);
}

static void test_wait_all(void)
{
    char buffer[8];
    int s[2];

    make_pair(s);
    struct timeval soon = {0, 50000}, read_back;
    socklen_t n = sizeof(read_back);
    gives(setsockopt(s[1], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon)), 0, 0, "SO_RCVTIMEO");
    getsockopt(s[1], SOL_SOCKET, SO_RCVTIMEO, &read_back, &n);
    check(read_back.tv_usec >= 50000 && read_back.tv_usec < 60000, "... as it was set");
    uint64_t begin = now_ms();
    gives(read(s[1], buffer, 8), -1, EAGAIN, "waits");
    check(now_ms() - begin >= 49, "... as long as it was told to");
    write(s[0], "1234", 4);
    gives(recv(s[1], buffer, 8, MSG_WAITALL), 4, 0, "waits for all, up to the time");
    write(s[0], "12345678", 8);
    gives(recv(s[1], buffer, 8, MSG_WAITALL), 8, 0, "gets all");
    close_pair(s);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool fused; /* what is sent has arrived at once: there is nothing for a close to wait for */
static volatile bool reads;

static void *read_late(void *arg)
{
    static char data[65536];

    usleep(200000);
    reads = true;
    while (read(*(int *)arg, data, sizeof(data)) > 0)
        continue;
    return NULL;
}

/* Sends until the other end takes no more. Returns the number of bytes. */
static int fill(int s)
{
    static char data[65536];
    int all = 0;
    ssize_t n;

    fcntl(s, F_SETFL, O_NONBLOCK);
    while ((n = write(s, data, sizeof(data))) > 0)
        all += (int)n;
    fcntl(s, F_SETFL, 0);
    return all;
}

static bool has_arrived(int s, int bytes)
{
    int n = 0;

    return !ioctl(s, FIONREAD, &n) && n == bytes;
}

static void test_lingering(void)
{
    struct linger wait = {1, 20};
    pthread_t reader;
    int s[2], other;

    make_pair(s);
    int bytes = fill(s[0]);
    setsockopt(s[0], SOL_SOCKET, SO_LINGER, &wait, sizeof(wait));
    pthread_create(&reader, NULL, read_late, &s[1]);
    gives(close(s[0]), 0, 0, "a close that lingers");
    check(reads || has_arrived(s[1], bytes), "... waits until its data has arrived");
    pthread_join(reader, NULL);
    close(s[1]);
    make_pair(s);
    bytes = fill(s[0]);
    wait.l_linger = 1;
    setsockopt(s[0], SOL_SOCKET, SO_LINGER, &wait, sizeof(wait));
    other = dup(s[0]);
    uint64_t before = now_ms();
    close(s[0]);
    check(now_ms() - before < 900, "... not while there is another descriptor");
    before = now_ms();
    gives(close(other), 0, 0, "... nor for ever");
    check(now_ms() - before >= 900 || has_arrived(s[1], bytes), "... but for its time");
    close(s[1]);
}

static void test_ended(void)
{
    struct sockaddr_in far = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a010203)};
    struct linger reset = {1, 0};
    char data[8];
    int s[2];

    make_pair(s);
    write(s[1], "abc", 3);
    setsockopt(s[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(s[1]);
    check(polled(s[0], POLLIN, 1000) & POLLERR, "a reset, behind data");
    gives(connect_to(s[0], far), -1, EISCONN, "... a socket connects once");
    gives(listen(s[0], 1), -1, EINVAL, "... and does not listen then");
    gives(recv(s[0], data, sizeof(data), 0), 3, 0, "... data is there still");
    gives(recv(s[0], data, sizeof(data), 0), -1, ECONNRESET, "... then the reset is told");
    gives(recv(s[0], data, sizeof(data), 0), 0, 0, "... once");
    close(s[0]);
}

static void test_epoll(void)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u32 = 7}, found;
    int s[2], poll_fd = epoll_create1(0);

    make_pair(s);
    gives(epoll_ctl(poll_fd, EPOLL_CTL_ADD, s[1], &e), 0, 0, "epoll, at edges");
    gives(epoll_wait(poll_fd, &found, 1, 0), 0, 0, "... nothing");
    write(s[0], "a", 1);
    gives(epoll_wait(poll_fd, &found, 1, 1000), 1, 0, "... data");
    check(found.events == EPOLLIN && found.data.u32 == 7, "... is told");
    gives(epoll_wait(poll_fd, &found, 1, 0), 0, 0, "... once");
    write(s[0], "b", 1);
    gives(epoll_wait(poll_fd, &found, 1, 1000), 1, 0, "... and more data again");
    shutdown(s[0], SHUT_WR);
    gives(epoll_wait(poll_fd, &found, 1, 1000), 1, 0, "... the end");
    check(found.events == (EPOLLIN | EPOLLRDHUP), "... is told");
    close_pair(s);
    close(poll_fd);
}

static void *close_later(void *arg)
{
    usleep(20000);
    shutdown(*(int *)arg, SHUT_RDWR);
    return NULL;
}

static void test_end_of_wait(void)
{
    char b;
    int s[2];
    pthread_t t;

    make_pair(s);
    pthread_create(&t, NULL, close_later, &s[0]);
    gives(read(s[0], &b, 1), 0, 0, "a shutdown ends a read that waits");
    pthread_join(t, NULL);
    close_pair(s);
    int l = listener(1);
    pthread_create(&t, NULL, close_later, &l);
    gives(accept(l, NULL, NULL), -1, EINVAL, "a shutdown ends an accept that waits");
    pthread_join(t, NULL);
    close(l);
}

/* ---- Options --------------------------------------------------------------------------------- */

static int set(int s, int level, int name, int value)
{
    return setsockopt(s, level, name, &value, sizeof(value));
}

static void test_options(void)
{
    static const struct {
        int level, name, value, got;
        const char *what;
    } numbers[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1, 1, "TCP_NODELAY"},
        {IPPROTO_TCP, TCP_KEEPIDLE, 100, 100, "TCP_KEEPIDLE"},
        {IPPROTO_TCP, TCP_KEEPINTVL, 10, 10, "TCP_KEEPINTVL"},
        {IPPROTO_TCP, TCP_KEEPCNT, 5, 5, "TCP_KEEPCNT"},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 5000, 5000, "TCP_USER_TIMEOUT"},
        {IPPROTO_IP, IP_TTL, 33, 33, "IP_TTL"},
        {IPPROTO_IP, IP_TOS, 0x10, 0x10, "IP_TOS"},
        {SOL_SOCKET, SO_KEEPALIVE, 1, 1, "SO_KEEPALIVE"},
        {SOL_SOCKET, SO_REUSEADDR, 1, 1, "SO_REUSEADDR"},
    };
    int s = socket(AF_INET, SOCK_STREAM, 0);

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        gives(set(s, numbers[i].level, numbers[i].name, numbers[i].value), 0, 0, numbers[i].what);
        gives(option(s, numbers[i].level, numbers[i].name), numbers[i].got, 0, "... as it was set");
    }
    gives(set(s, IPPROTO_TCP, TCP_KEEPIDLE, 0), -1, EINVAL, "TCP_KEEPIDLE of 0");
    gives(set(s, IPPROTO_TCP, 12345, 0), -1, ENOPROTOOPT, "an option that TCP lacks");
    gives(set(s, IPPROTO_IP, IP_TTL, 300), -1, EINVAL, "IP_TTL of 300");
    gives(option(s, IPPROTO_TCP, 12345), -ENOPROTOOPT, 0, "... nor has");
    struct tcp_info info;
    socklen_t n = sizeof(info);
    gives(getsockopt(s, IPPROTO_TCP, TCP_INFO, &info, &n), 0, 0, "TCP_INFO");
    gives(info.tcpi_state, TCP_CLOSE, 0, "... of a new socket");
    close(s);
    int pair[2];
    make_pair(pair);
    n = sizeof(info);
    getsockopt(pair[0], IPPROTO_TCP, TCP_INFO, &info, &n);
    gives(info.tcpi_state, TCP_ESTABLISHED, 0, "... of a connection");
    check(option(pair[0], IPPROTO_TCP, TCP_MAXSEG) >= 536, "TCP_MAXSEG of a connection");
    close_pair(pair);
}

/* ---- Datagrams ------------------------------------------------------------------------------- */

static void test_datagrams(void)
{
    int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in from, at;
    char buffer[64];
    socklen_t n = sizeof(from);

    bind_to(a, loopback(0));
    at = name_of(a);
    gives(send(b, "x", 1, 0), -1, EDESTADDRREQ, "a datagram to nowhere");
    gives(sendto(b, "first", 5, 0, (struct sockaddr *)&at, sizeof(at)), 5, 0, "a datagram");
    gives(sendto(b, "", 0, 0, (struct sockaddr *)&at, sizeof(at)), 0, 0, "an empty one");
    gives(polled(a, POLLIN, 1000), POLLIN, 0, "... poll tells");
    gives(recvfrom(a, buffer, 3, MSG_TRUNC, (struct sockaddr *)&from, &n), 5, 0, "cut short");
    check(from.sin_port == name_of(b).sin_port && from.sin_addr.s_addr == htonl(INADDR_LOOPBACK),
          "... with its source");
    gives(recv(a, buffer, sizeof(buffer), 0), 0, 0, "the empty one");
    gives(recv(a, buffer, sizeof(buffer), MSG_DONTWAIT), -1, EAGAIN, "no more");
    gives(connect_to(b, at), 0, 0, "connects");
    gives(send(b, "second", 6, 0), 6, 0, "... and sends");
    gives(recv(a, buffer, sizeof(buffer), 0), 6, 0, "... which arrives");
    gives(sendto(a, "other", 5, 0, (struct sockaddr *)&at, sizeof(at)), 5, 0, "to itself");
    gives(recv(a, buffer, sizeof(buffer), 0), 5, 0, "... arrives");
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    gives(connect(b, &none, sizeof(none)), 0, 0, "disconnects");
    gives(send(b, "x", 1, 0), -1, EDESTADDRREQ, "... and knows no other end");
    static char large[65508];
    gives(sendto(b, large, 65508, 0, (struct sockaddr *)&at, sizeof(at)), -1, EMSGSIZE,
          "a datagram that is too long");
    gives(sendto(b, large, 60000, 0, (struct sockaddr *)&at, sizeof(at)), 60000, 0, "a long one");
    gives(recv(a, large, sizeof(large), 0), 60000, 0, "... arrives");
    close(a);
    close(b);
}

/* ---- Many ------------------------------------------------------------------------------------ */

static long free_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemFree: %ld kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void *echo(void *arg)
{
    int l = *(int *)arg, s;

    while ((s = accept(l, NULL, NULL)) >= 0) {
        char b[256];
        for (ssize_t n; (n = read(s, b, sizeof(b))) > 0;)
            write(s, b, (size_t)n);
        close(s);
    }
    return NULL;
}

/* Every `resets`-th connection ends by a reset. */
static unsigned talk(struct sockaddr_in at, unsigned times, unsigned resets)
{
    unsigned right = 0;

    for (unsigned i = 0; i < times; i++) {
        char sent[256], got[256];
        int s = socket(AF_INET, SOCK_STREAM, 0);
        size_t length = 1 + i % sizeof(sent), done = 0;
        struct linger now = {1, 0};
        memset(sent, (int)i, sizeof(sent));
        if (connect_to(s, at) || write(s, sent, length) != (ssize_t)length)
            printf("# connection %u: %s\n", i, strerror(errno));
        for (ssize_t n = 1; done < length && n > 0; done += n > 0 ? (size_t)n : 0)
            n = read(s, got + done, length - done);
        right += done == length && !memcmp(sent, got, length);
        if (i % resets == 0)
            setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        close(s);
    }
    return right;
}

#define TALKERS 8
#define TALKS   250 /* of each */
#define LEAK_KB 150 /* less than 100 bytes for each */

static struct sockaddr_in talks_to;

static void *talk_often(void *arg)
{
    *(unsigned *)arg = talk(talks_to, TALKS, 1);
    return NULL;
}

/* Returns how many connections were right. */
static unsigned talk_all(void)
{
    pthread_t talkers[TALKERS];
    unsigned right[TALKERS], all = 0;

    for (int i = 0; i < TALKERS; i++)
        pthread_create(&talkers[i], NULL, talk_often, &right[i]);
    for (int i = 0; i < TALKERS; i++) {
        pthread_join(talkers[i], NULL);
        all += right[i];
    }
    return all;
}

static void test_many(void)
{
    int l = listener(128);
    pthread_t servers[4];

    talks_to = name_of(l);
    for (int i = 0; i < 4; i++)
        pthread_create(&servers[i], NULL, echo, &l);
    gives(talk(talks_to, 100, 2), 100, 0, "100 connections, each echoed");
    gives(talk_all(), TALKERS * TALKS, 0, "2,000 connections of 8 threads that end by resets");
    long before = free_kb(); /* what is made once is made */
    gives(talk_all(), TALKERS * TALKS, 0, "... again");
    long used = before - free_kb();
    printf("# %ld KB less\n", used);
    check(used < LEAK_KB, "... and their memory is free again");
    shutdown(l, SHUT_RDWR);
    for (int i = 0; i < 4; i++)
        pthread_join(servers[i], NULL);
    close(l);
}

/* ---- On several CPUs ------------------------------------------------------------------------- */

/* Runs on CPU n from now on. Returns whether there is one. */
static bool move_to(int n)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(n, &set);
    return !sched_setaffinity(0, sizeof(set), &set);
}

/* Connects by a new socket, and sends a byte there and back. Returns 0 or errno. */
static int talk_once(int l, struct sockaddr_in at)
{
    int s = socket(AF_INET, SOCK_STREAM, 0), result = connect_to(s, at) ? errno : 0;
    char b = 'q';

    if (!result) {
        int c = accept(l, NULL, NULL);
        bool right = c >= 0 && write(s, "p", 1) == 1 && read(c, &b, 1) == 1 && b == 'p' &&
                     name_of(c).sin_port == at.sin_port && write(c, "r", 1) == 1 &&
                     read(s, &b, 1) == 1 && b == 'r';
        result = right ? 0 : EIO;
        close(c);
    }
    close(s);
    return result;
}

/* Binds a new socket. Returns 0 or errno. */
static int bind_once(struct sockaddr_in at, int reuse)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);

    set(s, SOL_SOCKET, SO_REUSEADDR, reuse);
    int result = bind_to(s, at) ? errno : 0;
    close(s);
    return result;
}

static void test_cpus(void)
{
    cpu_set_t all;
    int l = socket(AF_INET, SOCK_STREAM, 0), cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    unsigned met = 0, taken = 0, refused = 0, freed = 0, other = 0;

    set(l, SOL_SOCKET, SO_REUSEADDR, 1);
    bind_to(l, loopback(0));
    listen(l, 16);
    struct sockaddr_in at = name_of(l);
    sched_getaffinity(0, sizeof(all), &all);
    for (int i = 0; i < cpus && move_to(i); i++) {
        met += !talk_once(l, at);
        taken += bind_once(at, 0) == EADDRINUSE;
    }
    gives(met, cpus, 0, "a listener hears each CPU");
    gives(taken, cpus, 0, "... and has its port on each");
    close(l);
    for (int i = 0; i < cpus && move_to(i); i++) {
        refused += talk_once(l, at) == ECONNREFUSED;
        freed += !bind_once(at, 1);
    }
    gives(refused, cpus, 0, "closed, it hears none");
    gives(freed, cpus, 0, "... and SO_REUSEADDR lets each have the port again");
    int s[64], n = 0;
    l = listener(64);
    at = name_of(l);
    for (n = 0; n < 64 && move_to(n % cpus); n++) {
        s[n] = socket(AF_INET, SOCK_STREAM, 0);
        connect_to(s[n], at);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            other += name_of(s[i]).sin_port == name_of(s[j]).sin_port;
    gives(other, 0, 0, "connections from all CPUs have ports of their own");
    unsigned accepted = 0;
    for (int i = 0; i < n; i++) {
        int c = accept(l, NULL, NULL);
        accepted += c >= 0;
        close(c);
        close(s[i]);
    }
    gives(accepted, 64, 0, "... and wait in one queue");
    close(l);
    sched_setaffinity(0, sizeof(all), &all);
}

static void test_refused_datagrams(void)
{
    int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
    struct sockaddr_in nowhere;
    char data[4];

    bind_to(to, loopback(0));
    nowhere = name_of(to);
    close(to);
    connect_to(from, nowhere);
    gives(send(from, "a", 1, 0), 1, 0, "a datagram to a port without a socket");
    gives(polled(from, POLLIN, 1000) & POLLERR, POLLERR, 0, "... is refused, as poll says");
    gives(option(from, SOL_SOCKET, SO_ERROR), ECONNREFUSED, 0, "... and SO_ERROR");
    gives(option(from, SOL_SOCKET, SO_ERROR), 0, 0, "... once");
    send(from, "a", 1, 0);
    gives(recv(from, data, sizeof(data), 0), -1, ECONNREFUSED, "... a call that receives ends");
    send(from, "a", 1, 0);
    polled(from, POLLIN, 1000);
    gives(send(from, "a", 1, 0), -1, ECONNREFUSED, "... the next that sends fails");
    close(from);
    from = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(from, "a", 1, 0, (struct sockaddr *)&nowhere, sizeof(nowhere));
    gives(polled(from, POLLIN, 50) & POLLERR, 0, 0, "a socket without a peer does not hear of it");
    setsockopt(from, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
    sendto(from, "a", 1, 0, (struct sockaddr *)&nowhere, sizeof(nowhere));
    gives(polled(from, POLLIN, 1000) & POLLERR, POLLERR, 0, "... unless it asks for it");
    gives(option(from, SOL_SOCKET, SO_ERROR), ECONNREFUSED, 0, "... with that error");
    close(from);
}

static struct sockaddr_in at_host(uint32_t host, unsigned port)
{
    struct sockaddr_in a = loopback(port);

    a.sin_addr.s_addr = htonl(host);
    return a;
}

static void test_loopback_network(void)
{
    struct sockaddr_in from = {0};
    socklen_t n = sizeof(from);
    char data[4];
    int l = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0), a;

    gives(bind_to(l, at_host(0x7f000002, 0)), 0, 0, "bound to 127.0.0.2");
    listen(l, 2);
    unsigned port = ntohs(name_of(l).sin_port);
    gives(connect_to(s, loopback(port)), -1, ECONNREFUSED, "127.0.0.1 is another host");
    close(s);
    s = socket(AF_INET, SOCK_STREAM, 0);
    bind_to(s, at_host(0x7f030201, 0));
    gives(connect_to(s, at_host(0x7f000002, port)), 0, 0, "a connection from 127.3.2.1 to it");
    a = accept(l, (struct sockaddr *)&from, &n);
    check(from.sin_addr.s_addr == htonl(0x7f030201), "... as accept tells");
    check(name_of(a).sin_addr.s_addr == htonl(0x7f000002), "... and getsockname");
    write(s, "abc", 3);
    gives(read(a, data, sizeof(data)), 3, 0, "... has data");
    close(a);
    close(s);
    close(l);
    l = socket(AF_INET, SOCK_STREAM, 0);
    bind_to(l, at_host(INADDR_ANY, 0));
    listen(l, 2);
    s = socket(AF_INET, SOCK_STREAM, 0);
    gives(connect_to(s, at_host(0x7f00ff01, ntohs(name_of(l).sin_port))), 0, 0,
          "a listener at any address hears 127.0.255.1");
    check(name_of(s).sin_addr.s_addr == htonl(INADDR_LOOPBACK), "... called from 127.0.0.1");
    close(s);
    close(l);
    l = socket(AF_INET, SOCK_DGRAM, 0);
    s = socket(AF_INET, SOCK_DGRAM, 0);
    bind_to(l, at_host(0x7f000007, 0));
    bind_to(s, at_host(0x7f000008, 0));
    from = name_of(l);
    gives(sendto(s, "abc", 3, 0, (struct sockaddr *)&from, sizeof(from)), 3, 0,
          "a datagram from 127.0.0.8 to 127.0.0.7");
    n = sizeof(from);
    gives(recvfrom(l, data, sizeof(data), 0, (struct sockaddr *)&from, &n), 3, 0, "... arrives");
    check(from.sin_addr.s_addr == htonl(0x7f000008), "... with its source");
    close(s);
    close(l);
}

#define SHARERS 3

/* Binds SHARERS sockets to one port. Returns its address. */
static struct sockaddr_in share_port(int s[SHARERS], int type)
{
    struct sockaddr_in at = loopback(0);
    bool bound = true;
    int on = 1;

    for (unsigned i = 0; i < SHARERS; i++) {
        s[i] = socket(AF_INET, type | SOCK_NONBLOCK, 0);
        setsockopt(s[i], SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
        bound &= !bind_to(s[i], at);
        at = name_of(s[i]);
        bound &= type == SOCK_DGRAM || !listen(s[i], 64);
    }
    check(bound, "sockets share a port");
    int other = socket(AF_INET, type, 0);
    gives(bind_to(other, at), -1, EADDRINUSE, "... with no other");
    close(other);
    return at;
}

static void test_shared_ports(void)
{
    int s[SHARERS], to[48], c;
    unsigned all = 0, idle = 0;
    char data[4];
    struct sockaddr_in at = share_port(s, SOCK_STREAM);

    for (unsigned i = 0; i < 48; i++) {
        to[i] = socket(AF_INET, SOCK_STREAM, 0);
        connect_to(to[i], at);
    }
    for (unsigned i = 0; i < SHARERS; i++) {
        unsigned n = 0;
        for (; (c = accept(s[i], NULL, NULL)) >= 0; n++)
            close(c);
        all += n;
        idle += !n;
    }
    gives(all, 48, 0, "connections to it are accepted");
    gives(idle, 0, 0, "... by each listener");
    for (unsigned i = 0; i < 48; i++)
        close(to[i]);
    for (unsigned i = 0; i < SHARERS; i++)
        close(s[i]);
    all = idle = 0;
    at = share_port(s, SOCK_DGRAM);
    for (unsigned i = 0; i < 48; i++) {
        c = socket(AF_INET, SOCK_DGRAM, 0);
        sendto(c, "a", 1, 0, (struct sockaddr *)&at, sizeof(at));
        close(c);
    }
    for (unsigned i = 0; i < SHARERS; i++) {
        unsigned n = 0;
        while (recv(s[i], data, sizeof(data), 0) == 1)
            n++;
        all += n;
        idle += !n;
        close(s[i]);
    }
    gives(all, 48, 0, "datagrams to it are received");
    gives(idle, 0, 0, "... by each socket");
}

static void test_packet_info(void)
{
    struct sockaddr_in at = loopback(0);
    int on = 1, from = socket(AF_INET, SOCK_DGRAM, 0), to = socket(AF_INET, SOCK_DGRAM, 0);
    char data[8], control[CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct iovec part = {data, sizeof(data)};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    struct in_pktinfo info = {0};

    bind(to, (struct sockaddr *)&at, sizeof(at));
    at = name_of(to);
    setsockopt(to, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    sendto(from, "packet", 6, 0, (struct sockaddr *)&at, sizeof(at));
    gives(recvmsg(to, &m, 0), 6, 0, "a datagram with IP_PKTINFO");
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    check(c && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO &&
              c->cmsg_len == CMSG_LEN(sizeof(info)),
          "... has control data of that kind");
    if (c)
        memcpy(&info, CMSG_DATA(c), sizeof(info));
    check(info.ipi_addr.s_addr == htonl(INADDR_LOOPBACK) &&
              info.ipi_spec_dst.s_addr == htonl(INADDR_LOOPBACK) && info.ipi_ifindex == 1,
          "... which tells where it was sent to, and the interface");
    close(from);
    close(to);
}

int main(int argc, char **argv)
{
    fused = argc > 1 && !strcmp(argv[1], "fused");
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_making();
    test_names();
    test_connecting();
    test_no_waiting();
    test_streams();
    test_shutting();
    test_large();
    test_close_behind();
    test_wait_all();
    if (!fused)
        test_lingering();
    test_ended();
    test_epoll();
    test_end_of_wait();
    test_options();
    test_datagrams();
    test_refused_datagrams();
    test_loopback_network();
    test_shared_ports();
    test_packet_info();
    test_cpus();
    test_many();
    printf("1..%u\n", count);
    return failed != 0;
}
