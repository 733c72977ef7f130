/* Addresses of AF_UNIX sockets. */
#pragma once
#include <sys/socket.h>

struct sockaddr_un {
    sa_family_t sun_family;
    char sun_path[108]; /* a path, or a NUL and a name that is in no folder */
};
