/* Processes by descriptors: pidfd_open, pidfd_send_signal, waitid(P_PIDFD), clone(CLONE_PIDFD), and
 * poll. Prints TAP; the same under Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { ENDS = 500 };

static unsigned count, failed;
static volatile sig_atomic_t got, value;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static bool fails(long result, int error)
{
    return result == -1 && errno == error;
}

static int pid_open(int pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static int pid_send(int fd, int number, siginfo_t *info, unsigned flags)
{
    return (int)syscall(SYS_pidfd_send_signal, fd, number, info, flags);
}

static void note(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    got = info->si_pid;
    value = info->si_value.sival_int;
}

/* Returns a child that waits to be ended, and ends with 7 by SIGTERM. */
static int start(void)
{
    int ends[2], pid;
    char byte;

    pipe(ends);
    pid = fork();
    if (!pid) {
        close(ends[0]);
        signal(SIGTERM, SIG_DFL);
        write(ends[1], "", 1);
        for (;;)
            pause();
    }
    close(ends[1]);
    read(ends[0], &byte, 1);
    close(ends[0]);
    return pid;
}

static int ready(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

static void test_open(void)
{
    int fd = pid_open(getpid(), 0);

    check(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "of the caller itself; execve closes it");
    check(fails(read(fd, &(char){0}, 1), EINVAL), "it has no bytes");
    close(fd);
    check(fails(pid_open(0, 0), EINVAL) && fails(pid_open(-1, 0), EINVAL), "no pid: EINVAL");
    check(fails(pid_open(getpid(), 1), EINVAL), "an unknown flag: EINVAL");
    check(fails(pid_open(0x3fffff, 0), ESRCH), "no process: ESRCH");
}

static void test_signal(void)
{
    struct sigaction act = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
    int fd = pid_open(getpid(), 0), null = open("/dev/null", O_RDWR);

    sigaction(SIGUSR1, &act, NULL);
    check(!pid_send(fd, SIGUSR1, NULL, 0) && got == getpid(), "a signal to itself");
    info.si_value.sival_int = 42;
    check(!pid_send(fd, SIGUSR1, &info, 0) && value == 42, "with a value");
    check(fails(pid_send(fd, SIGUSR2, &info, 0), EINVAL), "of another signal: EINVAL");
    check(!pid_send(fd, 0, NULL, 0), "signal 0");
    check(fails(pid_send(fd, SIGUSR1, NULL, 1u << 20), EINVAL), "an unknown flag: EINVAL");
    check(fails(pid_send(null, SIGUSR1, NULL, 0), EBADF), "of another file: EBADF");
    check(fails(pid_send(99, SIGUSR1, NULL, 0), EBADF), "of none: EBADF");
    close(null);
    close(fd);
    char name[32];
    snprintf(name, sizeof(name), "/proc/%d", (int)getpid());
    int folder = open(name, O_RDONLY | O_DIRECTORY), file = open("/proc/self/stat", O_RDONLY);
    check(!pid_send(folder, 0, NULL, 0) && fails(pid_send(file, 0, NULL, 0), EBADF) &&
              fails(pid_send(open("/proc", O_RDONLY), 0, NULL, 0), EBADF),
          "a process's folder in /proc stands for it, too");
    close(file);
    close(folder);
}

static void test_end(void)
{
    int pid = start(), fd = pid_open(pid, 0), set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = 5}, found;
    siginfo_t info = {0};

    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    check(!ready(fd, 0) && epoll_wait(set, &found, 1, 0) == 0, "poll finds nothing while it runs");
    info.si_pid = 1;
    check(!waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG) && info.si_pid == 0,
          "waitid finds nothing");
    check(!pid_send(fd, SIGTERM, NULL, 0), "it is sent a signal");
    check(ready(fd, 5000) == POLLIN, "poll finds its end");
    check(epoll_wait(set, &found, 1, 5000) == 1 && found.data.fd == 5, "so does epoll");
    check(!pid_send(fd, 0, NULL, 0), "a process that has ended gets signals");
    check(!waitid(P_PIDFD, (id_t)fd, &info, WEXITED) && info.si_pid == pid &&
              info.si_status == SIGTERM && info.si_code == CLD_KILLED,
          "waitid tells how");
    check(fails(pid_send(fd, 0, NULL, 0), ESRCH), "then it gets none");
    check(ready(fd, 0) & POLLIN, "poll still finds its end");
    check(fails(waitid(P_PIDFD, (id_t)fd, &info, WEXITED), ECHILD), "waitid has no such child");
    check(fails(waitid(P_PIDFD, 99, &info, WEXITED), EBADF), "no descriptor: EBADF");
    check(fails(pid_open(pid, 0), ESRCH), "it is not opened again");
    close(set);
    close(fd);
}

static void test_nonblock(void)
{
    int pid = start(), fd = pid_open(pid, O_NONBLOCK);
    siginfo_t info;

    check(fd >= 0 && fails(waitid(P_PIDFD, (id_t)fd, &info, WEXITED), EAGAIN),
          "of one that does not wait: EAGAIN");
    kill(pid, SIGKILL);
    ready(fd, 5000);
    check(!waitid(P_PIDFD, (id_t)fd, &info, WEXITED), "but once it has ended");
    close(fd);
}

static void test_clone(void)
{
    int fd = -1, pid;
    struct clone_args args = {
        .flags = CLONE_PIDFD, .pidfd = (uintptr_t)&fd, .exit_signal = SIGCHLD};
    siginfo_t info;

    pid = (int)syscall(SYS_clone3, &args, sizeof(args));
    if (!pid)
        _exit(fcntl(3, F_GETFD) < 0 ? 9 : 8);
    check(pid > 0 && fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "clone3 gives one of the child");
    check(!waitid(P_PIDFD, (id_t)fd, &info, WEXITED) && info.si_pid == pid, "which is waited for");
    check(info.si_status == 9, "the child does not have it");
    close(fd);
    pid = (int)syscall(SYS_clone, (long)(CLONE_PIDFD | SIGCHLD), 0, &fd, 0, 0);
    if (!pid)
        _exit(0);
    check(pid > 0 && !waitid(P_PIDFD, (id_t)fd, &info, WEXITED) && info.si_pid == pid,
          "so does clone");
    close(fd);
    args.pidfd = 8;
    check(fails(syscall(SYS_clone3, &args, sizeof(args)), EFAULT), "a bad address: EFAULT");
    check(fails(wait(NULL), ECHILD), "makes no child");
}

/* Returns the state that /proc tells of a process, or 0: it tells nothing. */
static char state_of(int pid)
{
    char path[32], text[128] = "";

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *name_end = n > 0 ? strrchr(text, ')') : NULL;
    return name_end ? name_end[2] : 0;
}

/* A process that ends is there until it has been waited for. */
static void test_states(void)
{
    unsigned gone = 0;
    char state;

    for (int i = 0; i < ENDS; i++) {
        int pid = fork();
        if (!pid)
            _exit(0);
        do {
            state = state_of(pid);
            gone += !state;
        } while (state && state != 'Z');
        waitpid(pid, NULL, 0);
    }
    check(!gone, "/proc tells of a process until it has been waited for");
}

int main(void)
{
    test_open();
    test_signal();
    test_end();
    test_nonblock();
    test_clone();
    test_states();
    printf("1..%u\n", count);
    return failed != 0;
}
