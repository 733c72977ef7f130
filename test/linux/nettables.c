/*
 * Tables of /proc/net, and what ioctl tells of interfaces: rows of the program's own sockets are
 * found by their inodes. Prints TAP; the same under Linux. An argument names a card's interface
 * that must be there, too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTEN = 10, ESTABLISHED = 1, TIME_WAIT = 6, CLOSE = 7, TCP_ROW = 150, UDP_ROW = 128 };

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

struct row {
    unsigned own, own_port, peer, peer_port, state, to_send, to_read;
    unsigned long inode;
    size_t width;
};

static unsigned long inode_of(int s)
{
    struct stat st;

    return fstat(s, &st) ? 0 : st.st_ino;
}

/* Finds the row of an inode, or, if that is 0, of a local port in TIME_WAIT. */
static bool find_row(const char *path, unsigned long inode, unsigned port, struct row *r)
{
    FILE *f = fopen(path, "r");
    char line[512];
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f)) {
        *r = (struct row){.width = strlen(line)};
        found = sscanf(line, "%*d: %8X:%4X %8X:%4X %2X %8X:%8X %*s %*s %*u %*d %lu", &r->own,
                       &r->own_port, &r->peer, &r->peer_port, &r->state, &r->to_send, &r->to_read,
                       &r->inode) == 8 &&
                (inode ? r->inode == inode : r->own_port == port && r->state == TIME_WAIT);
    }
    if (f)
        fclose(f);
    return found;
}

/* Finds the line of a name in a table, and returns the number behind `n` others. */
static long number_of(const char *path, const char *name, unsigned n)
{
    FILE *f = fopen(path, "r");
    char line[1024], *at = NULL;
    long found = -1;

    while (f && !at && fgets(line, sizeof line, f)) {
        at = line + strspn(line, " ");
        at = strncmp(at, name, strlen(name)) ? NULL : at + strlen(name);
    }
    for (; at && *at; n--) {
        at += strspn(at, " ");
        if (!n) {
            found = atol(at);
            break;
        }
        at += strcspn(at, " ");
    }
    if (f)
        fclose(f);
    return found;
}

/* Returns the figure of a group in /proc/net/snmp, whose names stand in the line before. */
static long snmp(const char *group, const char *name)
{
    FILE *f = fopen("/proc/net/snmp", "r");
    char names[2048], values[2048], *next_name = NULL, *next_value = NULL;
    long found = -1;

    while (f && fgets(names, sizeof names, f) && fgets(values, sizeof values, f)) {
        if (strncmp(names, group, strlen(group)))
            continue;
        strtok_r(names, " \n", &next_name);
        strtok_r(values, " \n", &next_value);
        for (char *n, *v;
             (n = strtok_r(NULL, " \n", &next_name)) && (v = strtok_r(NULL, " \n", &next_value));)
            if (!strcmp(n, name))
                found = atol(v);
    }
    if (f)
        fclose(f);
    return found;
}

/* ---- TCP ------------------------------------------------------------------------------------- */

static struct sockaddr_in address_of(int s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;

    getsockname(s, (struct sockaddr *)&a, &n);
    return a;
}

static int listener(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int l = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(l, (struct sockaddr *)&a, sizeof a) || listen(l, 5))
        perror("listen");
    return l;
}

static int client(int l)
{
    struct sockaddr_in a = address_of(l);
    int c = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(c, (struct sockaddr *)&a, sizeof a))
        perror("connect");
    return c;
}

static void streams(void)
{
    int l = listener(), c = client(l), other = client(l);
    unsigned port = ntohs(address_of(l).sin_port);
    struct row r = {0}, peer = {0};

    check(find_row("/proc/net/tcp", inode_of(l), 0, &r), "a listener is in /proc/net/tcp");
    check(r.own == htonl(INADDR_LOOPBACK) && r.own_port == port && r.state == LISTEN,
          "... with its address and state");
    check(r.to_read == 2 && !r.to_send, "... and the number of connections that wait");
    check(r.width == TCP_ROW, "a row has Linux's width");
    int s = accept(l, NULL, NULL);
    if (write(c, "hello", 5) != 5)
        perror("write");
    check(find_row("/proc/net/tcp", inode_of(c), 0, &r) && r.state == ESTABLISHED,
          "a connection is there");
    check(find_row("/proc/net/tcp", inode_of(s), 0, &peer) && peer.own_port == r.peer_port &&
              peer.peer_port == r.own_port && peer.own_port == port && peer.to_read == 5,
          "... and its other end, with the bytes that wait there");
    unsigned closed = r.own_port;
    close(c);
    char gone[8];
    while (read(s, gone, sizeof gone) > 0)
        continue;
    close(s);
    usleep(50000);
    check(find_row("/proc/net/tcp", 0, closed, &r) && r.peer_port == port && !r.inode,
          "once both ends are closed it is in TIME_WAIT, and nothing's");
    int bound = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (bind(bound, (struct sockaddr *)&any, sizeof any))
        perror("bind");
    check(!find_row("/proc/net/tcp", inode_of(bound), 0, &r), "a stream that is only bound is not");
    close(bound);
    close(other);
    close(l);
}

