/* See program.h. */
#include "apps/tools/measuring/program.h"
#include <errno.h>
#include <string.h>
#include "apps/libc/hpm.h"

static void *wait_for_end(void *arg)
{
    struct program *p = arg;
    int status = application_wait(p->pid);

    pthread_mutex_lock(&p->lock);
    p->status = status;
    p->ended = true;
    pthread_cond_signal(&p->end);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_program(struct program *p, char *const *argv, int argc)
{
    *p = (struct program){.lock = PTHREAD_MUTEX_INITIALIZER, .end = PTHREAD_COND_INITIALIZER};
    clock_gettime(CLOCK_MONOTONIC, &p->began);
    if (!argc)
        return 0;
    int pid = application_start(argv, argc);
    if (pid < 0)
        return pid;
    p->pid = pid;
    return -pthread_create(&p->waiter, NULL, wait_for_end, p);
}

int program_parse_or_exit(const struct args_table *table, int argc, char **argv)
{
    int own = 1;

    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    args_parse_or_exit(table, own, argv);
    return own < argc ? own + 1 : argc;
}

void program_begin_or_exit(struct program *p, const struct args_table *table, char *const *argv,
                           int argc)
{
    int err = start_program(p, argv, argc);

    if (err)
        args_refuse(table, "program", args_reason(err), "%s cannot be started: %s", argv[0],
                    strerror(-err));
}

FILE *program_open_report_or_exit(const struct args_table *table, const char *path)
{
    if (!*path)
        return NULL;
    FILE *report = fopen(path, "a");
    if (!report)
        args_refuse(table, "out", args_reason(-errno), "%s cannot be opened: %s", path,
                    strerror(errno));
    setvbuf(report, NULL, _IOLBF, BUFSIZ);
    return report;
}

void program_report_to(FILE *report)
{
    if (!report)
        return;
    fflush(stdout);
    stdout = report;
}

bool program_sleep(struct program *p, uint64_t ms)
{
    struct timespec until;
    int err = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&p->lock);
    while (!p->ended && err != ETIMEDOUT)
        err = pthread_cond_timedwait(&p->end, &p->lock, &until);
    bool ended = p->ended;
    pthread_mutex_unlock(&p->lock);
    return !ended;
}

double program_ms(const struct program *p)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - p->began.tv_sec) * 1e3 +
           (double)(now.tv_nsec - p->began.tv_nsec) / 1e6;
}

int program_end(struct program *p)
{
    if (p->pid)
        pthread_join(p->waiter, NULL);
    return p->status;
}
