/*
 * Logs of counts over time, on the simulated machine: what records say is what readings say, to the
 * last count, whatever is lost.
 *
 *   logs            all checks
 *   logs brood N    what is logged: threads that move, begin and end, N such children in a row
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/tap.h"

#define NAMES "cycles,ipc,instructions,LOADS,STORES,L1D_MISSES,TLB_MISSES,MISPREDICTS,STALL:TLB"
enum {
    FIGURES = 8, /* of NAMES, without the metric */
    VALUES = 9,
    THREADS = 12, /* more than there are CPUs */
    WAVES = 3,
    TIDS = 256,
    RECORD = sizeof(struct sys_hpm_logged) + FIGURES * sizeof(struct sys_hpm_pair),
    LARGE = 1 << 20
};

static int session;
static char why[160];
static unsigned cpus;

/* ---- What is logged -------------------------------------------------------------------------- */

static volatile unsigned char memory[1 << 20];

static void work(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        memory[i * 4099 % sizeof memory] += (unsigned char)i;
}

static void move_to(unsigned cpu)
{
    cpu_set_t at;

    CPU_ZERO(&at);
    CPU_SET(cpu, &at);
    pthread_setaffinity_np(pthread_self(), sizeof at, &at);
}

static void *roam(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;

    for (unsigned i = 0; i < 6; i++) {
        work(500 + 700 * (n % 5));
        move_to((n + i) % cpus);
    }
    return NULL;
}

static int brood(unsigned children)
{
    pthread_t t[THREADS];
    char number[16];

    for (unsigned wave = 0; wave < WAVES; wave++) {
        for (unsigned i = 0; i < THREADS; i++)
            if (pthread_create(&t[i], NULL, roam, (void *)(uintptr_t)(wave + i)))
                return 1;
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(t[i], NULL);
    }
    if (!children)
        return 0;
    snprintf(number, sizeof number, "%u", children - 1);
    int pid = application_start((char *[]){"logs", "brood", number}, 3);
    return pid < 0 ? 1 : application_wait(pid);
}

/* ---- The log --------------------------------------------------------------------------------- */

/* The latest record of each thread, by its length. */
static struct seen {
    struct sys_hpm_logged last;
    struct sys_hpm_pair figure[FIGURES];
    unsigned records;
    bool ended;
} seen[TIDS];
static unsigned threads, records, backwards, malformed;
static uint64_t lost, rests;
static struct sys_hpm_pair rest[FIGURES];
static uint64_t rest_length;

static void forget(void)
{
    memset(seen, 0, sizeof seen);
    memset(rest, 0, sizeof rest);
    threads = records = backwards = malformed = 0;
    lost = rests = rest_length = 0;
}

static struct seen *seen_of(uint32_t tid)
{
    unsigned i = 0;

    while (i < threads && seen[i].last.tid != tid)
        i++;
    if (i == TIDS)
        return NULL;
    threads += i == threads;
    return &seen[i];
}

static bool not_less(const struct sys_hpm_pair *now, const struct sys_hpm_pair *before)
{
    bool is = true;

    for (unsigned f = 0; f < FIGURES; f++)
        is &= now[f].counted >= before[f].counted && now[f].seen >= before[f].seen;
    return is;
}

static void note(const struct sys_hpm_logged *r, const struct sys_hpm_pair *figure)
{
    malformed += r->figures != FIGURES || r->cpu >= cpus || r->why > SYS_LOG_REST;
    lost += r->lost;
    if (r->why == SYS_LOG_REST) {
        rests += r->tid;
        rest_length += r->length;
        for (unsigned f = 0; f < FIGURES; f++) {
            rest[f].counted += figure[f].counted;
            rest[f].seen += figure[f].seen;
        }
        return;
    }
    struct seen *s = seen_of(r->tid);
    records++;
    if (!s || r->length < s->last.length)
        return; /* of another CPU, taken late */
    backwards += !not_less(figure, s->figure);
    bool ended = s->ended || r->why == SYS_LOG_ENDED;
    unsigned n = s->records + 1;
    s->last = *r;
    memcpy(s->figure, figure, sizeof s->figure);
    s->ended = ended;
    s->records = n;
}

