/*
 * Starts a server and then its clients, on Vigil and on Linux, which differ in how a program starts
 * another:
 *
 *   beside at=PLACE SERVER word... -- CLIENT word... [-- CLIENT word...]
 *
 * PLACE is the path of a socket of AF_UNIX or a TCP port of 127.0.0.1: the first client starts as
 * soon as a connection is accepted there, the others one after the other. Then the server gets
 * SIGTERM. The status is that of the first client that fails, or else the server's: 128 and the
 * signal's number if one ended it. The simulated machine gets a mark "client" in front of each
 * client and "served" behind it.
 */
#define _GNU_SOURCE
#include "kernel/proc/abi.h"
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tools/linux-machine.h"

extern char **environ;

enum { NO_SERVER = 125, NOT_STARTED = 127, PAUSE_MS = 10, TRIES = 3000 };

/* Starts a program. Returns its pid, or a negative error. */
static int start(char **words)
{
    static char text[SYS_ARGS_BYTES];
    size_t used = 0;
    pid_t pid;

    for (char **w = words; *w; w++) {
        size_t n = strlen(*w) + 1;
        if (n > sizeof text - used)
            return -E2BIG;
        memcpy(text + used, *w, n);
        used += n;
    }
    long own = syscall(SYS_SPAWN, text, used);
    if (own >= 0 || errno != ENOSYS)
        return own >= 0 ? (int)own : -errno;
    int err = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
    return err ? -err : pid;
}

/* Waits for the end of a program. Returns its status. */
static int await_end(int pid)
{
    int status;

    long own = syscall(SYS_WAIT, pid);
    if (own >= 0 || errno != ENOSYS)
        return (int)own;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns whether a program has ended. */
static int has_ended(int pid)
{
    siginfo_t info = {0};
    char path[32];

    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    return access(path, F_OK) ||
           (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid);
}

/* Sets a mark in the simulated machine's ground truth. */
static void set_mark(const char *label)
{
    if (syscall(SYS_MARK, label))
        mark(label);
}

/* Returns whether a connection to the place is accepted. */
static int is_open(const char *place)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int is_path = place[0] == '/';

    snprintf(un.sun_path, sizeof un.sun_path, "%s", place);
    in.sin_port = htons((unsigned short)atoi(place));
    int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int open = fd >= 0 && !(is_path ? connect(fd, (struct sockaddr *)&un, sizeof un)
                                    : connect(fd, (struct sockaddr *)&in, sizeof in));
    if (fd >= 0)
        close(fd);
    return open;
}

/* Waits until the place is open. Returns 0, or -1 if that takes too long or the
 * server ends. */
static int await_open(const char *place, int server)
{
    for (int i = 0; i < TRIES; i++) {
        if (is_open(place))
            return 0;
        if (has_ended(server))
            break;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    fprintf(stderr, "beside: event=no_server at=%s: nothing accepts connections there\n", place);
    return -1;
}

/* Ends a list of words at the next "--". Returns what follows, NULL at the end.
 */
static char **cut(char **words)
{
    for (; *words; words++)
        if (!strcmp(*words, "--")) {
            *words = NULL;
            return words + 1;
        }
    return NULL;
}

/* Runs the clients, until one fails. Returns its status, or 0. */
static int run_clients(char **words)
{
    int status = 0;

    while (words && *words && !status) {
        char **next = cut(words);
        set_mark("client");
        int pid = start(words);
        if (pid < 0)
            fprintf(stderr, "beside: event=not_started app=%s: %s\n", words[0], strerror(-pid));
        status = pid < 0 ? NOT_STARTED : await_end(pid);
        set_mark("served");
        words = next;
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 5 || strncmp(argv[1], "at=", 3)) {
        fprintf(stderr, "beside: usage: beside at=PLACE SERVER word... -- CLIENT word...\n");
        return NO_SERVER;
    }
    if (syscall(SYS_MARK, "beside"))
        find_machine();
    const char *place = argv[1] + 3;
    char **clients = cut(argv + 2);
    int server = start(argv + 2);
    if (server < 0) {
        fprintf(stderr, "beside: event=not_started app=%s: %s\n", argv[2], strerror(-server));
        return NOT_STARTED;
    }
    int status = await_open(place, server) ? NO_SERVER : run_clients(clients);
    kill(server, SIGTERM);
    int ended = await_end(server);
    return status ? status : ended;
}
