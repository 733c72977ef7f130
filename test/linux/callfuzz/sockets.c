/* Calls of sockets, what they are made with, and the sockets that they find. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/arguments.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#define PORT   7000
#define PORTS  6
#define NESTED 6 /* pages of safe memory from here on are for what structures point to */

/*
 * Letters as in kinds.c, and:
 *   h socket   D family   Y type   R protocol   N address   B its length   z where its length is
 *   G flags of messages   J level   j option   y its value   H message   V messages   E event
 *   W milliseconds   r request of ioctl   e what poll takes
 */
const struct row socket_rows[] = {
    {SYS_socket, "socket", "DYR"},
    {SYS_socketpair, "socketpair", "DYRb"},
    {SYS_bind, "bind", "hNB"},
    {SYS_connect, "connect", "hNB"},
    {SYS_connect, "connect", "hNB"},
    {SYS_listen, "listen", "hi"},
    {SYS_accept, "accept", "hbz"},
    {SYS_accept4, "accept4", "hbzY"},
    {SYS_shutdown, "shutdown", "hi"},
    {SYS_getsockname, "getsockname", "hbz"},
    {SYS_getpeername, "getpeername", "hbz"},
    {SYS_setsockopt, "setsockopt", "hJjyl"},
    {SYS_setsockopt, "setsockopt", "hJjyB"},
    {SYS_getsockopt, "getsockopt", "hJjbz"},
    {SYS_sendto, "sendto", "hblG"},
    {SYS_sendto, "sendto", "hblGNB"},
    {SYS_sendmsg, "sendmsg", "hHG"},
    {SYS_sendmsg, "sendmsg", "hHG"},
    {SYS_sendmmsg, "sendmmsg", "hViG"},
    {SYS_recvfrom, "recvfrom", "hblGbz"},
    {SYS_recvfrom, "recvfrom", "hblG"},
    {SYS_recvmsg, "recvmsg", "hHG"},
    {SYS_recvmsg, "recvmsg", "hHG"},
    {SYS_recvmmsg, "recvmmsg", "hViGT"},
    {SYS_sendfile, "sendfile", "hfbl"},
    {SYS_read, "read", "hbl"},
    {SYS_write, "write", "hbl"},
    {SYS_readv, "readv", "hvi"},
    {SYS_writev, "writev", "hvi"},
    {SYS_ioctl, "ioctl", "hrw"},
    {SYS_ppoll, "ppoll", "eiTS8"},
    {SYS_epoll_ctl, "epoll_ctl", "hihE"},
    {SYS_epoll_ctl, "epoll_ctl", "hihE"},
    {SYS_epoll_pwait, "epoll_pwait", "hbiWS8"},
    {SYS_close, "close", "h"},
    {SYS_dup, "dup", "h"},
};

const unsigned socket_row_count = sizeof socket_rows / sizeof socket_rows[0];

/* ---- Numbers --------------------------------------------------------------------------------- */

static uint64_t socket_descriptor(struct maker *m)
{
    struct random *r = &m->random;

    return random_one_in(r, 12) ? descriptor(m)
                                : SOCKETS_FIRST + random_below(r, SOCKETS_END - SOCKETS_FIRST + 4);
}

static uint64_t type_of_socket(struct maker *m)
{
    static const uint64_t types[] = {SOCK_STREAM, SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM,
                                     SOCK_DGRAM,  SOCK_DGRAM,  SOCK_RAW,    SOCK_SEQPACKET};
    struct random *r = &m->random;
    uint64_t type = random_one_in(r, 16) ? number(m) : PICK(r, types);

    type |= random_one_in(r, 4) ? 0 : SOCK_NONBLOCK;
    return type | (random_one_in(r, 4) ? SOCK_CLOEXEC : 0);
}

static uint64_t address_length(struct maker *m)
{
    static const uint64_t sizes[] = {sizeof(struct sockaddr_in),
                                     sizeof(struct sockaddr_in),
                                     sizeof(struct sockaddr_un),
                                     sizeof(struct sockaddr_un),
                                     sizeof(struct sockaddr_storage),
                                     2,
                                     4,
                                     5,
                                     8};
    struct random *r = &m->random;

    return random_one_in(r, 8) ? length(m) : PICK(r, sizes);
}

static uint64_t message_flags(struct maker *m)
{
    struct random *r = &m->random;
    uint64_t f = random_one_in(r, 16) ? random_next(r) : 0;

    for (unsigned i = (unsigned)random_below(r, 3); i; i--)
        f |= 1ull << (random_one_in(r, 8) ? random_below(r, 32) : random_below(r, 17));
    return random_one_in(r, 6) ? f : f | MSG_DONTWAIT;
}

static uint64_t level(struct maker *m)
{
    static const uint64_t levels[] = {SOL_SOCKET,  SOL_SOCKET,  SOL_SOCKET,  IPPROTO_IP,
                                      IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6};

    return random_one_in(&m->random, 16) ? number(m) : PICK(&m->random, levels);
}

