/*
 * Job control of the console: what a shell does with its jobs. Typed to it after
 * its second check "^C" and a line's end, after its fourth "^Z" and another. Prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

enum job { SLEEP, READ, TAKE };

/* Starts a job in a group of its own, in front or not. */
static pid_t start(enum job what, bool front)
{
    pid_t pid = fork();

    if (!pid) {
        char c;
        signal(SIGTTOU, SIG_DFL);
        while (getpgrp() != getpid())
            usleep(1000);
        if (what == READ)
            _exit(read(0, &c, 1) == 1 ? 0 : errno);
        if (what == TAKE)
            _exit(tcsetpgrp(0, getpgrp()) ? errno : 0);
        for (;;)
            pause();
    }
    if (front)
        tcsetpgrp(0, pid); /* -1: it is no group yet */
    setpgid(pid, pid);
    if (front)
        check(tcsetpgrp(0, pid) == 0 && tcgetpgrp(0) == pid, "a shell puts a job in front");
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    waitpid(pid, &status, WUNTRACED);
    return status;
}

static void back_in_front(void)
{
    int c;

    tcsetpgrp(0, getpgrp());
    while ((c = getchar()) != EOF && c != '\n')
        ;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    check(tcgetpgrp(0) == getpgrp() && tcgetsid(0) == getsid(0), "an application has the console");
    signal(SIGTTOU, SIG_IGN);
    pid_t pid = start(SLEEP, true);
    int status = wait_for(pid);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "^C ends the job in front");
    back_in_front();
    pid = start(SLEEP, true);
    status = wait_for(pid);
    check(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP, "^Z stops it");
    back_in_front();
    kill(pid, SIGCONT);
    check(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status), "it goes on behind");
    end(pid);
    pid = start(READ, false);
    status = wait_for(pid);
    check(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN, "a job behind that reads is stopped");
    end(pid);
    pid = start(TAKE, false);
    status = wait_for(pid);
    check(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTOU,
          "... one that wants to the front, too");
    end(pid);
    check(tcsetpgrp(0, 0x3ffffff) == -1 && errno == ESRCH, "there is no such group");
    pid = fork();
    if (!pid) {
        setsid();
        _exit(tcgetpgrp(0) == -1 && errno == ENOTTY ? 0 : 1);
    }
    check(wait_for(pid) == 0, "another session has no console");
    printf("1..%u\n", count);
    return failed != 0;
}
