/* The families of sockets that are built; see socket.h. */
#include "kernel/net/socket/socket.h"

const struct socket_family *const socket_families[] = {
    NULL,
};
