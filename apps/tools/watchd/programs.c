/* See programs.h. A thread for each run reads its output and waits for its end. */
#include "apps/tools/watchd/programs.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/state.h"
#include "apps/libc/syscall.h"
#include "apps/tools/watchd/machine.h"
#include "apps/tools/watchd/output.h"

enum { PIECE = 4096, COMMAND = 256 };

struct run {
    unsigned number; /* from 1; 0: unused */
    int pid;
    bool running;
    int status; /* valid when it does not run */
    uint64_t began_ns, ended_ns;
    char command[COMMAND];
    struct output output;
    int from; /* its output arrives there */
};
static struct run runs[PROGRAMS_KEPT];                   /* by number modulo their count */
static unsigned last;                                    /* number of the latest run */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of the above */
static int console = 1;
static bool shown; /* output goes to the console */

void programs_begin(bool quiet)
{
    int fd = (int)syscall3(SYS_fcntl, 1, F_DUPFD, 3);

    if (fd >= 0)
        console = fd;
    shown = !quiet;
}

static struct run *run_of(unsigned number)
{
    struct run *r = &runs[(number ? number : last) % PROGRAMS_KEPT];

    return r->number && r->number == (number ? number : last) ? r : NULL;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void *follow(void *of)
{
    struct run *r = of;
    char piece[PIECE];

    for (ssize_t n; (n = read(r->from, piece, sizeof piece)) > 0;) {
        if (shown && write(console, piece, (size_t)n) < 0)
            shown = false;
        pthread_mutex_lock(&lock);
        output_add(&r->output, piece, (size_t)n);
        pthread_mutex_unlock(&lock);
    }
    close(r->from);
    int status = application_wait(r->pid);
    pthread_mutex_lock(&lock);
    r->status = status;
    r->ended_ns = machine_ns();
    r->running = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Starts a program whose descriptors 1 and 2 are `to`: it has those of the process that starts
 * it. Nothing else of watchd writes to them meanwhile. */
static int start_to(char *const *argv, int n, int to)
{
    syscall3(SYS_dup3, to, 1, 0);
    syscall3(SYS_dup3, to, 2, 0);
    int pid = application_start(argv, n);
    syscall3(SYS_dup3, console, 1, 0);
    syscall3(SYS_dup3, console, 2, 0);
    return pid;
}

/* Starts the program of run r. Returns 0 or an error. */
static int begin(struct run *r, char *const *argv, int n)
{
    int ends[2], err = (int)syscall2(SYS_pipe2, ends, 0);
    pthread_t thread;

    if (err)
        return err;
    r->began_ns = machine_ns();
    r->pid = start_to(argv, n, ends[1]);
    close(ends[1]);
    r->from = ends[0];
    if (r->pid < 0) {
        close(ends[0]);
        return r->pid;
    }
    r->running = true;
    err = pthread_create(&thread, NULL, follow, r);
    if (err) {
        r->running = false;
        kill(r->pid, SIGKILL);
        close(ends[0]);
        return -err;
    }
    pthread_detach(thread);
    return 0;
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

/* Splits at the ends of lines, or of one line at blanks. Returns the number of words. */
static int split(char *words, char *argv[SYS_ARGS_MAX + 1])
{
    const char *ends = strchr(words, '\n') ? "\n" : " \t\r";
    int n = 0;
    char *rest = words;

    for (char *w; n < SYS_ARGS_MAX && (w = strtok_r(rest, ends, &rest));)
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

static void note_command(struct run *r, char *const *argv, int n)
{
    size_t used = 0;

    for (int i = 0; i < n && used < COMMAND; i++)
        used += (size_t)snprintf(r->command + used, COMMAND - used, "%s%s", i ? " " : "", argv[i]);
}

/* Returns whether the run goes on. */
static bool is_running(const struct run *r)
{
    pthread_mutex_lock(&lock);
    bool running = r && r->running;
    pthread_mutex_unlock(&lock);
    return running;
}

int programs_start(char *words, char *why, size_t size)
{
    char *argv[SYS_ARGS_MAX + 1];
    struct run made = {0}, *r = run_of(0);

    if (is_running(r)) {
        snprintf(why, size, "run=%u pid=%d reason=running: %.100s: stop it first", r->number,
                 r->pid, r->command);
        return -EBUSY;
    }
    int n = split(words, argv);
    note_command(&made, argv, n);
    int first = assign(argv, n, why, size);
    if (first < 0)
        return first;
    if (first == n) {
        snprintf(why, size, "no program is named");
        return -EINVAL;
    }
    r = &runs[(last + 1) % PROGRAMS_KEPT];
    pthread_mutex_lock(&lock);
    output_clear(&r->output);
    *r = made;
    pthread_mutex_unlock(&lock);
    int err = begin(r, argv + first, n - first);
    if (err) {
        snprintf(why, size, "program=%s reason=start: it cannot be started: %s", argv[first],
                 strerror(-err));
        return err;
    }
    pthread_mutex_lock(&lock);
    r->number = ++last;
    pthread_mutex_unlock(&lock);
    return (int)r->number;
}

int programs_stop(uint32_t pid, char *why, size_t size)
{
    const struct run *r = run_of(0);

    if (!pid && !is_running(r)) {
        snprintf(why, size, "no program runs that was started here");
        return -ESRCH;
    }
    pid = pid ? pid : (uint32_t)r->pid;
    if (kill((pid_t)pid, SIGKILL)) {
        snprintf(why, size, "pid=%" PRIu32 " reason=stop: it cannot be stopped: %s", pid,
                 strerror(errno));
        return -errno;
    }
    return 0;
}

/* ---- What is told ---------------------------------------------------------------------------- */

static void show_run(struct text *t, const struct run *r)
{
    uint64_t end_ns = r->running ? machine_ns() : r->ended_ns;

    text_say(t,
             "{\"number\":%u,\"pid\":%d,\"running\":%s,\"status\":%d,\"ms\":%" PRIu64
             ",\"output_bytes\":%" PRIu64 ",\"output_left_out\":%" PRIu64 ",\"command\":",
             r->number, r->pid, r->running ? "true" : "false", r->running ? 0 : r->status,
             (end_ns - r->began_ns) / 1000000, r->output.bytes, output_left_out(&r->output));
    text_json(t, r->command);
    text_say(t, "}");
}

void programs_show(struct text *t)
{
    pthread_mutex_lock(&lock);
    const struct run *r = run_of(0);
    if (r)
        show_run(t, r);
    else
        text_say(t, "null");
    pthread_mutex_unlock(&lock);
}

void programs_list(struct text *t)
{
    bool some = false;

    text_say(t, "[");
    pthread_mutex_lock(&lock);
    for (unsigned n = last < PROGRAMS_KEPT ? 1 : last - PROGRAMS_KEPT + 1; n <= last; n++) {
        const struct run *r = run_of(n);
        if (!r) /* its place was taken by one that could not be started */
            continue;
        text_bytes(t, ",", some);
        show_run(t, r);
        some = true;
    }
    pthread_mutex_unlock(&lock);
    text_say(t, "]");
}

bool programs_output(struct text *t, uint32_t number, uint64_t from)
{
    pthread_mutex_lock(&lock);
    const struct run *r = run_of(number);
    if (r) {
        size_t n;
        const char *at = output_from(&r->output, from, &n);
        text_bytes(t, at, n);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

bool programs_results(struct text *t, uint32_t number)
{
    pthread_mutex_lock(&lock);
    const struct run *r = run_of(number);
    if (r)
        text_bytes(t, r->output.results.n ? r->output.results.at : "", r->output.results.n);
    pthread_mutex_unlock(&lock);
    return r;
}
