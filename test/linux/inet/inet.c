/*
 * Sockets of AF_INET over loopback, as a program of Linux's has them: streams, datagrams, waiting,
 * options, errors. Prints TAP; the same under Linux.
 *
 *   inet [fused]        connections do without packets (net.fusion)
 */
#include "inet.h"

bool fused;
static unsigned count, failed;

void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

/* Checks the result of a call, and errno if that is not 0. */
void gives(long result, long wanted, int error, const char *what)
{
    int now = errno;
    bool right = result == wanted && (!error || now == error);

    if (!right)
        printf("# %ld, %s\n", result, result < 0 ? strerror(now) : "no error");
    check(right, what);
}

uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct sockaddr_in loopback(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int bind_to(int s, struct sockaddr_in a)
{
    return bind(s, (struct sockaddr *)&a, sizeof(a));
}

int connect_to(int s, struct sockaddr_in a)
{
    return connect(s, (struct sockaddr *)&a, sizeof(a));
}

struct sockaddr_in name_of(int s)
{
    struct sockaddr_in a = {0};
    socklen_t n = sizeof(a);

    getsockname(s, (struct sockaddr *)&a, &n);
    return a;
}

int listener(int backlog)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);

    bind_to(s, loopback(0));
    listen(s, backlog);
    return s;
}

/* Makes a connection: s[0] connected, s[1] was accepted. */
void make_pair(int s[2])
{
    int l = listener(1);

    s[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect_to(s[0], name_of(l));
    s[1] = accept(l, NULL, NULL);
    close(l);
}

void close_pair(const int s[2])
{
    close(s[0]);
    close(s[1]);
}

unsigned polled(int s, int wanted, int ms)
{
    struct pollfd p = {.fd = s, .events = (short)wanted};

    return poll(&p, 1, ms) < 0 ? ~0u : (unsigned)p.revents;
}

int option(int s, int level, int name)
{
    int value = -1;
    socklen_t n = sizeof(value);

    return getsockopt(s, level, name, &value, &n) ? -errno : value;
}

int set(int s, int level, int name, int value)
{
    return setsockopt(s, level, name, &value, sizeof(value));
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
    test_again();
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