static uint64_t request(struct maker *m)
{
    static const uint64_t requests[] = {FIONREAD, FIONBIO, 0x5411, 0x8905, 0x8906, 0x8907};
    struct random *r = &m->random;

    return random_one_in(r, 2) ? PICK(r, requests) : 0x8900 + random_below(r, 0x60);
}

/* ---- Structures ------------------------------------------------------------------------------ */

static size_t fill_address(struct random *r, struct sockaddr_storage *out)
{
    static const uint32_t hosts[] = {INADDR_LOOPBACK, INADDR_LOOPBACK, INADDR_LOOPBACK,
                                     INADDR_ANY,      0x7f000002,      INADDR_BROADCAST,
                                     0xe0000001,      0x0a000202};
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)(PORT + random_below(r, PORTS))),
                             .sin_addr.s_addr = htonl(PICK(r, hosts))};
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    memset(out, 0, sizeof *out);
    if (random_one_in(r, 8))
        in.sin_port = (uint16_t)(random_one_in(r, 2) ? 0 : random_next(r));
    un.sun_path[random_one_in(r, 2)] = 's';
    un.sun_path[2] = (char)('0' + random_below(r, 4));
    if (random_one_in(r, 2))
        memcpy(out, &in, sizeof in);
    else
        memcpy(out, &un, sizeof un);
    if (random_one_in(r, 16))
        out->ss_family = (sa_family_t)random_below(r, 48);
    return out->ss_family == AF_INET ? sizeof in : random_one_in(r, 4) ? 2 : sizeof un;
}

static uint64_t place_address(struct maker *m, unsigned i, uint64_t *bytes)
{
    struct sockaddr_storage a;

    *bytes = fill_address(&m->random, &a);
    return place(m, i, &a, sizeof a);
}

/* Control data: descriptors, credentials, an interface; now and then a wrong length. */
static uint64_t place_control(struct maker *m, unsigned i, uint64_t *bytes)
{
    static const struct {
        int level, type;
        size_t bytes;
    } parts[] = {
        {SOL_SOCKET, SCM_RIGHTS, 4},
        {SOL_SOCKET, SCM_RIGHTS, 12},
        {SOL_SOCKET, SCM_CREDENTIALS, sizeof(struct ucred)},
        {IPPROTO_IP, IP_PKTINFO, sizeof(struct in_pktinfo)},
        {IPPROTO_IP, IP_TTL, 4},
    };
    struct random *r = &m->random;
    uint8_t data[256] = {0};
    size_t at = 0;

    for (unsigned n = (unsigned)random_below(r, 3); n; n--) {
        unsigned k = (unsigned)random_below(r, sizeof parts / sizeof parts[0]);
        struct cmsghdr head = {CMSG_LEN(parts[k].bytes), parts[k].level, parts[k].type};
        int words[3];
        for (unsigned w = 0; w < 3; w++)
            words[w] = (int)socket_descriptor(m);
        if (parts[k].type == SCM_CREDENTIALS)
            words[0] = m->pid, words[1] = words[2] = 0;
        if (random_one_in(r, 12))
            head.cmsg_len = length(m);
        memcpy(data + at, &head, sizeof head);
        memcpy(data + at + CMSG_LEN(0), words, sizeof words);
        at += CMSG_SPACE(parts[k].bytes);
    }
    *bytes = random_one_in(r, 12) ? length(m) : at;
    return place(m, i, data, sizeof data);
}

static struct msghdr message(struct maker *m, unsigned page)
{
    struct random *r = &m->random;
    struct msghdr h = {0};
    struct iovec part[4];
    uint64_t bytes = 0;

    for (unsigned k = 0; k < 4; k++)
        part[k] = (struct iovec){(void *)pointer(m), random_below(r, 300)};
    if (random_one_in(r, 3))
        part[0].iov_len = length(m);
    h.msg_iov = (void *)place(m, page, part, sizeof part);
    h.msg_iovlen = random_one_in(r, 16) ? number(m) : random_below(r, 5);
    if (random_one_in(r, 2)) {
        h.msg_name = (void *)place_address(m, page + 1, &bytes);
        h.msg_namelen = (socklen_t)bytes;
    }
    if (random_one_in(r, 2)) {
        h.msg_control = (void *)place_control(m, page + 2, &bytes);
        h.msg_controllen = bytes;
    }
    return h;
}

static uint64_t place_messages(struct maker *m, unsigned i)
{
    struct mmsghdr h[3] = {0};

    for (unsigned k = 0; k < 3; k++)
        h[k].msg_hdr = message(m, NESTED + 3 * k);
    return place(m, i, h, sizeof h);
}

static uint64_t place_message(struct maker *m, unsigned i)
{
    const struct msghdr h = message(m, NESTED);

    return place(m, i, &h, sizeof h);
}

static uint64_t place_event(struct maker *m, unsigned i)
{
    struct random *r = &m->random;
    struct epoll_event e = {.events = (uint32_t)(random_next(r) & random_next(r) & 0x20ff),
                            .data.u64 = random_next(r)};

    for (unsigned bit = 28; bit < 32; bit++)
        e.events |= random_one_in(r, 4) ? 1u << bit : 0;
    return place(m, i, &e, sizeof e);
}

