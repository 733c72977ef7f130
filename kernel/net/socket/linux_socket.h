/* Numbers and structures of Linux's socket calls; those that its headers for programs lack, which
 * leave them to the C library. */
#pragma once
#include "kernel/lib/base.h"
#if __STDC_HOSTED__
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#define __kernel_sockaddr_storage sockaddr_storage
#else
#include <asm/socket.h>
#include <asm/sockios.h>
#include <linux/socket.h>
#include <linux/time_types.h>
#include <linux/uio.h>
#include <linux/un.h>

enum {
    AF_UNSPEC = 0,
    AF_UNIX = 1,
    AF_INET = 2,
    AF_BRIDGE = 7,
    AF_INET6 = 10,
    AF_NETLINK = 16,
    AF_PACKET = 17,
    AF_MAX = 46
};

enum {
    SOCK_STREAM = 1,
    SOCK_DGRAM = 2,
    SOCK_RAW = 3,
    SOCK_RDM = 4,
    SOCK_SEQPACKET = 5,
    SOCK_DCCP = 6,
    SOCK_PACKET = 10,
    SOCK_CLOEXEC = 02000000,
    SOCK_NONBLOCK = 04000,
};

enum { SHUT_RD, SHUT_WR, SHUT_RDWR };

enum {
    MSG_OOB = 0x1,
    MSG_PEEK = 0x2,
    MSG_DONTROUTE = 0x4,
    MSG_CTRUNC = 0x8,
    MSG_TRUNC = 0x20,
    MSG_DONTWAIT = 0x40,
    MSG_EOR = 0x80,
    MSG_WAITALL = 0x100,
    MSG_ERRQUEUE = 0x2000,
    MSG_NOSIGNAL = 0x4000,
    MSG_MORE = 0x8000,
    MSG_WAITFORONE = 0x10000,
    MSG_CMSG_CLOEXEC = 0x40000000,
};

enum { SCM_RIGHTS = 1, SCM_CREDENTIALS = 2 };

struct linger {
    int l_onoff, l_linger; /* seconds */
};

/* What sendmsg(2) and recvmsg(2) get. */
struct msghdr {
    void *msg_name;
    int msg_namelen;
    struct iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control;
    size_t msg_controllen;
    unsigned msg_flags;
};

struct mmsghdr {
    struct msghdr msg_hdr;
    unsigned msg_len;
};

/* The head of each part of a message's control data. */
struct cmsghdr {
    size_t cmsg_len; /* with this head */
    int cmsg_level, cmsg_type;
};
#define CMSG_ALIGN(n) ALIGN_UP(n, sizeof(size_t))
#endif

/* Linux's struct ucred. */
struct socket_credentials {
    uint32_t pid, uid, gid;
};

#define SOCK_TYPE_MASK 0xf
#define SOCK_TYPES     11 /* above all types */
#undef SOMAXCONN
#define SOMAXCONN   4096
#define CONTROL_MAX 20480 /* bytes of control data that are taken: optmem_max */

/* Bytes that a socket's queues may have, as net.core's limits; options give twice what is asked. */
#define SOCKET_BUFFER        212992
#define SOCKET_BUFFER_MAX    (2 * SOCKET_BUFFER)
#define SOCKET_SEND_LEAST    4608
#define SOCKET_RECEIVE_LEAST 2304
