/* Ports and addresses, on one CPU and on several. */
#include "inet.h"

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

void test_cpus(void)
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

static struct sockaddr_in at_host(uint32_t host, unsigned port)
{
    struct sockaddr_in a = loopback(port);

    a.sin_addr.s_addr = htonl(host);
    return a;
}

void test_loopback_network(void)
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

void test_shared_ports(void)
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
