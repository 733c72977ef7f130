/*
 * Sockets of AF_UNIX, as a program of Linux's has them: pairs, names, connections, messages with
 * descriptors and credentials, waiting. Prints TAP; the same under Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
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

static socklen_t path_address(struct sockaddr_un *a, const char *path)
{
    memset(a, 0, sizeof(*a));
    a->sun_family = AF_UNIX;
    strcpy(a->sun_path, path);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- Streams --------------------------------------------------------------------------------- */

#define LARGE (3 << 20)

static void *write_large(void *arg)
{
    static uint8_t data[LARGE];

    for (unsigned i = 0; i < LARGE; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
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

    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    pthread_create(&t, NULL, write_large, &s[0]);
    for (ssize_t n; (n = read(s[1], got, 1 + done % sizeof(got))) > 0; done += (size_t)n)
        for (ssize_t i = 0; i < n; i++)
            right &= got[i] == (uint8_t)((done + (size_t)i) * 2654435761u >> 24);
    check(right && done == LARGE, "3 MB from thread to thread, in order, up to the end");
    pthread_join(t, NULL);
    close(s[0]);
    close(s[1]);
}

static void test_streams(void)
{
    char buffer[64] = "";
    struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
    int s[2], n = 0;
    struct stat st;

    gives(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0, 0, "a pair");
    check(fcntl(s[0], F_GETFD) == FD_CLOEXEC && fcntl(s[1], F_GETFL) == O_RDWR, "... of flags");
    check(!fstat(s[0], &st) && S_ISSOCK(st.st_mode), "... that are sockets");
    gives(writev(s[0], parts, 2), 5, 0, "parts are written");
    check(!ioctl(s[1], FIONREAD, &n) && n == 5, "... and wait");
    gives(recv(s[1], buffer, 3, MSG_PEEK), 3, 0, "a look at them");
    gives(read(s[1], buffer, sizeof(buffer)), 5, 0, "they are read at once");
    check(!memcmp(buffer, "abcde", 5), "... as they are");
    gives(recv(s[1], buffer, 1, MSG_DONTWAIT), -1, EAGAIN, "there is no more");
    gives(lseek(s[0], 0, SEEK_CUR), -1, ESPIPE, "no positions");
    gives(pread(s[0], buffer, 1, 0), -1, ESPIPE, "... to read at");
}

static void handle(int number)
{
    (void)number;
}

static void test_ends(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    char byte;
    int s[2];

    sigaction(SIGPIPE, &ignore, NULL);
    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    gives(shutdown(s[0], SHUT_WR), 0, 0, "an end sends no more");
    gives(read(s[1], &byte, 1), 0, 0, "... which the other reads");
    gives(write(s[0], "x", 1), -1, EPIPE, "... and may not");
    gives(write(s[1], "x", 1), 1, 0, "the other way is open");
    close(s[0]);
    gives(write(s[1], "x", 1), -1, EPIPE, "the other end is closed");
    gives(read(s[1], &byte, 1), -1, ECONNRESET, "... with bytes not read: reset");
    gives(read(s[1], &byte, 1), 0, 0, "... once");
    close(s[1]);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void *connect_late(void *arg)
{
    struct sockaddr_un a;
    int s = socket(AF_UNIX, SOCK_STREAM, 0);

    usleep(20000);
    connect(s, (struct sockaddr *)&a, path_address(&a, arg));
    write(s, "hello", 5);
    return (void *)(intptr_t)s;
}

static void test_names(void)
{
    struct sockaddr_un a, got;
    char path[] = "/tmp/socket-test", buffer[16];
    socklen_t n = path_address(&a, path), room = sizeof(got);
    int s = socket(AF_UNIX, SOCK_STREAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
    struct stat st;
    pthread_t t;
    void *made;

    mkdir("/tmp", 0777);
    unlink(path);
    gives(connect(other, (struct sockaddr *)&a, n), -1, ENOENT, "no such path");
    gives(bind(s, (struct sockaddr *)&a, n), 0, 0, "a path is bound");
    check(!stat(path, &st) && S_ISSOCK(st.st_mode), "... and is there");
    gives(open(path, O_RDWR), -1, ENXIO, "... not to be opened");
    gives(bind(other, (struct sockaddr *)&a, n), -1, EADDRINUSE, "... nor bound again");
    gives(connect(other, (struct sockaddr *)&a, n), -1, ECONNREFUSED, "it does not listen");
    gives(accept(s, NULL, NULL), -1, EINVAL, "... nor accept");
    gives(listen(s, 1), 0, 0, "it listens");
    gives(connect(other, (struct sockaddr *)&a, n), 0, 0, "a connection");
    gives(connect(other, (struct sockaddr *)&a, n), -1, EISCONN, "... once");
    int end = accept4(s, (struct sockaddr *)&got, &room, SOCK_NONBLOCK);
    check(end >= 0 && room == 2, "it is accepted, of one without a name");
    gives(read(end, buffer, 1), -1, EAGAIN, "... and does not wait");
    room = sizeof(got);
    check(!getpeername(other, (struct sockaddr *)&got, &room) && room == n &&
              !strcmp(got.sun_path, path),
          "the other end has the name");
    close(end);
    close(other);
    pthread_create(&t, NULL, connect_late, path);
    end = accept(s, NULL, NULL);
    gives(recv(end, buffer, 5, MSG_WAITALL), 5, 0, "accept waits for a connection");
    pthread_join(t, &made);
    close((int)(intptr_t)made);
    close(end);
    close(s);
    other = socket(AF_UNIX, SOCK_STREAM, 0);
    gives(connect(other, (struct sockaddr *)&a, n), -1, ECONNREFUSED, "it is closed");
    unlink(path);
    close(other);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static _Thread_local union {
    char bytes[256];
    struct cmsghdr align;
} control;

static ssize_t send_files(int s, const int *fds, unsigned n)
{
    struct iovec part = {"f", 1};
    struct msghdr h = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    return sendmsg(s, &h, MSG_NOSIGNAL);
}

/* Receives a message; stores up to 4 descriptors. Returns their number, or -1. */
static int receive_files(int s, int fds[4], size_t room, int *flags)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr h = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = room};

    if (recvmsg(s, &h, *flags) < 0)
        return -1;
    *flags = h.msg_flags;
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (!c || c->cmsg_type != SCM_RIGHTS)
        return 0;
    memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    return (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
}

static void test_files(void)
{
    int s[2], ends[2], fds[6], bad[2] = {0, 999}, flags = MSG_CMSG_CLOEXEC;
    char byte = 0;

    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    pipe(ends);
    gives(send_files(s[0], ends, 2), 1, 0, "two descriptors are sent");
    close(ends[0]);
    gives(receive_files(s[1], fds, CMSG_SPACE(2 * sizeof(int)), &flags), 2, 0, "... and received");
    check(flags == MSG_CMSG_CLOEXEC && fcntl(fds[0], F_GETFD) == FD_CLOEXEC, "... closed by exec");
    check(write(ends[1], "y", 1) == 1 && read(fds[0], &byte, 1) == 1 && byte == 'y',
          "they are the same pipe");
    gives(send_files(s[0], bad, 2), -1, EBADF, "one that is none is not sent");
    send_files(s[0], fds, 2);
    flags = 0;
    gives(receive_files(s[1], fds + 2, CMSG_LEN(sizeof(int)), &flags), 1, 0, "room for one");
    check(flags & MSG_CTRUNC, "... says so");
    for (unsigned i = 0; i < 3; i++)
        close(fds[i]);
    close(ends[1]);
    close(s[0]);
    close(s[1]);
}

/* Pairs that are in flight to each other alone, many times as many as there may be descriptors. */
static void test_circles(void)
{
    bool right = true;

    for (unsigned i = 0; i < 3000 && right; i++) {
        int s[2];
        right = !socketpair(AF_UNIX, i % 2 ? SOCK_STREAM : SOCK_DGRAM, 0, s);
        right = right && send_files(s[0], s, 2) == 1 && send_files(s[1], s, 2) == 1;
        if (!right)
            printf("# %u: %s\n", i, strerror(errno));
        close(s[0]);
        close(s[1]);
    }
    check(right, "3000 pairs in flight to themselves alone are closed");
}

static void test_credentials(void)
{
    struct ucred is = {0};
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr h = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control)};
    socklen_t n = sizeof(is);
    int s[2], on = 1;

    socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
    check(!getsockopt(s[0], SOL_SOCKET, SO_PEERCRED, &is, &n) && is.pid == getpid() &&
              is.uid == getuid(),
          "who has made a pair");
    setsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    write(s[0], "c", 1);
    gives(recvmsg(s[1], &h, 0), 1, 0, "a message with credentials");
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    check(c && c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(sizeof(is)),
          "... has them");
    if (c)
        memcpy(&is, CMSG_DATA(c), sizeof(is));
    check(is.pid == getpid() && is.gid == getgid(), "... the sender's");
    close(s[0]);
    close(s[1]);
}

static void test_messages(void)
{
    struct mmsghdr many[4];
    struct iovec parts[4];
    static char large[1 << 20];
    char buffers[4][8];
    int s[2];

    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s);
    memset(many, 0, sizeof(many));
    for (unsigned i = 0; i < 4; i++) {
        parts[i] = (struct iovec){"1234567" + i, 7 - i};
        many[i].msg_hdr.msg_iov = &parts[i];
        many[i].msg_hdr.msg_iovlen = 1;
    }
    gives(sendmmsg(s[0], many, 4, 0), 4, 0, "four messages at once");
    check(many[3].msg_len == 4, "... with their lengths");
    for (unsigned i = 0; i < 4; i++)
        parts[i] = (struct iovec){buffers[i], i ? 8 : 5};
    gives(recvmmsg(s[1], many, 4, MSG_WAITFORONE, NULL), 4, 0, "... received at once");
    check(many[0].msg_len == 5 && many[0].msg_hdr.msg_flags == MSG_TRUNC, "... one cut");
    check(many[2].msg_len == 5 && !memcmp(buffers[2], "34567", 5), "... others whole");
    gives(send(s[0], large, sizeof(large), 0), -1, EMSGSIZE, "one that is too long");
    close(s[0]);
    gives(recv(s[1], buffers, 8, 0), 0, 0, "the end");
    close(s[1]);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void *interrupt(void *arg)
{
    usleep(30000);
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    usleep(30000);
    return NULL;
}

static void test_waiting(void)
{
    struct sigaction plain = {.sa_handler = handle};
    struct timeval t = {.tv_usec = 30000}, got;
    pthread_t self = pthread_self(), other;
    socklen_t n = sizeof(got);
    char byte;
    int s[2];

    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    sigaction(SIGUSR1, &plain, NULL);
    pthread_create(&other, NULL, interrupt, &self);
    gives(read(s[0], &byte, 1), -1, EINTR, "a signal ends a read that waits");
    pthread_join(other, NULL);
    setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    check(!getsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &got, &n) && got.tv_usec >= 30000,
          "a limit of the wait");
    uint64_t before = now_ms();
    gives(read(s[0], &byte, 1), -1, EAGAIN, "... ends it");
    check(now_ms() - before >= 25, "... not before");
    close(s[0]);
    close(s[1]);
}

