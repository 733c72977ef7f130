/* The families of sockets that are built; see socket.h. */
#include "kernel/net/socket/inet.h"
#include "kernel/net/socket/netlink.h"
#include "kernel/net/socket/socket.h"
#include "kernel/net/socket/unix.h"

const struct socket_family *const socket_families[] = {
    &inet_family,
    &unix_family,
    &netlink_family,
    NULL,
};