static void figures(void)
{
    int l = listener();
    long opened = snmp("Tcp:", "ActiveOpens"), taken = snmp("Tcp:", "PassiveOpens");
    long bytes = number_of("/proc/net/dev", "lo:", 0), sent = number_of("/proc/net/dev", "lo:", 8);
    long packets = number_of("/proc/net/dev", "lo:", 1);
    int c = client(l);

    check(opened >= 0 && snmp("Tcp:", "ActiveOpens") > opened, "connections that were opened");
    check(taken >= 0 && snmp("Tcp:", "PassiveOpens") > taken, "... and accepted, are counted");
    check(bytes >= 0 && number_of("/proc/net/dev", "lo:", 0) >= bytes + 120 &&
              number_of("/proc/net/dev", "lo:", 8) >= sent + 120,
          "bytes over loopback are counted, in and out");
    check(number_of("/proc/net/dev", "lo:", 1) >= packets + 3, "... and packets");
    check(number_of("/proc/net/sockstat", "TCP: inuse", 0) >= 3 &&
              number_of("/proc/net/sockstat", "sockets: used", 0) >= 2,
          "/proc/net/sockstat counts sockets");
    close(c);
    close(l);
}

/* ---- UDP and AF_UNIX ------------------------------------------------------------------------- */

static void datagrams(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
    struct row r = {0};

    if (bind(to, (struct sockaddr *)&a, sizeof a))
        perror("bind");
    a = address_of(to);
    if (connect(from, (struct sockaddr *)&a, sizeof a) || write(from, "datagram", 8) != 8)
        perror("send");
    check(find_row("/proc/net/udp", inode_of(to), 0, &r) && r.state == CLOSE &&
              r.own_port == ntohs(a.sin_port) && !r.peer_port,
          "a datagram socket is in /proc/net/udp");
    check(r.to_read >= 8, "... with what waits");
    check(r.width == UDP_ROW, "... in a row of Linux's width");
    check(find_row("/proc/net/udp", inode_of(from), 0, &r) && r.state == ESTABLISHED &&
              r.peer_port == ntohs(a.sin_port),
          "one that is connected has its peer there");
    close(to);
    close(from);
}

/* Finds the row of an inode in /proc/net/unix, and compares it. */
static bool unix_row(int s, unsigned flags, unsigned type, unsigned state, const char *name)
{
    FILE *f = fopen("/proc/net/unix", "r");
    char line[512], path[256];
    unsigned long inode;
    unsigned got[3];
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f)) {
        path[0] = '\0';
        found = sscanf(line, "%*x: %*8X %*8X %8X %4X %2X %lu %255s", &got[0], &got[1], &got[2],
                       &inode, path) >= 4 &&
                inode == inode_of(s);
    }
    if (f)
        fclose(f);
    return found && got[0] == flags && got[1] == type && got[2] == state && !strcmp(path, name);
}

static void local(void)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/tmp/nettables.socket"};
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0nettables"};
    int l = socket(AF_UNIX, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_DGRAM, 0), pair[2];

    unlink(path.sun_path);
    if (bind(l, (struct sockaddr *)&path, sizeof path) || listen(l, 1) ||
        bind(d, (struct sockaddr *)&name, sizeof(sa_family_t) + 10) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
        perror("unix");
    check(unix_row(l, 0x10000, SOCK_STREAM, 1, path.sun_path), "a local listener has its path");
    check(unix_row(d, 0, SOCK_DGRAM, 1, "@nettables"), "an abstract name begins with @");
    check(unix_row(pair[0], 0, SOCK_SEQPACKET, 3, ""), "a pair has no name, and is connected");
    unlink(path.sun_path);
}

/* ---- Interfaces ------------------------------------------------------------------------------ */

static void heads(void)
{
    static const char first[] =
        "Inter-|   Receive                                                |  Transmit\n";
    static const char second[] =
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
        "drop fifo colls carrier compressed\n";
    FILE *f = fopen("/proc/net/dev", "r");
    char line[512], target[64] = "";

    check(f && fgets(line, sizeof line, f) && !strcmp(line, first) && fgets(line, sizeof line, f) &&
              !strcmp(line, second),
          "/proc/net/dev begins as Linux's");
    if (f)
        fclose(f);
    check(readlink("/proc/net", target, sizeof target - 1) == 8 && !strcmp(target, "self/net"),
          "/proc/net leads to the own process's");
}