static bool has(int ep, uint32_t events)
{
    struct epoll_event e = {0};
    int n = epoll_wait(ep, &e, 1, 0);

    if (e.events != events)
        printf("# %#x\n", e.events);
    return n == (events != 0) && e.events == events;
}

static void test_epoll(void)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
    int ep = epoll_create1(0), s[2];
    char byte;

    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    epoll_ctl(ep, EPOLL_CTL_ADD, s[0], &e);
    check(has(ep, EPOLLOUT) && has(ep, 0), "an edge: it can be written");
    write(s[1], "ab", 2);
    check(has(ep, EPOLLIN | EPOLLOUT) && has(ep, 0), "an edge: bytes have come");
    read(s[0], &byte, 1);
    check(has(ep, 0), "... none while some are left");
    write(s[1], "c", 1);
    check(has(ep, EPOLLIN | EPOLLOUT), "an edge: one more");
    shutdown(s[1], SHUT_WR);
    check(has(ep, EPOLLIN | EPOLLOUT | EPOLLRDHUP), "an edge: no more will come");
    close(s[1]);
    check(has(ep, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP), "an edge: the other is closed");
    close(s[0]);
    check(has(ep, 0), "closed");
    close(ep);
}

/* ---- A receiver whose socket gets another peer ----------------------------------------------- */

