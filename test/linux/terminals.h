/* What tests of pseudo-terminals have in common. */
#pragma once
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

static unsigned count, failed;

static inline void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static inline bool fails(long result, int with)
{
    return result == -1 && errno == with;
}

static inline void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static inline short ready(int fd, int ms)
{
    struct pollfd p = {fd, POLLIN | POLLOUT, 0};

    return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

static inline short readable(int fd, int ms)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

static char name[32];

/* Makes a pseudo-terminal that can be opened. Returns its master; its name in `name`. */
static inline int make(void)
{
    int unlocked = 0, number = -1, master = open("/dev/ptmx", O_RDWR | O_NOCTTY);

    ioctl(master, TIOCSPTLCK, &unlocked);
    ioctl(master, TIOCGPTN, &number);
    snprintf(name, sizeof(name), "/dev/pts/%d", number);
    return master;
}

/* Reads what comes within a moment, and compares it. */
static inline bool reads(int fd, const char *text)
{
    char got[256];
    size_t n = 0, want = strlen(text);

    while (n < want && (readable(fd, 2000) & POLLIN)) {
        ssize_t part = read(fd, got + n, want - n);
        if (part <= 0)
            break;
        n += (size_t)part;
    }
    return n == want && !memcmp(got, text, n);
}

static inline bool has(int fd)
{
    return readable(fd, 50) & POLLIN;
}

static inline bool types(int fd, const char *text)
{
    return write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static inline int done(void)
{
    printf("1..%u\n", count);
    return failed != 0;
}
