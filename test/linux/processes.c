/*
 * Processes: fork, vfork, execve, waits, groups, sessions, orphans. Prints TAP; the same under
 * Linux. Arguments make it do one thing as another program: "exit N", "echo WORDS", "sleep".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned count, failed;
static const char *self;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static volatile sig_atomic_t taken[65];
static siginfo_t last;

static void note(int n, siginfo_t *info, void *context)
{
    (void)context;
    taken[n]++;
    last = *info;
}

static void handle(int n, int flags)
{
    struct sigaction a = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | flags};

    sigaction(n, &a, NULL);
}

static int wait_for(pid_t pid)
{
    int status = -1;

    return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* ---- fork ------------------------------------------------------------------------------------ */

static __thread int of_thread = 5;

static void test_copies(void)
{
    int ends[2], value = 1, *heap = malloc(sizeof(*heap)), status;
    char *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double real = 1.5;

    *heap = 2;
    strcpy(map + 5000, "before");
    of_thread = 6;
    umask(027);
    fcntl(0, F_GETFD);
    (void)!pipe2(ends, O_CLOEXEC);
    pid_t pid = fork();
    if (!pid) {
        bool right = value == 1 && *heap == 2 && !strcmp(map + 5000, "before") && of_thread == 6 &&
                     real == 1.5 && getppid() != getpid() && umask(022) == 027 &&
                     fcntl(ends[1], F_GETFD) == FD_CLOEXEC && syscall(SYS_gettid) == getpid();
        value = *heap = of_thread = 9;
        strcpy(map + 5000, "child");
        (void)!write(ends[1], "x", 1);
        _exit(right ? 11 : 12);
    }
    char c = 0;
    (void)!read(ends[0], &c, 1);
    status = wait_for(pid);
    check(c == 'x' && WIFEXITED(status) && WEXITSTATUS(status) == 11,
          "a child has a copy of memory, registers, descriptors, umask");
    check(value == 1 && *heap == 2 && of_thread == 6 && !strcmp(map + 5000, "before"),
          "... and what it writes is its own");
    mprotect(map, 1 << 20, PROT_NONE);
    pid = fork();
    if (!pid) {
        mprotect(map, 1 << 20, PROT_READ);
        _exit(strcmp(map + 5000, "before") != 0);
    }
    check(wait_for(pid) == 0, "pages without rights are copied, too");
    munmap(map, 1 << 20);
    umask(022);
    close(ends[0]);
    close(ends[1]);
    free(heap);
}

static int tids[2];

static void test_clone(void)
{
    pid_t pid =
        (pid_t)syscall(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD, 0, &tids[0],
#ifdef __x86_64__
                       &tids[1], 0
#else
                       0, &tids[1]
#endif
        );
    if (!pid)
        _exit(tids[1] == getpid() ? 0 : 1);
    check(pid > 0 && tids[0] == pid && tids[1] == 0 && wait_for(pid) == 0,
          "clone stores the pid in the memory of each");
    check(syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) == -1 && errno == EINVAL,
          "... and refuses a thread without its memory");
}

static void test_storm(void)
{
    int sum = 0, ends = 0;

    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (!pid) {
            pid_t inner = fork();
            if (!inner)
                _exit(1);
            _exit(WEXITSTATUS(wait_for(inner)) + i % 3);
        }
        if (i % 2) {
            int status = wait_for(pid);
            sum += WEXITSTATUS(status);
            ends++;
        }
    }
    for (int status; wait(&status) > 0; ends++)
        sum += WEXITSTATUS(status);
    check(ends == 40 && sum == 79 && errno == ECHILD, "forty children and theirs come and go");
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static pid_t child_that(int code, int signal)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    if (signal)
        kill(getpid(), signal);
    for (; code < 0;)
        pause();
    _exit(code);
}

