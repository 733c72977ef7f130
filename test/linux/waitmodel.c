/*
 * Random operations on the descriptors that wait: pipes, eventfd, signalfd, timerfd. Each answer is
 * compared with a plain model, and so is what poll, select and epoll say of all of them after each
 * step. Prints TAP; the same under Linux.
 *
 *   waitmodel [SEED [STEPS]]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "test/linux/model.h"

#define THINGS     16
#define PAGE       4096
#define PIPE_PAGES 16 /* of a pipe whose data are whole pages */
#define WRITES     14 /* into a pipe of bytes: it never is full, whatever a kernel keeps */
#define SIGNALS    5  /* two that are pending once, three that queue */
#define QUEUED     6  /* of one signal */
#define FAR_S      100000
#define PATIENCE   3000 /* milliseconds for a timer to end */
#define PIPE_IN    (POLLIN | POLLRDNORM)
#define PIPE_OUT   (POLLOUT | POLLWRNORM)
#define ASKED      (PIPE_IN | PIPE_OUT | POLLPRI)
#define EDGES      (ASKED | POLLHUP | POLLERR)

enum kind { READ_END, WRITE_END, EVENT, SIGNAL, TIMER, KINDS };
static const char *const names[KINDS] = {"a pipe's read end", "a pipe's write end", "eventfd",
                                         "signalfd", "timerfd"};

enum mode { NOT_WATCHED, BY_LEVEL, BY_EDGE, ONCE, ONCE_OVER };

struct thing {
    bool used;
    enum kind kind;
    int fd;
    unsigned id;
    /* Of a pipe: both ends know the bytes, which the write end counts. */
    struct thing *peer; /* NULL: it is closed */
    bool pages;         /* all parts are whole pages */
    uint64_t put, taken;
    unsigned writes; /* since it was empty */
    uint64_t count;  /* of an event; of a timer: ends that were not read */
    bool semaphore;
    unsigned mask; /* of signals: bits of their places */
    bool armed;    /* a timer, far from its end */
    enum mode mode;
    uint32_t wants, must; /* of epoll; events that are due by edge */
    bool may;             /* an event is possible */
};

static struct thing things[THINGS];
static int signals[SIGNALS];
static int pending[SIGNALS][QUEUED]; /* values, oldest first */
static unsigned pending_count[SIGNALS];
static int epoll_fd, last_value;
static unsigned last_id;
static uint64_t operations[KINDS];

/* ---- Checks ---------------------------------------------------------------------------------- */

static void expect(const struct thing *t, const char *what, long got, long wanted)
{
    if (got == wanted)
        return;
    printf("# step %u: %s; %s %u: %s is %ld (%#lx), the model says %ld (%#lx)\n", step, log_line,
           t ? names[t->kind] : "all", t ? t->id : 0, what, got, (unsigned long)got, wanted,
           (unsigned long)wanted);
    printf("not ok 1 - descriptors that wait do what the model says\n1..1\n");
    exit(1);
}

/* ---- The model ------------------------------------------------------------------------------- */

/* Bytes in the pipe of either end. */
static struct thing *counter_of(struct thing *t)
{
    return t->kind == WRITE_END ? t : t->peer ? t->peer : t;
}

static uint64_t bytes_in(struct thing *t)
{
    const struct thing *c = counter_of(t);

    return c->put - c->taken;
}

static bool is_full(struct thing *t)
{
    return t->pages && bytes_in(t) == PIPE_PAGES * PAGE;
}

static bool has_signal(const struct thing *t)
{
    for (unsigned i = 0; i < SIGNALS; i++)
        if (t->mask >> i & 1 && pending_count[i])
            return true;
    return false;
}

static unsigned model_poll(struct thing *t)
{
    switch (t->kind) {
    case READ_END:
        return (bytes_in(t) ? PIPE_IN : 0) | (t->peer ? 0 : POLLHUP);
    case WRITE_END:
        return (is_full(t) ? 0 : PIPE_OUT) | (t->peer ? 0 : POLLERR);
    case EVENT:
        return (t->count ? POLLIN : 0) | (t->count < UINT64_MAX - 1 ? POLLOUT : 0);
    case SIGNAL:
        return has_signal(t) ? POLLIN : 0;
    default:
        return t->count ? POLLIN : 0;
    }
}

