/* Options of TCP's sockets. */
#pragma once

#define TCP_NODELAY 1