static void test_waits(void)
{
    int status;
    siginfo_t info = {0};
    struct rusage usage;

    check(wait(&status) == -1 && errno == ECHILD, "without a child there is nothing to wait for");
    pid_t pid = child_that(-1, 0);
    check(waitpid(pid, &status, WNOHANG) == 0, "WNOHANG does not wait");
    check(waitpid(pid + 1000, &status, 0) == -1 && errno == ECHILD,
          "... nor is a stranger waited for");
    kill(pid, SIGKILL);
    check(wait4(pid, &status, 0, &usage) == pid && WIFSIGNALED(status) &&
              WTERMSIG(status) == SIGKILL,
          "the end by a signal is told");
    pid = child_that(255, 0);
    check(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == pid &&
              info.si_code == CLD_EXITED && info.si_status == 255 && info.si_signo == SIGCHLD,
          "waitid tells of an end, and leaves it");
    check(waitid(P_PID, (id_t)pid, &info, WSTOPPED) == -1 && errno == ECHILD,
          "... which is not a stop");
    check(kill(pid, 0) == 0, "... and the process can still be named");
    check(wait_for(pid) == 0xff00 && kill(pid, 0) == -1 && errno == ESRCH,
          "... until it is waited for");
    info.si_pid = 77;
    pid = child_that(-1, 0);
    check(waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0,
          "waitid without news stores none");
    kill(pid, SIGSTOP);
    check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
              WSTOPSIG(status) == SIGSTOP,
          "a stop is told");
    check(waitpid(pid, &status, WUNTRACED | WNOHANG) == 0, "... once");
    kill(pid, SIGCONT);
    check(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status), "that it goes on, too");
    kill(pid, SIGTERM);
    check(WTERMSIG(wait_for(pid)) == SIGTERM, "... and its end");
    check(waitpid(-1, &status, 0x10000) == -1 && errno == EINVAL, "unknown options are refused");
    check(waitid(P_ALL, 0, &info, WNOHANG) == -1 && errno == EINVAL, "... none, too");
    pid = child_that(0, 0);
    check(syscall(SYS_wait4, pid, 8, 0, 0) == -1 && errno == EFAULT, "a bad address is told");
    wait(NULL);
    pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (!pid)
        _exit(4);
    check(waitpid(pid, &status, 0) == -1 && errno == ECHILD,
          "a child without a signal is none ...");
    check(waitpid(pid, &status, __WALL) == pid && WEXITSTATUS(status) == 4, "... but for __WALL");
}

static void test_sigchld(void)
{
    int status;

    handle(SIGCHLD, SA_RESTART);
    taken[SIGCHLD] = 0;
    pid_t pid = child_that(3, 0);
    while (!taken[SIGCHLD])
        usleep(1000);
    check(last.si_pid == pid && last.si_code == CLD_EXITED && last.si_status == 3,
          "SIGCHLD says which child has ended, and how");
    check(wait_for(pid) == 0x300, "... and leaves its status");
    taken[SIGCHLD] = 0;
    pid = child_that(-1, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    check(taken[SIGCHLD] == 1 && last.si_code == CLD_STOPPED && last.si_status == SIGSTOP,
          "SIGCHLD tells of a stop");
    handle(SIGCHLD, SA_RESTART | SA_NOCLDSTOP);
    kill(pid, SIGCONT);
    waitpid(pid, &status, WCONTINUED);
    check(taken[SIGCHLD] == 1, "... unless SA_NOCLDSTOP says it should not");
    kill(pid, SIGKILL);
    check(wait_for(pid) == SIGKILL && last.si_code == CLD_KILLED && last.si_status == SIGKILL,
          "... and of the end by a signal");
    signal(SIGCHLD, SIG_IGN);
    pid = child_that(0, 0);
    check(waitpid(pid, &status, 0) == -1 && errno == ECHILD, "who ignores SIGCHLD does not wait");
    handle(SIGCHLD, SA_NOCLDWAIT);
    pid = child_that(0, 0);
    check(wait(&status) == -1 && (errno == ECHILD || errno == EINTR), "... nor who says so");
    signal(SIGCHLD, SIG_DFL);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
}

static void test_interrupted_wait(void)
{
    handle(SIGALRM, 0);
    pid_t pid = child_that(-1, 0);
    /* again and again: the first one may come before the wait */
    struct itimerval soon = {.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}},
                     never = {0};
    setitimer(ITIMER_REAL, &soon, NULL);
    int waited = waitpid(pid, NULL, 0), why = errno;
    setitimer(ITIMER_REAL, &never, NULL);
    check(waited == -1 && why == EINTR, "a signal ends a wait");
    kill(pid, SIGKILL);
    wait_for(pid);
}