/* These events have happened. */
static void edge(struct thing *t, uint32_t events)
{
    if (t) {
        t->may = true;
        t->must |= events;
    }
}

/* ... perhaps, of all that tell of signals. */
static void edge_of_signals(void)
{
    for (unsigned i = 0; i < THINGS; i++)
        if (things[i].used && things[i].kind == SIGNAL)
            edge(&things[i], 0);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void look_at_polls(void)
{
    struct pollfd p[THINGS];
    unsigned ready = 0;

    for (unsigned i = 0; i < THINGS; i++)
        p[i] = (struct pollfd){.fd = things[i].used ? things[i].fd : -1, .events = ASKED};
    long got = result_of(poll(p, THINGS, 0));
    for (unsigned i = 0; i < THINGS; i++)
        if (things[i].used) {
            expect(&things[i], "poll", p[i].revents, model_poll(&things[i]));
            ready += p[i].revents != 0;
        }
    expect(NULL, "the number of poll", got, ready);
}

static void look_at_selects(void)
{
    static const unsigned of_set[] = {PIPE_IN | POLLHUP | POLLERR, PIPE_OUT | POLLERR, POLLPRI};
    struct timeval none = {0, 0};
    fd_set sets[3];
    long wanted = 0;
    int most = 0;

    for (unsigned k = 0; k < 3; k++)
        FD_ZERO(&sets[k]);
    for (unsigned i = 0; i < THINGS; i++)
        for (unsigned k = 0; things[i].used && k < 3; k++) {
            FD_SET(things[i].fd, &sets[k]);
            wanted += (model_poll(&things[i]) & of_set[k]) != 0;
            most = things[i].fd > most ? things[i].fd : most;
        }
    expect(NULL, "the number of select", select(most + 1, &sets[0], &sets[1], &sets[2], &none),
           wanted);
    for (unsigned i = 0; i < THINGS; i++)
        for (unsigned k = 0; things[i].used && k < 3; k++)
            expect(&things[i], "select", FD_ISSET(things[i].fd, &sets[k]) != 0,
                   (model_poll(&things[i]) & of_set[k]) != 0);
}

static uint32_t wanted_events(struct thing *t)
{
    return t->mode == NOT_WATCHED || t->mode == ONCE_OVER
               ? 0
               : model_poll(t) & (t->wants | EPOLLERR | EPOLLHUP);
}

static void look_at_epoll(void)
{
    uint32_t events[THINGS] = {0};
    struct epoll_event got[THINGS];
    int n = epoll_wait(epoll_fd, got, THINGS, 0);

    for (int i = 0; i < n; i++) {
        struct thing *t = got[i].data.ptr;
        expect(t, "events of epoll", got[i].events, wanted_events(t));
        if (t->mode == BY_EDGE)
            expect(t, "a second event of epoll", !t->may, 0);
        events[t - things] = got[i].events;
        if (t->mode == ONCE)
            t->mode = ONCE_OVER;
    }
    for (unsigned i = 0; i < THINGS; i++) {
        struct thing *t = &things[i];
        uint32_t wanted = t->used ? wanted_events(t) : 0;
        if (wanted && !events[i])
            expect(t, "silence of epoll", t->mode != BY_EDGE || t->must & wanted, 0);
        t->must = 0;
        t->may = false;
    }
}

/* ---- Making and ending ----------------------------------------------------------------------- */

static struct thing *new_thing(enum kind kind, int fd)
{
    for (unsigned i = 0; i < THINGS; i++)
        if (!things[i].used) {
            expect(NULL, "a new descriptor", fd < 0, 0);
            things[i] = (struct thing){.used = true, .kind = kind, .fd = fd, .id = ++last_id};
            return &things[i];
        }
    exit(2);
}

static unsigned free_things(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < THINGS; i++)
        n += !things[i].used;
    return n;
}

static void make_pipe(void)
{
    int fd[2];

    expect(NULL, "pipe2", pipe2(fd, O_NONBLOCK), 0);
    struct thing *r = new_thing(READ_END, fd[0]), *w = new_thing(WRITE_END, fd[1]);
    r->peer = w;
    w->peer = r;
    r->pages = w->pages = below(2);
}

