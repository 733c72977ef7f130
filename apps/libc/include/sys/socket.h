/* POSIX's sockets, by Linux's numbers. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint32_t socklen_t;
typedef uint16_t sa_family_t;

#define AF_UNSPEC 0
#define AF_UNIX   1
#define AF_LOCAL  AF_UNIX
#define AF_INET   2

#define SOCK_STREAM    1
#define SOCK_DGRAM     2
#define SOCK_SEQPACKET 5
#define SOCK_NONBLOCK  0x800
#define SOCK_CLOEXEC   0x80000

#define SOL_SOCKET   1
#define SO_REUSEADDR 2
#define SO_TYPE      3
#define SO_ERROR     4
#define SO_SNDBUF    7
#define SO_RCVBUF    8
#define SO_KEEPALIVE 9
#define SO_LINGER    13
#define SO_REUSEPORT 15

#define MSG_PEEK     2
#define MSG_DONTWAIT 0x40
#define MSG_WAITALL  0x100
#define MSG_NOSIGNAL 0x4000

#define SHUT_RD   0
#define SHUT_WR   1
#define SHUT_RDWR 2

#define SOMAXCONN 4096

struct sockaddr {
    sa_family_t sa_family;
    char sa_data[14];
};

int socket(int family, int type, int protocol);
int socketpair(int family, int type, int protocol, int pair[2]);
int bind(int fd, const struct sockaddr *address, socklen_t bytes);
int listen(int fd, int backlog);
int accept(int fd, struct sockaddr *address, socklen_t *bytes);
int connect(int fd, const struct sockaddr *address, socklen_t bytes);
int shutdown(int fd, int how);
int getsockname(int fd, struct sockaddr *address, socklen_t *bytes);
int getpeername(int fd, struct sockaddr *address, socklen_t *bytes);
int setsockopt(int fd, int level, int name, const void *value, socklen_t bytes);
int getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
ssize_t send(int fd, const void *buf, size_t n, int flags);
ssize_t recv(int fd, void *buf, size_t n, int flags);
ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *address,
               socklen_t bytes);
ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *address,
                 socklen_t *bytes);
