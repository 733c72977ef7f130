/*
 * Runs the programs of a list one after the other, under Vigil and under Linux, and prints how each
 * ended. Words: the list's file, the number of the first program to run, seconds that a program may
 * take. A line of the list is a program's path and its arguments, with blanks between them.
 *
 *   case: number=3 begins
 *   case: number=3 status=0
 *
 * stand before and behind a program's output. Status: as a shell has it, 128 and a signal's number;
 * 124 for a program that had to be ended.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 512,
    WORDS_MAX = 32,
    NOT_FOUND = 127,
    SIGNALLED = 128,
    TIMED_OUT = 124,
    TICK_MS = 20
};

static atomic_int running; /* pid of the program that the watch may end; 0: none */
static atomic_bool ended;  /* the watch has ended it */
static unsigned limit_s;

static void end_program(int pid)
{
    ended = true;
    if (kill(-pid, SIGKILL))
        kill(pid, SIGKILL);
}

/* Ends programs that take too long. A program's time begins when its number is first seen. */
static void *watch(void *unused)
{
    struct timespec tick = {0, TICK_MS * 1000000L};
    int seen = 0;
    unsigned ticks = 0;

    for (;; ticks++) {
        nanosleep(&tick, NULL);
        int pid = running;
        if (pid != seen)
            ticks = 0;
        seen = pid;
        if (pid && ticks == limit_s * 1000 / TICK_MS)
            end_program(pid);
    }
    return unused;
}

static int wait_for(int pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_FOUND;
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(char *line)
{
    char *words[WORDS_MAX + 1] = {NULL}, *rest = line;
    struct rlimit none = {0, 0};

    for (int n = 0; n < WORDS_MAX && (words[n] = strtok_r(rest, " ", &rest)); n++)
        ;
    int pid = fork();
    if (!pid) {
        setpgid(0, 0);
        setrlimit(RLIMIT_CORE, &none);
        if (freopen("/dev/null", "r", stdin))
            execv(words[0], words);
        _exit(NOT_FOUND);
    }
    running = pid;
    int status = wait_for(pid);
    running = 0;
    kill(-pid, SIGKILL); /* what it may have left behind */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return status;
}

int main(int argc, char **argv)
{
    char line[LINE_BYTES];
    pthread_t thread;
    FILE *list = argc == 4 ? fopen(argv[1], "r") : NULL;

    if (!list)
        return fprintf(stderr, "runner: no list of programs\n"), 1;
    limit_s = (unsigned)atoi(argv[3]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_create(&thread, NULL, watch, NULL);
    for (int number = 0; fgets(line, sizeof line, list); number++) {
        line[strcspn(line, "\n")] = 0;
        if (number < atoi(argv[2]))
            continue;
        printf("\ncase: number=%d begins\n", number);
        ended = false;
        int status = run(line);
        printf("\ncase: number=%d status=%d\n", number, ended ? TIMED_OUT : status);
    }
    printf("\ncase: end\n");
    return 0;
}
