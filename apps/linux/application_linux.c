/* The calls of applications that start others, under Linux: the caller's own program alone. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "apps/libc/hpm.h"

enum { WORDS_MAX = 64 };

int application_start(char *const *argv, int argc)
{
    char *words[WORDS_MAX + 1];
    pid_t pid;

    if (argc > WORDS_MAX)
        return -E2BIG;
    for (int i = 0; i < argc; i++)
        words[i] = argv[i];
    words[argc] = NULL;
    int error = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ);
    return error ? -error : pid;
}

int application_wait(int pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
