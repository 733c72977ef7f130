/* Sockets, by Linux's calls. */
#include <poll.h>
#include <sys/socket.h>
#include "apps/libc/libc.h"

POSIX int socket(int family, int type, int protocol)
{
    return posix_result(syscall3(SYS_socket, family, type, protocol));
}

POSIX int socketpair(int family, int type, int protocol, int pair[2])
{
    return posix_result(syscall4(SYS_socketpair, family, type, protocol, pair));
}

POSIX int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    return posix_result(syscall3(SYS_bind, fd, address, bytes));
}

POSIX int listen(int fd, int backlog)
{
    return posix_result(syscall2(SYS_listen, fd, backlog));
}

POSIX int accept(int fd, struct sockaddr *address, socklen_t *bytes)
{
    return posix_result(syscall3(SYS_accept, fd, address, bytes));
}

POSIX int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
    return posix_result(syscall3(SYS_connect, fd, address, bytes));
}

POSIX int shutdown(int fd, int how)
{
    return posix_result(syscall2(SYS_shutdown, fd, how));
}

POSIX int getsockname(int fd, struct sockaddr *address, socklen_t *bytes)
{
    return posix_result(syscall3(SYS_getsockname, fd, address, bytes));
}

POSIX int getpeername(int fd, struct sockaddr *address, socklen_t *bytes)
{
    return posix_result(syscall3(SYS_getpeername, fd, address, bytes));
}

POSIX int setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
    return posix_result(syscall5(SYS_setsockopt, fd, level, name, value, bytes));
}

POSIX int getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
    return posix_result(syscall5(SYS_getsockopt, fd, level, name, value, bytes));
}

POSIX ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *address,
                     socklen_t bytes)
{
    return posix_result(syscall6(SYS_sendto, SYSCALL_ARG(fd), SYSCALL_ARG(buf), n,
                                 SYSCALL_ARG(flags), SYSCALL_ARG(address), bytes));
}

POSIX ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *address,
                       socklen_t *bytes)
{
    return posix_result(syscall6(SYS_recvfrom, SYSCALL_ARG(fd), SYSCALL_ARG(buf), n,
                                 SYSCALL_ARG(flags), SYSCALL_ARG(address), SYSCALL_ARG(bytes)));
}

POSIX ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    return sendto(fd, buf, n, flags, NULL, 0);
}

POSIX ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    return recvfrom(fd, buf, n, flags, NULL, NULL);
}

POSIX int poll(struct pollfd *fds, nfds_t n, int ms)
{
    const struct {
        int64_t seconds, ns;
    } time = {ms / 1000, ms % 1000 * 1000000};

    return posix_result(syscall5(SYS_ppoll, fds, n, ms < 0 ? NULL : &time, 0, 0));
}