static int take_once(void)
{
    static _Alignas(8) char buffer[200 * RECORD];
    int n = hpm_log_take(session, buffer, sizeof buffer);

    for (int i = 0; i < n; i++) {
        const struct sys_hpm_logged *r = (const void *)(buffer + i * RECORD);
        note(r, (const struct sys_hpm_pair *)(r + 1));
    }
    return n;
}

static void take_all(void)
{
    while (take_once() > 0)
        ;
}

static bool begin_log(uint32_t scope, uint32_t pid, uint64_t every_ns, uint32_t bytes)
{
    const struct sys_hpm_log what = {
        .every_ns = every_ns, .scope = scope, .pid = pid, .bytes = bytes};

    forget();
    session = hpm_open(NAMES, why, sizeof why);
    int figures = session > 0 ? hpm_log(session, &what, why, sizeof why) : 0;
    if (figures != FIGURES)
        printf("# %d %d: %s\n", session, figures, why);
    return figures == FIGURES;
}

/* Reads without the metric. */
static bool read_pairs(uint32_t scope, uint32_t pid, uint32_t tid, struct sys_hpm_pair *out,
                       uint64_t *length)
{
    const struct sys_hpm_read what = {
        .session = (uint32_t)session, .scope = scope, .pid = pid, .tid = tid};
    static struct sys_hpm_value v[VALUES];
    unsigned f = 0;

    if (hpm_values(&what, v, VALUES) != VALUES)
        return false;
    *length = v[0].length;
    for (unsigned i = 0; i < VALUES; i++)
        if (v[i].kind == SYS_VALUE_COUNT)
            out[f++] = (struct sys_hpm_pair){v[i].counted, v[i].seen};
    return f == FIGURES;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Checks the records of a family that has ended against its final reading. */
static void family_adds_up(const char *what, uint32_t pid)
{
    struct sys_hpm_pair sum[FIGURES], final[FIGURES];
    uint64_t length = rest_length, final_length = 0;
    unsigned ended = 0, off = 0;

    memcpy(sum, rest, sizeof sum);
    for (unsigned t = 0; t < threads; t++) {
        if (!seen[t].ended)
            continue;
        ended++;
        length += seen[t].last.length;
        for (unsigned f = 0; f < FIGURES; f++) {
            sum[f].counted += seen[t].figure[f].counted;
            sum[f].seen += seen[t].figure[f].seen;
        }
    }
    if (!read_pairs(SYS_SCOPE_FAMILY, pid, 0, final, &final_length))
        off = FIGURES;
    for (unsigned f = 0; f < FIGURES; f++)
        if (sum[f].counted != final[f].counted || sum[f].seen != final[f].seen || !sum[f].seen) {
            off++;
            printf("# figure %u: %llu in %llu, final %llu in %llu\n", f,
                   (unsigned long long)sum[f].counted, (unsigned long long)sum[f].seen,
                   (unsigned long long) final[f].counted, (unsigned long long) final[f].seen);
        }
    printf("# %s: threads=%u ended=%u rests=%llu records=%u lost=%llu\n", what, threads, ended,
           (unsigned long long)rests, records, (unsigned long long)lost);
    tap_check(!off && length == final_length, "%s: records add up to the final reading", what);
    tap_check(ended + rests == 2 * (THREADS * WAVES + 1), "%s: each thread's end is told", what);
    tap_check(!backwards && !malformed, "%s: records are in order and well formed", what);
}

static void log_family(const char *what, uint64_t every_ns, uint32_t bytes, bool take)
{
    uint32_t pid = (uint32_t)application_next_pid();

    if (!tap_check(begin_log(SYS_SCOPE_FAMILY, pid, every_ns, bytes), "%s: starts", what))
        return;
    int is = application_start((char *[]){"logs", "brood", "1"}, 3);
    int beside = application_start((char *[]){"logs", "brood", "0"}, 3); /* none of the family's */
    for (unsigned i = 0; take && i < 40; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        take_once();
    }
    tap_check(is == (int)pid && !application_wait(is), "%s: a program runs", what);
    application_wait(beside);
    take_all();
    tap_check(!hpm_log_take(session, NULL, 0), "%s: CPUs tell what is left", what);
    take_all();
    tap_check(take == !lost, "%s: %s", what, take ? "nothing is lost" : "what is lost is counted");
    family_adds_up(what, pid);
    hpm_close(session);
}

/* Threads at rest have records equal to their readings. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t go;
    bool goes;
    atomic_uint resting;
} rest_here = {.lock = PTHREAD_MUTEX_INITIALIZER, .go = PTHREAD_COND_INITIALIZER};

static void *roam_and_rest(void *arg)
{
    roam(arg);
    pthread_mutex_lock(&rest_here.lock);
    atomic_fetch_add(&rest_here.resting, 1);
    while (!rest_here.goes)
        pthread_cond_wait(&rest_here.go, &rest_here.lock);
    pthread_mutex_unlock(&rest_here.lock);
    return NULL;
}

static unsigned off_threads(uint32_t self)
{
    struct sys_hpm_pair is[FIGURES];
    unsigned off = 0;
    uint64_t length;

    for (unsigned t = 0; t < threads; t++) {
        if (seen[t].last.tid == self)
            continue;
        off += !read_pairs(SYS_SCOPE_THREAD, 0, seen[t].last.tid, is, &length) ||
               memcmp(is, seen[t].figure, sizeof is) != 0 || length != seen[t].last.length;
    }
    return off;
}

static void log_threads(uint32_t scope, const char *what)
{
    uint32_t self = (uint32_t)getpid();
    pthread_t t[THREADS];
    unsigned off = 1;

    rest_here.goes = false;
    atomic_store(&rest_here.resting, 0);
    if (!tap_check(begin_log(scope, 0, 50000, LARGE), "%s: starts", what))
        return;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, roam_and_rest, (void *)i);
    while (atomic_load(&rest_here.resting) < THREADS)
        take_once();
    for (unsigned i = 0; i < 200 && off; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        take_all();
        off = scope == SYS_SCOPE_MACHINE ? 0 : off_threads(self);
    }
    unsigned moved = 0;
    for (unsigned i = 0; i < threads; i++)
        moved += seen[i].records > 2;
    tap_check(!off && !lost, "%s: each thread's records are its readings (%u are not)", what, off);
    tap_check(scope == SYS_SCOPE_MACHINE ? threads > THREADS : threads == THREADS + 1,
              "%s: %u threads", what, threads);
    tap_check(moved >= THREADS, "%s: each has several records", what);
    pthread_mutex_lock(&rest_here.lock);
    rest_here.goes = true;
    pthread_cond_broadcast(&rest_here.go);
    pthread_mutex_unlock(&rest_here.lock);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    hpm_close(session);
}

/* ---- Closing and refusals -------------------------------------------------------------------- */

static void close_while_logging(void)
{
    unsigned wrong = 0;
    int is = application_start((char *[]){"logs", "brood", "1"}, 3);

    for (unsigned i = 0; i < 20; i++) {
        wrong += !begin_log(SYS_SCOPE_MACHINE, 0, i % 2 ? 20000 : 0, 4096 << i % 3);
        nanosleep(&(struct timespec){0, 200000}, NULL);
        if (i % 4 == 3)
            wrong += take_once() <= 0;
        hpm_close(session);
        wrong += hpm_log_take(session, NULL, 0) != -ESRCH;
    }
    tap_check(!wrong && !application_wait(is), "logs are closed while they are written (%u wrong)",
              wrong);
}

static void have_few(void)
{
    const struct sys_hpm_log what = {.scope = SYS_SCOPE_PROCESS, .bytes = 4096};
    int open[SYS_COUNT_SESSIONS];
    unsigned right = 0;

    for (unsigned i = 0; i < SYS_COUNT_SESSIONS; i++) {
        open[i] = hpm_open("cycles", why, sizeof why);
        right += hpm_log(open[i], &what, why, sizeof why) == 1;
    }
    tap_check(right == SYS_COUNT_SESSIONS, "four sessions have a log");
    for (unsigned i = 0; i < SYS_COUNT_SESSIONS; i++)
        hpm_close(open[i]);
}

static void refuse(void)
{
    static const struct {
        struct sys_hpm_log what;
        int err;
        const char *why;
    } bad[] = {
        {{1, SYS_SCOPE_PROCESS, 0, 4096, 0}, -EINVAL, "every_ns"},
        {{19999, SYS_SCOPE_PROCESS, 0, 4096, 0}, -EINVAL, "every_ns"},
        {{UINT64_MAX, SYS_SCOPE_PROCESS, 0, 4096, 0}, -EINVAL, "every_ns"},
        {{0, SYS_SCOPE_THREAD, 0, 4096, 0}, -EINVAL, "scope"},
        {{0, SYS_SCOPES, 0, 4096, 0}, -EINVAL, "scope"},
        {{0, SYS_SCOPE_MACHINE, 1, 4096, 0}, -EINVAL, "pid"},
        {{0, SYS_SCOPE_PROCESS, 0, 0, 0}, -EINVAL, "bytes"},
        {{0, SYS_SCOPE_PROCESS, 0, 2048, 0}, -EINVAL, "bytes"},
        {{0, SYS_SCOPE_PROCESS, 0, 5000, 0}, -EINVAL, "bytes"},
        {{0, SYS_SCOPE_PROCESS, 0, 1u << 21, 0}, -EINVAL, "bytes"},
        {{0, SYS_SCOPE_PROCESS, 0, 4096, 1}, -EINVAL, "reserved"},
        {{0, SYS_SCOPE_PROCESS, 4000000, 4096, 0}, -ESRCH, "there is no process"},
    };
    const struct sys_hpm_log good = {.scope = SYS_SCOPE_PROCESS, .bytes = 4096};
    char byte[RECORD];

    session = hpm_open(NAMES, why, sizeof why);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int err = hpm_log(session, &bad[i].what, why, sizeof why);
        tap_check(err == bad[i].err && !strncmp(why, bad[i].why, strlen(bad[i].why)),
                  "refused: %s (%d)", why, err);
    }
    tap_check(hpm_log_take(session, byte, sizeof byte) == -ESRCH, "no log, no records");
    tap_check(hpm_log(session + 1, &good, why, sizeof why) == -ESRCH, "no session: %s", why);
    tap_check(hpm_log(session, &good, why, sizeof why) == FIGURES, "what is right is accepted");
    tap_check(hpm_log(session, &good, why, sizeof why) == -EBUSY, "but once: %s", why);
    hpm_log_take(session, NULL, 0);
    tap_check(hpm_log_take(session, byte, sizeof byte - 1) == -EINVAL, "no room for a record");
    tap_check(syscall3(SYS_HPM_LOG_TAKE, session, (void *)8, sizeof byte) == -EFAULT &&
                  hpm_log_take(session, byte, sizeof byte) == 1,
              "what could not be copied stays");
    hpm_close(session);
    int metrics = hpm_open("ipc", why, sizeof why);
    tap_check(hpm_log(metrics, &good, why, sizeof why) == -EINVAL, "metrics: %s", why);
    hpm_close(metrics);
}

int main(int argc, char **argv)
{
    cpus = (unsigned)syscall2(SYS_CPUS, NULL, 0);
    if (argc == 3 && !strcmp(argv[1], "brood"))
        return brood((unsigned)atoi(argv[2]));
    refuse();
    have_few();
    log_threads(SYS_SCOPE_PROCESS, "threads of a process");
    log_threads(SYS_SCOPE_MACHINE, "the machine's threads");
    log_family("a family", 50000, LARGE, true);
    log_family("a family, ends only", 0, LARGE, true);
    log_family("a family, small buffers", 20000, 4096, false);
    close_while_logging();
    return tap_done();
}
