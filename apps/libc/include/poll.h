/* POSIX's poll, by Linux's numbers. */
#pragma once

#define POLLIN   1
#define POLLPRI  2
#define POLLOUT  4
#define POLLERR  8
#define POLLHUP  16
#define POLLNVAL 32

typedef unsigned long nfds_t;
struct pollfd {
    int fd;
    short events, revents;
};

/* Waits until one of the files is ready, or `ms` have passed; negative: for ever. */
int poll(struct pollfd *fds, nfds_t n, int ms);
