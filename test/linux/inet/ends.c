/* Ends of streams, and waiting for what happens to them. */
#include "inet.h"

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

void test_lingering(void)
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

void test_ended(void)
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

void test_again(void)
{
    struct linger reset = {1, 0};
    char data[4];
    int l = listener(4), s = socket(AF_INET, SOCK_STREAM, 0);

    gives(connect_to(s, loopback(1)), -1, ECONNREFUSED, "a socket that is refused");
    gives(connect_to(s, name_of(l)), 0, 0, "... connects elsewhere");
    int c = accept(l, NULL, NULL);
    write(c, "abc", 3);
    gives(recv(s, data, sizeof(data), 0), 3, 0, "... and receives");
    setsockopt(c, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(c);
    gives(recv(s, data, sizeof(data), 0), -1, ECONNRESET, "... until it is reset");
    gives(connect_to(s, name_of(l)), -1, EISCONN, "... and connects no more, all being read");
    close(s);
    close(l);
}

void test_epoll(void)
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

void test_end_of_wait(void)
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