#define PARTINGS 3000

static int parting[3]; /* receives, its peer, another one */
static volatile bool parted;

static socklen_t abstract_address(struct sockaddr_un *a, char name)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = {0, 'p', name}};
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 3);
}

static void *keep_receiving(void *arg)
{
    for (unsigned i = 0; !parted; i++) {
        int fds[4], flags = i % 2 ? 0 : MSG_PEEK;
        int n = receive_files(parting[0], fds, CMSG_SPACE(sizeof(fds)), &flags);
        while (n > 0)
            close(fds[--n]);
    }
    return arg;
}

static void *keep_sending(void *arg)
{
    while (!parted)
        send_files(parting[1], &parting[2], 1);
    return arg;
}

/* Sockets in messages that are received where nothing can be written. */
static void test_lost_files(void)
{
    char *nowhere = (char *)8;
    bool right = true;
    int s[2];

    socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
    for (unsigned i = 0; i < 100; i++) {
        int lost = socket(AF_UNIX, SOCK_STREAM, 0);
        right &= send_files(s[0], &lost, 1) == 1 && !close(lost);
        right &= recv(s[1], nowhere, 1, 0) == -1 && errno == EFAULT;
    }
    check(right, "sockets in messages that cannot be received are closed");
    close(s[0]);
    close(s[1]);
}