static uint64_t place_value(struct maker *m, unsigned i)
{
    uint64_t words[8] = {number(m), number(m)};
    uint32_t low = (uint32_t)number(m);

    if (random_one_in(&m->random, 2))
        memcpy(words, &low, sizeof low);
    return place(m, i, words, sizeof words);
}

static uint64_t place_length(struct maker *m, unsigned i)
{
    uint32_t n = (uint32_t)address_length(m);

    return place(m, i, &n, sizeof n);
}

uint64_t make_socket_argument(struct maker *m, char kind, unsigned i)
{
    static const uint64_t families[] = {AF_UNIX, AF_INET, AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    struct random *r = &m->random;
    uint64_t bytes;

    switch (kind) {
    case 'h':
        return socket_descriptor(m);
    case 'D':
        return random_one_in(r, 16) ? number(m) : PICK(r, families);
    case 'Y':
        return type_of_socket(m);
    case 'R':
        return random_one_in(r, 6) ? number(m) : 0;
    case 'N':
        return place_address(m, i, &bytes);
    case 'B':
        return address_length(m);
    case 'z':
        return place_length(m, i);
    case 'G':
        return message_flags(m);
    case 'J':
        return level(m);
    case 'j':
        return random_one_in(r, 16) ? number(m) : random_below(r, 80);
    case 'y':
        return place_value(m, i);
    case 'H':
        return place_message(m, i);
    case 'V':
        return place_messages(m, i);
    case 'E':
        return place_event(m, i);
    case 'W':
        return random_below(r, 4);
    default:
        return request(m);
    }
}

/* ---- Sockets that calls find ----------------------------------------------------------------- */

#define FD(n) (SOCKETS_FIRST + (uint64_t)(n))

/* Moves a descriptor, if it is one. */
static void move(int64_t is, uint64_t to)
{
    if (is < 0 || (uint64_t)is == to)
        return;
    RAW(SYS_dup3, (uint64_t)is, to, 0);
    RAW(SYS_close, (uint64_t)is);
}

static void open_one(uint64_t to, uint64_t domain, uint64_t type)
{
    move(RAW(SYS_socket, domain, type | SOCK_NONBLOCK, 0), to);
}

static void open_pair(uint64_t to, uint64_t type)
{
    int ends[2] = {-1, -1};

    RAW(SYS_socketpair, AF_UNIX, type | SOCK_NONBLOCK, 0, (uint64_t)(uintptr_t)ends);
    move(ends[0], to);
    move(ends[1], to + 1);
}

static void with_address(int64_t call, uint64_t fd, const void *a, uint64_t bytes)
{
    RAW(call, fd, (uint64_t)(uintptr_t)a, bytes);
}

void open_sockets(uint64_t seed)
{
    const struct sockaddr_in in = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)(PORT + seed % PORTS)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_un un = {.sun_family = AF_UNIX,
                                   .sun_path = {0, 's', (char)('0' + seed % 4)}};
    const int one = 1;

    open_pair(FD(0), SOCK_STREAM);
    open_pair(FD(2), SOCK_DGRAM);
    open_pair(FD(4), SOCK_SEQPACKET);
    open_one(FD(6), AF_UNIX, SOCK_STREAM);
    with_address(SYS_bind, FD(6), &un, sizeof un);
    RAW(SYS_listen, FD(6), 4);
    open_one(FD(7), AF_UNIX, SOCK_DGRAM);
    with_address(SYS_bind, FD(7), &un, sizeof un);
    open_one(FD(8), AF_INET, SOCK_STREAM);
    RAW(SYS_setsockopt, FD(8), SOL_SOCKET, SO_REUSEADDR, (uint64_t)(uintptr_t)&one, sizeof one);
    with_address(SYS_bind, FD(8), &in, sizeof in);
    RAW(SYS_listen, FD(8), 4);
    open_one(FD(9), AF_INET, SOCK_STREAM);
    with_address(SYS_connect, FD(9), &in, sizeof in);
    move(RAW(SYS_accept4, FD(8), 0, 0, SOCK_NONBLOCK), FD(10));
    open_one(FD(11), AF_INET, SOCK_DGRAM);
    with_address(SYS_bind, FD(11), &in, sizeof in);
    open_one(FD(12), AF_INET, SOCK_DGRAM);
    with_address(SYS_connect, FD(12), &in, sizeof in);
    move(RAW(SYS_epoll_create1, 0), FD(13));
    for (unsigned i = 0; i < 13; i++) {
        struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | (i & 1 ? EPOLLET : 0)};
        RAW(SYS_epoll_ctl, FD(13), EPOLL_CTL_ADD, FD(i), (uint64_t)(uintptr_t)&e);
    }
    open_one(FD(14), AF_INET, SOCK_STREAM);
    open_one(FD(15), AF_UNIX, SOCK_STREAM);
}
