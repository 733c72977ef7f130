/* Streams: making, connecting, sending, receiving, shutting. */
#include "inet.h"

/* ---- Making and names ------------------------------------------------------------------------ */

void test_making(void)
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

void test_names(void)
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

void test_connecting(void)
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

void test_no_waiting(void)
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

void test_streams(void)
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

void test_shutting(void)
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

void test_large(void)
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
void test_close_behind(void)
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

void test_wait_all(void)
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