static void test_parting(void)
{
    struct sockaddr_un a;
    pthread_t t[3];

    for (unsigned i = 0; i < 3; i++) {
        parting[i] = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        bind(parting[i], (struct sockaddr *)&a, abstract_address(&a, (char)('0' + i)));
    }
    connect(parting[1], (struct sockaddr *)&a, abstract_address(&a, '0'));
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, i ? keep_receiving : keep_sending, NULL);
    for (unsigned i = 0; i < PARTINGS; i++)
        connect(parting[0], (struct sockaddr *)&a, abstract_address(&a, i % 2 ? '1' : '2'));
    parted = true;
    for (unsigned i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    for (unsigned i = 0; i < 3; i++)
        close(parting[i]);
    check(true, "messages are received and lost at once");
}

static void test_refused(void)
{
    int s = socket(AF_UNIX, SOCK_STREAM, 0), fds[2], *volatile nowhere = (int *)8;

    gives(socket(AF_UNIX, SOCK_RDM, 0), -1, ESOCKTNOSUPPORT, "no such type");
    gives(socket(AF_UNIX, SOCK_STREAM, 5), -1, EPROTONOSUPPORT, "no such protocol");
    gives(socket(77, SOCK_STREAM, 0), -1, EAFNOSUPPORT, "no such family");
    gives(socketpair(AF_UNIX, SOCK_STREAM, 0, nowhere), -1, EFAULT, "no place for a pair");
    gives(send(0, "", 0, 0), -1, ENOTSOCK, "no socket");
    gives(send(s, "", 1, 0), -1, ENOTCONN, "not connected");
    gives(recv(s, fds, 1, 0), -1, EINVAL, "... to be read");
    gives(setsockopt(s, SOL_SOCKET, 9999, fds, 4), -1, ENOPROTOOPT, "no such option");
    gives(setsockopt(s, 6, 1, fds, 4), -1, EOPNOTSUPP, "no such level");
    close(s);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_streams();
    test_large();
    test_ends();
    test_names();
    test_files();
    test_credentials();
    test_messages();
    test_waiting();
    test_epoll();
    test_refused();
    test_circles();
    test_parting();
    test_lost_files();
    printf("1..%u\n", count);
    return failed != 0;
}
