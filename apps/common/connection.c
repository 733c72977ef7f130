/* See connection.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "apps/common/connection.h"

const char *const address_names[] = {"local", "tcp", NULL};

/* An address of either family. */
union any_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
};

static socklen_t fill_address(const struct address *a, union any_address *out)
{
    memset(out, 0, sizeof *out);
    if (a->local) { /* a name that is in no folder */
        out->un.sun_family = AF_UNIX;
        int n = snprintf(out->un.sun_path + 1, sizeof out->un.sun_path - 1, "vigil-%u", a->port);
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    }
    out->in.sin_family = AF_INET;
    out->in.sin_port = htons(a->port);
    out->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof out->in;
}

/* What is written is sent at once. */
static void set_no_delay(const struct address *a, int fd)
{
    int on = 1;

    if (!a->local)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int stream_socket(const struct address *a)
{
    return socket(a->local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
}

int address_listen(const struct address *a, unsigned backlog)
{
    union any_address address;
    socklen_t n = fill_address(a, &address);
    int fd = stream_socket(a), on = 1;

    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) &&
        !bind(fd, &address.any, n) && !listen(fd, (int)backlog))
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

int address_accept(const struct address *a, int listening)
{
    int fd;

    while ((fd = accept(listening, NULL, NULL)) < 0 && errno == EINTR)
        ;
    if (fd >= 0)
        set_no_delay(a, fd);
    return fd;
}

int address_connect(const struct address *a)
{
    union any_address address;
    socklen_t n = fill_address(a, &address);
    int fd = stream_socket(a);

    if (fd >= 0 && connect(fd, &address.any, n)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    if (fd >= 0)
        set_no_delay(a, fd);
    return fd;
}

bool send_all(int fd, const void *from, uint32_t n)
{
    while (n) {
        ssize_t sent = send(fd, from, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        from = (const char *)from + sent;
        n -= (uint32_t)sent;
    }
    return true;
}

bool receive_all(int fd, void *to, uint32_t n)
{
    while (n) {
        ssize_t got = recv(fd, to, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to = (char *)to + got;
        n -= (uint32_t)got;
    }
    return true;
}