/* ---- execve ---------------------------------------------------------------------------------- */

static int run(const char *program, char *const argv[], char *const envp[])
{
    pid_t pid = fork();

    if (!pid) {
        execve(program, argv, envp);
        _exit(errno);
    }
    return WEXITSTATUS(wait_for(pid));
}

static int refused(const char *path)
{
    char *argv[] = {"x", NULL};

    return execve(path, argv, environ) == -1 ? errno : 0;
}

static void *spin(void *arg)
{
    (void)arg;
    for (;;)
        sched_yield();
    return NULL;
}

static void *sleep_long(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

static void *exec_here(void *arg)
{
    char *argv[] = {(char *)self, "pid", arg, NULL};

    execve(self, argv, environ);
    return NULL;
}

static void test_threads(bool of_other)
{
    pid_t pid = fork();

    if (!pid) {
        static char text[16];
        pthread_t t;
        snprintf(text, sizeof(text), "%d", getpid());
        pthread_create(&t, NULL, spin, NULL);
        pthread_create(&t, NULL, sleep_long, NULL);
        if (of_other) {
            pthread_create(&t, NULL, exec_here, text);
            sleep_long(NULL);
        }
        exec_here(text);
        _exit(99);
    }
    check(wait_for(pid) == 0, of_other ? "another thread than the first runs a program"
                                       : "a process with threads runs another program");
}

static void test_exec(void)
{
    char *code[] = {(char *)self, "exit", "17", NULL}, *state[] = {(char *)self, "state", NULL};
    char *envp[] = {"A=1", "B=2", NULL}, *env[] = {(char *)self, "env", NULL};
    int kept = dup(1), closed = fcntl(1, F_DUPFD_CLOEXEC, 0);

    check(run(self, code, environ) == 17, "execve runs another program");
    check(run(self, env, envp) == 0, "... with an environment");
    signal(SIGUSR1, SIG_IGN);
    handle(SIGUSR2, 0);
    char text[4][16];
    char *fds[] = {(char *)self, "fds", text[0], text[1], NULL};
    snprintf(text[0], 16, "%d", kept);
    snprintf(text[1], 16, "%d", closed);
    check(run(self, fds, environ) == 0, "descriptors stay, but those with CLOEXEC");
    check(run(self, state, environ) == 0, "ignored signals stay so, handlers do not");
    close(kept);
    close(closed);
    check(refused("/no/such") == ENOENT, "a file that is not there: ENOENT");
    check(refused("/") == EACCES, "a folder: EACCES");
    check(refused("") == ENOENT, "an empty path: ENOENT");
    char plain[] = "plainXXXXXX", script[] = "scriptXXXXXX";
    int fd = mkstemp(plain);
    (void)!write(fd, "text", 4);
    check(refused(plain) == EACCES, "a file without the right: EACCES");
    fchmod(fd, 0755);
    close(fd);
    check(refused(plain) == ENOEXEC, "what is no program: ENOEXEC");
    check(refused("plainXXXXXX/a") == ENOENT, "a path through nothing: ENOENT");
    snprintf(text[2], 16, "%s/a", plain);
    check(refused(text[2]) == ENOTDIR, "a path through a file: ENOTDIR");
    fd = mkstemp(script);
    dprintf(fd, "#!%s script\n", self);
    fchmod(fd, 0755);
    close(fd);
    char *scripted[] = {"ignored", "one", NULL};
    check(run(script, scripted, environ) == 0, "#! names an interpreter and an argument");
    unlink(script);
    unlink(plain);
    check(syscall(SYS_execve, 8, 0, 0) == -1 && errno == EFAULT, "a bad path: EFAULT");
    check(syscall(SYS_execve, self, 8, 0) == -1 && errno == EFAULT, "bad arguments: EFAULT");
    char *huge = malloc(8 << 20);
    memset(huge, 'a', 8 << 20);
    huge[(8 << 20) - 1] = 0;
    char *large[] = {(char *)self, huge, NULL};
    check(execve(self, large, environ) == -1 && errno == E2BIG, "too long arguments: E2BIG");
    free(huge);
    test_threads(false);
    test_threads(true);
}

static void test_vfork(void)
{
    static volatile int shared;
    char *argv[] = {(char *)self, "exit", "6", NULL};

    shared = 0;
    pid_t pid = vfork();
    if (!pid) {
        shared = 5;
        _exit(2);
    }
    check(shared == 5, "vfork's child uses its parent's memory, and the parent waits");
    check(wait_for(pid) == 0x200, "... and is a child as any");
    pid = vfork();
    if (!pid) {
        execve(self, argv, environ);
        _exit(1);
    }
    check(wait_for(pid) == 0x600, "... which may run another program");
    int err = posix_spawn(&pid, self, NULL, NULL, argv, environ);
    check(!err && wait_for(pid) == 0x600, "posix_spawn runs a program");
    check(posix_spawn(&pid, "/no/such", NULL, NULL, argv, environ) == ENOENT,
          "... and tells why it could not");
}

/* ---- Groups, sessions, orphans --------------------------------------------------------------- */

static void test_groups(void)
{
    int status;
    pid_t a = child_that(-1, 0), b = child_that(-1, 0);

    check(getpgid(a) == getpgrp() && getsid(a) == getsid(0), "a child is in its parent's group");
    check(setpgid(a, 0) == 0 && getpgid(a) == a, "a parent gives a child a group");
    check(setpgid(b, a) == 0 && getpgid(b) == a, "... and another one the same");
    check(setpgid(b, 0x3ffffff) == -1 && errno == EPERM, "... but none that there is not");
    check(setpgid(getppid(), 0) == -1 && errno == ESRCH, "... and a stranger none");
    check(setpgid(a, -1) == -1 && errno == EINVAL, "... whose number is not negative");
    check(waitpid(-getpgrp(), &status, WNOHANG) == -1 && errno == ECHILD,
          "a wait for a group sees only its processes");
    check(kill(-a, SIGTERM) == 0 && waitpid(-a, &status, 0) > 0 && waitpid(-a, &status, 0) > 0 &&
              WTERMSIG(status) == SIGTERM,
          "a group gets a signal, and is waited for");
    check(kill(-a, 0) == -1 && errno == ESRCH, "... and is gone then");
    a = fork();
    if (!a) {
        pid_t session = setsid();
        _exit(session == getpid() && getpgrp() == getpid() && getsid(0) == getpid() &&
                      setsid() == -1 && errno == EPERM && setpgid(0, 0) == -1 && errno == EPERM
                  ? 0
                  : 1);
    }
    check(wait_for(a) == 0, "setsid makes a session, whose leader stays that");
    a = child_that(0, 0);
    siginfo_t info;
    setpgid(a, a);
    waitid(P_PID, (id_t)a, &info, WEXITED | WNOWAIT);
    b = child_that(0, 0);
    check(setpgid(b, a) == 0, "a group lasts while its leader waits to be waited for");
    wait_for(a);
    wait_for(b);
    char *argv[] = {(char *)self, "sleep", NULL};
    int ends[2];
    (void)!pipe2(ends, O_CLOEXEC);
    a = fork();
    if (!a) {
        execve(self, argv, environ);
        _exit(1);
    }
    close(ends[1]);
    char c;
    (void)!read(ends[0], &c, 1); /* the execve closes the other end */
    close(ends[0]);
    check(setpgid(a, a) == -1 && errno == EACCES,
          "a child that runs another program keeps its group");
    kill(a, SIGKILL);
    wait_for(a);
}

static void test_orphans(void)
{
    int ends[2];
    pid_t got[2] = {0};

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)!pipe(ends);
    pid_t a = fork();
    if (!a) {
        pid_t middle = getpid();
        if (!fork()) {
            while (getppid() == middle)
                usleep(1000);
            pid_t both[2] = {getpid(), getppid()};
            (void)!write(ends[1], both, sizeof(both));
            _exit(9);
        }
        _exit(0);
    }
    wait_for(a);
    (void)!read(ends[0], got, sizeof(got));
    check(got[1] == getpid(), "an orphan becomes a child of who takes orphans");
    check(wait_for(got[0]) == 0x900, "... which waits for it");
    a = fork();
    if (!a) {
        pid_t middle = getpid();
        if (!syscall(SYS_clone, SIGKILL, 0, 0, 0, 0)) {
            while (getppid() == middle)
                usleep(1000);
            _exit(4);
        }
        _exit(0);
    }
    wait_for(a);
    int end = 0;
    check(wait(&end) > 0 && end == 0x400, "... and gets SIGCHLD, whatever the orphan's signal was");
    signal(SIGUSR2, SIG_DFL);
    a = fork();
    if (!a) {
        pid_t inner = fork();
        if (!inner) {
            prctl(PR_SET_PDEATHSIG, SIGUSR2);
            (void)!write(ends[1], "r", 1);
            for (;;)
                pause();
        }
        char c;
        (void)!read(ends[0], &c, 1);
        _exit(0);
    }
    wait_for(a);
    int status = 0;
    check(wait(&status) > 0 && WTERMSIG(status) == SIGUSR2,
          "a parent's end sends PR_SET_PDEATHSIG");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(ends[0]);
    close(ends[1]);
}

