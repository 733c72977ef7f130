/* See programs.h. A thread waits for the program's end. */
#include "apps/tools/watchd/programs.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "apps/libc/state.h"

static char command[256];
static int pid;     /* 0: none was started */
static int running; /* atomic */
static int status;  /* valid when it does not run */

static void *wait_for_it(void *unused)
{
    (void)unused;
    status = application_wait(pid);
    __atomic_store_n(&running, 0, __ATOMIC_RELEASE);
    return NULL;
}

static bool is_running(void)
{
    return __atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

/* Splits at blanks. Returns the number of words. */
static int split(char *words, char *argv[SYS_ARGS_MAX + 1])
{
    int n = 0;
    char *rest = words;

    for (char *w; n < SYS_ARGS_MAX && (w = strtok_r(rest, " \t\r\n", &rest));)
        argv[n++] = w;
    argv[n] = NULL;
    return n;
}

/* Obeys the assignments in front of the program's name. Returns their number, or an error. */
static int assign(char *const *argv, int n, char *why, size_t size)
{
    int i = 0;

    for (; i < n && strchr(argv[i], '='); i++) {
        int err = knob_set(argv[i], why, size);
        if (err)
            return err;
    }
    return i;
}

static int begin(char *const *argv, int n)
{
    pthread_t waiter;

    pid = application_start(argv, n);
    if (pid < 0) {
        int err = pid;
        pid = 0;
        return err;
    }
    running = 1;
    if (!pthread_create(&waiter, NULL, wait_for_it, NULL))
        pthread_detach(waiter);
    return pid;
}

int programs_start(char *words, char *why, size_t size)
{
    char *argv[SYS_ARGS_MAX + 1];

    if (is_running()) {
        snprintf(why, size, "process %d runs: stop it first", pid);
        return -EBUSY;
    }
    snprintf(command, sizeof command, "%.255s", words);
    int n = split(words, argv), first = assign(argv, n, why, size);
    if (first < 0)
        return first;
    if (first == n) {
        snprintf(why, size, "no program is named");
        return -EINVAL;
    }
    int begun = begin(argv + first, n - first);
    if (begun < 0)
        snprintf(why, size, "%s cannot be started: the console says why", argv[first]);
    return begun;
}

int programs_stop(void)
{
    return is_running() && !kill(pid, SIGKILL) ? 0 : -ESRCH;
}

void programs_show(struct text *t)
{
    if (!pid) {
        text_say(t, "null");
        return;
    }
    bool runs = is_running();
    text_say(t, "{\"pid\":%d,\"running\":%s,\"status\":%d,\"command\":", pid,
             runs ? "true" : "false", runs ? 0 : status);
    text_json(t, command);
    text_say(t, "}");
}