static void make_event(void)
{
    unsigned first = (unsigned)below(3);
    bool semaphore = below(2);
    struct thing *t =
        new_thing(EVENT, eventfd(first, EFD_NONBLOCK | (semaphore ? EFD_SEMAPHORE : 0)));

    t->count = first;
    t->semaphore = semaphore;
}

static sigset_t set_of(unsigned mask)
{
    sigset_t set;

    sigemptyset(&set);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (mask >> i & 1)
            sigaddset(&set, signals[i]);
    return set;
}

static void make_signal(void)
{
    unsigned mask = (unsigned)below(1 << SIGNALS);
    sigset_t set = set_of(mask);
    struct thing *t = new_thing(SIGNAL, signalfd(-1, &set, SFD_NONBLOCK));

    t->mask = mask;
}

static void make_timer(void)
{
    new_thing(TIMER, timerfd_create(below(2) ? CLOCK_MONOTONIC : CLOCK_REALTIME, TFD_NONBLOCK));
}

static void make_thing(void)
{
    static void (*const makers[])(void) = {make_pipe, make_pipe, make_event, make_signal,
                                           make_timer};

    if (free_things() < 2)
        return;
    note("a new one");
    makers[below(sizeof makers / sizeof makers[0])]();
}

static void end_thing(struct thing *t)
{
    note("%s %u is closed", names[t->kind], t->id);
    if (t->peer && t->kind == WRITE_END) { /* the bytes stay */
        t->peer->put = t->put;
        t->peer->taken = t->taken;
    }
    if (t->peer) {
        t->peer->peer = NULL;
        edge(t->peer, POLLHUP | POLLERR);
    }
    expect(t, "close", result_of(close(t->fd)), 0);
    *t = (struct thing){0};
}

/* ---- Pipes ----------------------------------------------------------------------------------- */

static char byte_at(uint64_t at)
{
    return (char)(at * 7 + (at >> 8));
}

static unsigned part_of(const struct thing *t)
{
    return t->pages ? PAGE * (1 + (unsigned)below(PIPE_PAGES + 2)) : 1 + (unsigned)below(PAGE - 1);
}

static void write_pipe(struct thing *t)
{
    static char data[PAGE * (PIPE_PAGES + 2)];
    unsigned n = part_of(t);
    uint64_t room = PIPE_PAGES * PAGE - bytes_in(t);
    long wanted = !t->peer ? -EPIPE : !t->pages || n <= room ? n : room ? (long)room : -EAGAIN;

    if (!t->pages && t->writes == WRITES)
        return;
    note("%u bytes into pipe %u", n, t->id);
    for (unsigned i = 0; i < n; i++)
        data[i] = byte_at(t->put + i);
    expect(t, "write", result_of(write(t->fd, data, n)), wanted);
    edge(t->peer, 0); /* Linux tells of a full pipe again */
    if (wanted <= 0)
        return;
    t->put += (uint64_t)wanted;
    t->writes++;
    edge(t->peer, PIPE_IN);
}

static void read_pipe(struct thing *t)
{
    static char data[PAGE * (PIPE_PAGES + 2)];
    struct thing *c = counter_of(t);
    unsigned n = part_of(t);
    uint64_t there = bytes_in(t);
    bool was_full = is_full(t);
    long wanted = there ? (long)(n < there ? n : there) : t->peer ? -EAGAIN : 0;
    int queued = -1;

    note("%u bytes out of pipe %u", n, t->id);
    expect(t, "FIONREAD", ioctl(t->fd, FIONREAD, &queued) ?: queued, (long)there);
    expect(t, "read", result_of(read(t->fd, data, n)), wanted);
    for (long i = 0; i < wanted; i++)
        expect(t, "a byte", data[i], byte_at(c->taken + (uint64_t)i));
    if (wanted <= 0)
        return;
    c->taken += (uint64_t)wanted;
    if (c->taken == c->put)
        c->writes = 0;
    edge(t->peer, was_full ? PIPE_OUT : 0);
}