/* A group that no process connects to its session, with a stopped member. */
static void test_stopped_member(void)
{
    int status = 0;
    pid_t leader = fork();

    if (!leader) {
        signal(SIGHUP, SIG_DFL);
        setsid();
        pid_t stopped = fork();
        if (!stopped) {
            raise(SIGSTOP);
            _exit(0);
        }
        waitpid(stopped, &status, WUNTRACED);
        pid_t other = fork();
        if (!other)
            _exit(0);
        wait_for(other);
        usleep(20000);
        int went_on = waitpid(stopped, &status, WNOHANG | WCONTINUED) != 0;
        kill(stopped, SIGKILL);
        wait_for(stopped);
        _exit(went_on);
    }
    check(wait_for(leader) == 0,
          "another's end does not hang up a group that was an orphan before");
}

/* ---- As another program ---------------------------------------------------------------------- */

static int as_program(int argc, char **argv)
{
    const char *what = argv[1];

    if (!strcmp(what, "exit"))
        return atoi(argv[2]);
    if (!strcmp(what, "env"))
        return !environ[0] || strcmp(environ[0], "A=1") || strcmp(environ[1], "B=2") || environ[2];
    if (!strcmp(what, "fds"))
        return fcntl(atoi(argv[2]), F_GETFD) != 0 || fcntl(atoi(argv[3]), F_GETFD) != -1;
    if (!strcmp(what, "pid"))
        return atoi(argv[2]) != getpid() || syscall(SYS_gettid) != getpid();
    if (!strcmp(what, "script"))
        return argc != 4 || strncmp(argv[2], "script", 6) || strcmp(argv[3], "one");
    if (!strcmp(what, "state")) {
        struct sigaction one, two;
        sigaction(SIGUSR1, NULL, &one);
        sigaction(SIGUSR2, NULL, &two);
        return one.sa_handler != SIG_IGN || two.sa_handler != SIG_DFL;
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    static char path[4096];

    if (argc > 1)
        return as_program(argc, argv);
    (void)!readlink("/proc/self/exe", path, sizeof(path) - 1);
    self = path;
    pid_t pid = fork(); /* so that the tests have a parent, and a group that is not 1 */
    if (pid)
        return WEXITSTATUS(wait_for(pid));
    setpgid(0, 0);
    test_copies();
    test_clone();
    test_storm();
    test_waits();
    test_sigchld();
    test_interrupted_wait();
    test_exec();
    test_vfork();
    test_groups();
    test_orphans();
    test_stopped_member();
    printf("1..%u\n", count);
    return failed != 0;
}
