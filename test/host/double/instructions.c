/* Instructions of a piece of code: ptrace(2), PTRACE_SINGLESTEP between two signals of the child's
 * own. */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/host/double/instructions.h"

static void nothing(void *data)
{
    (void)data;
}

static void child(void (*work)(void *), void *data)
{
    if (ptrace(PTRACE_TRACEME, 0, 0, 0))
        _exit(1);
    raise(SIGSTOP);
    work(data);
    raise(SIGUSR1);
    _exit(0);
}

/* From one signal to the other, with what they take themselves. */
static uint64_t steps_of(void (*work)(void *), void *data)
{
    uint64_t steps = 0;
    int status;
    pid_t pid = fork();

    if (pid == 0)
        child(work, data);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return UINT64_MAX;
    while (!ptrace(PTRACE_SINGLESTEP, pid, 0, 0) && waitpid(pid, &status, 0) == pid &&
           WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
        steps++;
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return steps;
}

uint64_t instructions_of(void (*work)(void *), void *data)
{
    uint64_t with = steps_of(work, data), without = steps_of(nothing, NULL);

    return with == UINT64_MAX || with < without ? UINT64_MAX : with - without;
}
