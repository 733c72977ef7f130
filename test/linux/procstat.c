/* What /proc says of processes: their state, threads, time and memory. Prints TAP; the same under
 * Linux. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static int wait_for(pid_t pid)
{
    int status = -1;

    return waitpid(pid, &status, 0) == pid ? status : -1;
}

struct seen {
    int pid, parent, group, session, threads, nice;
    char name[64], state;
    unsigned long long run, started, size;
    long resident;
};

/* Reads /proc/PATH/stat. Returns whether it has all that is looked at. */
static bool see(const char *path, struct seen *s)
{
    char name[64], text[1024];

    snprintf(name, sizeof(name), "/proc/%s/stat", path);
    FILE *f = fopen(name, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    memset(s, 0, sizeof(*s));
    return sscanf(text,
                  "%d (%63[^)]) %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %llu %*u %*u %*u %*d %d %d "
                  "%*d %llu %llu %ld",
                  &s->pid, s->name, &s->state, &s->parent, &s->group, &s->session, &s->run,
                  &s->nice, &s->threads, &s->started, &s->size, &s->resident) == 12;
}

static bool see_pid(pid_t pid, struct seen *s)
{
    char path[16];

    snprintf(path, sizeof(path), "%d", pid);
    return see(path, s);
}

/* Waits until a process is in a state. Returns whether it came. */
static bool comes_to(pid_t pid, char state, struct seen *s)
{
    for (int i = 0; i < 2000; i++) {
        if (see_pid(pid, s) && s->state == state)
            return true;
        usleep(1000);
    }
    return false;
}

static void *rest(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static pid_t start_with_threads(void)
{
    pthread_t t;
    pid_t pid = fork();

    if (!pid) {
        pthread_create(&t, NULL, rest, NULL);
        rest(NULL);
    }
    return pid;
}

static void test_proc(void)
{
    struct seen s;

    check(see("self", &s) && s.state == 'R' && s.pid == getpid() && s.parent == getppid() &&
              s.group == getpgrp() && s.session == getsid(0) && s.threads == 1,
          "/proc tells a process's number, parent, group and session");
    check(!strncmp(s.name, "procstat", 8) && s.resident > 0 && s.size > (size_t)s.resident * 4096,
          "... its name and memory");
    pid_t pid = start_with_threads();
    check(comes_to(pid, 'S', &s) && s.parent == getpid(), "a process that waits sleeps");
    for (int i = 0; i < 2000 && s.threads != 2; i++, usleep(1000))
        see_pid(pid, &s);
    check(s.threads == 2, "... with two threads");
    char path[64];
    struct seen thread;
    snprintf(path, sizeof(path), "%d/task/%d", pid, pid);
    check(see(path, &thread) && thread.pid == pid && thread.threads == 2, "... of which the first "
                                                                          "is in its folder task");
    kill(pid, SIGSTOP);
    check(comes_to(pid, 'T', &s), "one that was stopped is stopped");
    kill(pid, SIGKILL);
    check(comes_to(pid, 'Z', &s) && s.parent == getpid() && !s.resident,
          "one that has ended is a zombie without memory");
    check(wait_for(pid) == SIGKILL && !see_pid(pid, &s), "... until it has been waited for");
    pid = fork();
    if (!pid)
        for (;;)
            ;
    check(comes_to(pid, 'R', &s), "one that computes runs");
    struct seen later = s;
    for (int i = 0; i < 2000 && later.run < s.run + 2; i++, usleep(1000))
        see_pid(pid, &later);
    check(later.run >= s.run + 2 && later.started == s.started, "... and its time grows");
    cpu_set_t set;
    check(sched_getaffinity(pid, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0 &&
              sched_getscheduler(pid) == SCHED_OTHER,
          "another's CPUs and policy can be read");
    kill(pid, SIGKILL);
    wait_for(pid);
}

int main(void)
{
    pid_t pid = fork(); /* so that it has a parent, and a group that is not 1 */

    if (pid)
        return WEXITSTATUS(wait_for(pid));
    setpgid(0, 0);
    test_proc();
    printf("1..%u\n", count);
    return failed != 0;
}