static bool ask(int s, unsigned long what, const char *name, struct ifreq *r)
{
    *r = (struct ifreq){0};
    snprintf(r->ifr_name, sizeof r->ifr_name, "%s", name);
    return !ioctl(s, what, r);
}

static uint32_t address_in(const struct ifreq *r)
{
    return ntohl(((const struct sockaddr_in *)(const void *)&r->ifr_addr)->sin_addr.s_addr);
}

static void list(int s)
{
    struct ifreq all[16] = {0};
    struct ifconf c = {.ifc_len = sizeof all, .ifc_req = all}, none = {0};
    bool found = false;

    if (ioctl(s, SIOCGIFCONF, &c) || ioctl(s, SIOCGIFCONF, &none))
        perror("SIOCGIFCONF");
    for (size_t i = 0; i < (size_t)c.ifc_len / sizeof all[0]; i++)
        found |= !strcmp(all[i].ifr_name, "lo") && address_in(&all[i]) == INADDR_LOOPBACK;
    check(found, "SIOCGIFCONF lists the loopback interface");
    check(none.ifc_len == c.ifc_len && c.ifc_len % (int)sizeof all[0] == 0,
          "... and without a place for them, tells their room");
    c = (struct ifconf){.ifc_len = sizeof all[0] - 1, .ifc_req = all};
    check(!ioctl(s, SIOCGIFCONF, &c) && !c.ifc_len, "... in whole requests only");
}

static void interfaces(void)
{
    int s = socket(AF_INET, SOCK_DGRAM, 0), u = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct ifreq r;
    char name[IF_NAMESIZE] = "";

    list(s);
    check(ask(s, SIOCGIFADDR, "lo", &r) && address_in(&r) == INADDR_LOOPBACK, "its address");
    check(ask(s, SIOCGIFNETMASK, "lo", &r) && address_in(&r) == 0xff000000, "... its network");
    check(ask(s, SIOCGIFFLAGS, "lo", &r) &&
              (r.ifr_flags & (IFF_UP | IFF_LOOPBACK | IFF_RUNNING | IFF_BROADCAST)) ==
                  (IFF_UP | IFF_LOOPBACK | IFF_RUNNING),
          "... its flags");
    check(ask(s, SIOCGIFHWADDR, "lo", &r) && r.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK &&
              !memcmp(r.ifr_hwaddr.sa_data, "\0\0\0\0\0\0", 6),
          "... its kind");
    check(ask(s, SIOCGIFMTU, "lo", &r) && r.ifr_mtu == 65536, "... its longest packet");
    check(ask(s, SIOCGIFMETRIC, "lo", &r) && !r.ifr_metric, "... its metric");
    check(if_nametoindex("lo") == 1 && if_indextoname(1, name) && !strcmp(name, "lo"),
          "names and indices");
    check(ask(u, SIOCGIFINDEX, "lo", &r) && r.ifr_ifindex == 1, "... by a local socket, too");
    check(!ask(u, SIOCGIFADDR, "lo", &r) && errno == ENOTTY, "... which has no addresses");
    check(!ask(s, SIOCGIFADDR, "none9", &r) && errno == ENODEV, "an interface that there is not");
    check(ioctl(s, SIOCGIFADDR, NULL) && errno == EFAULT, "a request that is nowhere");
    close(s);
    close(u);
}

static void card(const char *name)
{
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq r;

    check(ask(s, SIOCGIFADDR, name, &r) && address_in(&r) == 0x0a00020f, "the card's address");
    check(ask(s, SIOCGIFBRDADDR, name, &r) && address_in(&r) == 0x0a0002ff,
          "... that of all in its network");
    check(ask(s, SIOCGIFHWADDR, name, &r) && r.ifr_hwaddr.sa_family == ARPHRD_ETHER &&
              !memcmp(r.ifr_hwaddr.sa_data, "\x52\x54\x00\x12\x34\x56", 6),
          "... of Ethernet");
    check(ask(s, SIOCGIFMTU, name, &r) && r.ifr_mtu == 1500, "... its longest packet");
    close(s);
    char colon[32];

    snprintf(colon, sizeof colon, "%s:", name);
    check(number_of("/proc/net/dev", colon, 0) > 0 && number_of("/proc/net/dev", colon, 8) > 0,
          "the card has received and sent something");
}

int main(int argc, char **argv)
{
    heads();
    streams();
    figures();
    datagrams();
    local();
    interfaces();
    if (argc > 1)
        card(argv[1]);
    printf("1..%u\n", count);
    return failed != 0;
}