static void misuse_pipe(struct thing *t)
{
    char c = 0;

    note("pipe %u by the wrong end", t->id);
    expect(t, "the wrong end",
           result_of(t->kind == READ_END ? write(t->fd, &c, 1) : read(t->fd, &c, 1)), -EBADF);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void write_event(struct thing *t)
{
    static const uint64_t adds[] = {1, 2, 1000, 1ull << 63, UINT64_MAX - 1, UINT64_MAX, 0};
    uint64_t add = adds[below(sizeof adds / sizeof adds[0])];
    bool fits = UINT64_MAX - t->count > add;
    long wanted = add == UINT64_MAX ? -EINVAL : fits ? 8 : -EAGAIN;

    note("event %u and %#llx", t->id, (unsigned long long)add);
    expect(t, "write", result_of(write(t->fd, &add, 8)), wanted);
    if (wanted < 0)
        return;
    t->count += add;
    edge(t, POLLIN);
}

static void read_event(struct thing *t)
{
    uint64_t got = 0, wanted = t->semaphore ? 1 : t->count;

    note("event %u is read", t->id);
    if (!below(8))
        expect(t, "a short read", result_of(read(t->fd, &got, 7)), -EINVAL);
    expect(t, "read", result_of(read(t->fd, &got, 8)), t->count ? 8 : -EAGAIN);
    if (!t->count)
        return;
    expect(t, "what was read", (long)got, (long)wanted);
    t->count -= wanted;
    edge(t, POLLOUT);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static void send_signal(void)
{
    unsigned i = (unsigned)below(SIGNALS);
    bool queues = signals[i] >= SIGRTMIN;

    if (queues && pending_count[i] == QUEUED)
        return;
    note("signal %d is sent", signals[i]);
    const union sigval value = {.sival_int = ++last_value};
    expect(NULL, "sigqueue", result_of(sigqueue(getpid(), signals[i], value)), 0);
    edge_of_signals();
    if (!queues && pending_count[i])
        return;
    pending[i][pending_count[i]++] = last_value;
    for (unsigned k = 0; k < THINGS; k++)
        if (things[k].used && things[k].kind == SIGNAL && things[k].mask >> i & 1)
            edge(&things[k], POLLIN);
}

/* Takes the first that the mask has. Returns its place, or -1. */
static int take_signal(unsigned mask, int *value)
{
    for (unsigned i = 0; i < SIGNALS; i++) {
        if (!(mask >> i & 1) || !pending_count[i])
            continue;
        *value = pending[i][0];
        memmove(pending[i], pending[i] + 1, --pending_count[i] * sizeof pending[i][0]);
        return (int)i;
    }
    return -1;
}

static void read_signals(struct thing *t)
{
    struct signalfd_siginfo got[4];
    unsigned n = 1 + (unsigned)below(4), done = 0;
    int value;

    note("%u signals out of %u", n, t->id);
    if (!below(8))
        expect(t, "a short read", result_of(read(t->fd, got, sizeof got[0] - 1)), -EINVAL);
    long bytes = result_of(read(t->fd, got, n * sizeof got[0]));
    for (int i; done < n && (i = take_signal(t->mask, &value)) >= 0; done++) {
        if ((long)(done * sizeof got[0]) >= bytes)
            continue;
        expect(t, "the signal", got[done].ssi_signo, signals[i]);
        expect(t, "its value", got[done].ssi_int, value);
        expect(t, "its code", got[done].ssi_code, SI_QUEUE);
        expect(t, "its sender", got[done].ssi_pid, getpid());
    }
    expect(t, "read", bytes, done ? (long)(done * sizeof got[0]) : -EAGAIN);
    edge_of_signals();
}

static void change_signals(struct thing *t)
{
    unsigned mask = (unsigned)below(1 << SIGNALS);
    sigset_t set = set_of(mask);

    note("other signals for %u", t->id);
    expect(t, "signalfd", result_of(signalfd(t->fd, &set, 0)), t->fd);
    t->mask = mask;
    edge_of_signals();
}

/* ---- Timers ---------------------------------------------------------------------------------- */

/* Waits until the timer has ended once. */
static void await_timer(const struct thing *t)
{
    struct pollfd p = {.fd = t->fd, .events = POLLIN};

    expect(t, "the end of a timer", poll(&p, 1, PATIENCE), 1);
}

static void set_timer(struct thing *t)
{
    unsigned how = (unsigned)below(4); /* off, far, at once, at once and then far */
    struct itimerspec next = {{0, 0}, {0, 0}}, before;

    note("timer %u: %u", t->id, how);
    if (how == 1)
        next.it_value.tv_sec = FAR_S;
    else if (how)
        next.it_value.tv_nsec = 1;
    if (how == 3)
        next.it_interval.tv_sec = FAR_S;
    expect(t, "timerfd_settime", result_of(timerfd_settime(t->fd, 0, &next, &before)), 0);
    expect(t, "what is left", before.it_value.tv_sec || before.it_value.tv_nsec, t->armed);
    t->armed = how & 1;
    t->count = how >= 2;
    if (t->count)
        await_timer(t);
    edge(t, t->count ? POLLIN : 0);
}

static void read_timer(struct thing *t)
{
    struct itimerspec now;
    uint64_t got = 0;

    note("timer %u is read", t->id);
    expect(t, "timerfd_gettime", result_of(timerfd_gettime(t->fd, &now)), 0);
    expect(t, "what is left", now.it_value.tv_sec || now.it_value.tv_nsec, t->armed);
    expect(t, "what is left at most", now.it_value.tv_sec <= FAR_S, 1);
    if (!below(8))
        expect(t, "a short read", result_of(read(t->fd, &got, 7)), -EINVAL);
    expect(t, "read", result_of(read(t->fd, &got, 8)), t->count ? 8 : -EAGAIN);
    expect(t, "ends", (long)got, (long)t->count);
    t->count = 0;
    edge(t, 0);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void watch(struct thing *t)
{
    static const uint32_t modes[] = {[BY_LEVEL] = 0, [BY_EDGE] = EPOLLET, [ONCE] = EPOLLONESHOT};
    struct epoll_event event = {.data.ptr = t};
    enum mode mode = (enum mode)below(4);
    int op = mode == NOT_WATCHED      ? EPOLL_CTL_DEL
             : t->mode == NOT_WATCHED ? EPOLL_CTL_ADD
                                      : EPOLL_CTL_MOD;

    note("%s %u is watched: %d", names[t->kind], t->id, (int)mode);
    t->wants = (uint32_t)(below(2) ? EPOLLIN : 0) | (below(2) ? EPOLLOUT : 0) |
               (below(2) ? EPOLLRDNORM : 0);
    event.events = t->wants | (mode == NOT_WATCHED ? 0 : modes[mode]);
    long wanted = t->mode == NOT_WATCHED && mode == NOT_WATCHED ? -ENOENT : 0;
    t->mode = mode;
    expect(t, "epoll_ctl", result_of(epoll_ctl(epoll_fd, op, t->fd, &event)), wanted);
    edge(t, EDGES);
}

static void use(struct thing *t)
{
    static void (*const uses[KINDS][4])(struct thing * t) = {
        [READ_END] = {read_pipe, read_pipe, read_pipe, misuse_pipe},
        [WRITE_END] = {write_pipe, write_pipe, write_pipe, misuse_pipe},
        [EVENT] = {write_event, read_event, write_event, read_event},
        [SIGNAL] = {read_signals, read_signals, read_signals, change_signals},
        [TIMER] = {set_timer, read_timer, set_timer, read_timer},
    };

    operations[t->kind]++;
    uses[t->kind][below(4)](t);
}

static void do_step(void)
{
    struct thing *t = &things[below(THINGS)];
    uint64_t what = below(16);

    if (what == 0)
        make_thing();
    else if (what < 3)
        send_signal();
    else if (!t->used)
        make_thing();
    else if (what < 5)
        watch(t);
    else if (what == 5 && !below(3))
        end_thing(t);
    else
        use(t);
    look_at_polls();
    look_at_selects();
    look_at_epoll();
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 20000;

    setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    signals[0] = SIGUSR1; /* in the order in which they are taken */
    signals[1] = SIGUSR2;
    for (int i = 2; i < SIGNALS; i++)
        signals[i] = SIGRTMIN + i;
    sigset_t all = set_of((1 << SIGNALS) - 1);
    sigprocmask(SIG_BLOCK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
    epoll_fd = epoll_create1(0);
    for (step = 0; step < steps; step++)
        do_step();
    for (unsigned k = 0; k < KINDS; k++)
        printf("# %s: %llu operations\n", names[k], (unsigned long long)operations[k]);
    printf("ok 1 - descriptors that wait do what the model says\n1..1\n");
    return 0;
}
