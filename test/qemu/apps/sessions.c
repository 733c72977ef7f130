/*
 * Sessions of counting under stress, and what becomes of them and of children when processes end.
 *
 *   sessions THREADS ROUNDS
 *
 *   sessions hog      has all that an application and its children may have, for a while
 *   sessions beside   is there meanwhile, and has its share nevertheless
 *   sessions litter N  starts more children than it can wait for, one after the other, and one
 *   that starts others, N times
 *
 * The other words are for the children that it starts: hold (ends with three sessions open),
 * foreign N (uses another process's session), orphan (ends before its child, which never would),
 * greedy N (opens what it can, and so does each of N children, one the other's child: how many),
 * brood N (works, with N children, which have one less), forever, nothing.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/tap.h"

enum {
    VALUES = 4,
    SESSIONS = 16,
    OWN = SYS_COUNT_SESSIONS,
    FAMILY = SYS_COUNT_FAMILY,
    CHILDREN = 32,
    THREADS_MAX = 64,
    WORK = 50000,
    FINE = 7,
    WRONG = 99
};
_Static_assert(FAMILY == 8 && SESSIONS >= 2 * FAMILY, "two applications have what they may have");

static int start(const char *word, const char *more)
{
    char *argv[] = {"sessions", (char *)word, (char *)more};

    return application_start(argv, more ? 3 : 2);
}

static int run(const char *word, const char *more)
{
    int pid = start(word, more);

    return pid < 0 ? pid : application_wait(pid);
}

static int open_names(const char *names)
{
    char why[160];

    return hpm_open(names, why, sizeof why);
}

/* ---- Children -------------------------------------------------------------------------------- */

static int hold(void)
{
    for (int i = 0; i < 3; i++)
        if (open_names("cycles") < 0)
            return 1;
    return FINE;
}

static int use_foreign(uint32_t session)
{
    struct sys_hpm_value v[VALUES];
    struct sys_hpm_read read = {.session = session, .scope = SYS_SCOPE_MACHINE};

    return hpm_values(&read, v, VALUES) == -ESRCH && syscall1(SYS_HPM_CLOSE, session) == -ESRCH
               ? FINE
               : 1;
}

/* Opens all that one process may have. True: there were as many as that, and the next is refused
 * with the limit's name. */
static bool open_all(int session[OWN])
{
    char why[160] = "";
    int n = 0;

    while (n < OWN && (session[n] = open_names("cycles")) > 0)
        n++;
    return n == OWN && hpm_open("cycles", why, sizeof why) == -ENOSPC &&
           !strcmp(why, "this process has 4 sessions open, as many as one process may have");
}

/* How many sessions it and its children have at the same time; WRONG: the limit is not named to the
 * next. */
static int greedy(int more)
{
    static const char limit[] = "this application and those that it has started have 8 sessions "
                                "open, as many as they may have";
    char number[16], why[160] = "";
    int n = 0, others = 0;

    while (hpm_open("cycles", why, sizeof why) > 0)
        n++;
    if (n < OWN && strcmp(why, limit) != 0)
        return WRONG;
    snprintf(number, sizeof number, "%d", more - 1);
    if (more)
        others = run("greedy", number);
    else
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    return others == WRONG ? WRONG : n + others;
}

static int hog(void)
{
    tap_check(greedy(4) == FAMILY, "an application and its children have %d sessions", FAMILY);
    return tap_done();
}

/* Before, while and after the other application has all that it may have. */
static int beside(void)
{
    int session[OWN];
    bool had = true;

    for (int i = 0; i < 40; i++) {
        had &= open_all(session);
        for (int k = 0; k < OWN; k++)
            if (session[k] > 0)
                hpm_close(session[k]);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return had ? FINE : 1;
}

static void work(void)
{
    for (volatile int i = 0; i < WORK; i++)
        ;
}

static int brood(int n)
{
    char number[16];
    int status = 0;

    work();
    snprintf(number, sizeof number, "%d", n - 1);
    for (int i = 0; i < n; i++)
        status |= run("brood", number);
    return status;
}

static int litter(int times)
{
    int status = 0;

    for (; times > 0; times--) {
        for (int i = 0; i < CHILDREN + 2; i++)
            status |= run("brood", "0");
        status |= brood(3);
    }
    return status;
}

/* The child's number is the status, which is why this is done early. */
static int leave_child(void)
{
    return start("forever", NULL);
}

static _Noreturn void forever(void)
{
    for (;;)
        sched_yield();
}

/* ---- Stress ---------------------------------------------------------------------------------- */

static unsigned rounds;
static atomic_uint opened, full, wrong;

static void expect(bool right, const char *what, long long figure)
{
    if (!right && atomic_fetch_add(&wrong, 1) < 10)
        printf("# %s: %lld\n", what, figure);
}

static uint64_t own_cycles(int session, bool since_last)
{
    struct sys_hpm_value v[VALUES] = {0};
    struct sys_hpm_read read = {
        .session = (uint32_t)session, .scope = SYS_SCOPE_THREAD, .since_last = since_last};
    int n = hpm_values(&read, v, VALUES);

    expect(n >= 1 && !strcmp(v[0].name, "cycles"), "values", n);
    expect(v[0].sure == SYS_SURE_EXACT, "cycles that are not exact", v[0].sure);
    return v[0].count;
}

static uint64_t process_cycles(int session)
{
    struct sys_hpm_value v[VALUES] = {0};
    struct sys_hpm_read read = {.session = (uint32_t)session, .scope = SYS_SCOPE_PROCESS};

    expect(hpm_values(&read, v, VALUES) >= 1, "no values of the process", 0);
    return v[0].count;
}

/* Sessions of one thread see all of it from their opening on, in any order of readings. */
static void use(int session)
{
    uint64_t first = own_cycles(session, false);
    sched_yield();
    uint64_t part = own_cycles(session, true), second = own_cycles(session, false);
    uint64_t rest = own_cycles(session, true), third = own_cycles(session, false);

    expect(first <= part && part <= second && second <= third, "cycles that go back",
           (long long)second);
    expect(part + rest >= second && part + rest <= third, "parts that are not the whole",
           (long long)(part + rest));
    const struct sys_hpm_read own = {.scope = SYS_SCOPE_THREAD};
    struct sys_breakdown b = {0};
    expect(!hpm_breakdown(&own, &b) && third <= b.cycles, "more than the thread ever had",
           (long long)third);
    expect(process_cycles(session) >= third, "a process with less than its thread",
           (long long)third);
}

static void *open_and_close(void *arg)
{
    static const char *const names[] = {"cycles", "cycles,cycles:u", "cycles,ipc",
                                        "cycles,branch.miss,l1d.miss:k",
                                        "cycles cycles:k,l1i.miss:u"};
    uint64_t random = (uintptr_t)arg * 0x9e3779b97f4a7c15 | 1;

    for (unsigned i = 0; i < rounds;) {
        random = random * 6364136223846793005 + 1442695040888963407;
        int session = open_names(names[(random >> 33) % 5]);
        if (session == -EOPNOTSUPP)
            session = open_names(names[0]);
        if (session == -ENOSPC) {
            atomic_fetch_add(&full, 1);
            nanosleep(&(struct timespec){0, 200000}, NULL);
            continue;
        }
        i++;
        expect(session > 0, "opening", session);
        atomic_fetch_add(&opened, 1);
        use(session);
        expect(syscall1(SYS_HPM_CLOSE, session) == 0, "closing", session);
    }
    return NULL;
}

static void stress(unsigned threads)
{
    pthread_t thread[THREADS_MAX];

    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, open_and_close, (void *)(uintptr_t)(i + 1)))
            exit(2);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    tap_check(!wrong, "sessions come and go and each sees its own");
    tap_check(opened == threads * rounds, "there were %u of them, and %u too many", opened, full);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void all_are_free(void)
{
    char number[16];
    int session[OWN];

    tap_check(open_all(session), "a process has as many sessions as it may");
    int others = run("greedy", "3");
    tap_check(others == FAMILY - OWN,
              "its children have the rest of what they may have together (%d)", others);
    for (unsigned i = 0; i < OWN; i++)
        hpm_close(session[i]);
    snprintf(number, sizeof number, "%d", SESSIONS / OWN - 1);
    others = run("greedy", number);
    tap_check(others == FAMILY, "then they can have all of it (%d)", others);
}

static struct sys_hpm_read reading_of(int session, uint32_t scope, bool since_last)
{
    return (struct sys_hpm_read){
        .session = (uint32_t)session, .scope = scope, .since_last = since_last};
}

/* The cycles that were not handed over are in the next reading. */
static void nothing_is_lost(uint32_t scope, const char *whose)
{
    struct sys_hpm_value v[VALUES];
    int session = open_names("cycles");
    struct sys_hpm_read since = reading_of(session, scope, true),
                        all = reading_of(session, scope, false);

    hpm_values(&since, v, VALUES);
    hpm_values(&all, v, VALUES);
    uint64_t before = v[0].count;
    work();
    hpm_values(&all, v, VALUES);
    uint64_t after = v[0].count;
    int err = (int)syscall3(SYS_HPM_VALUES, &since, 8, sizeof v);
    hpm_values(&since, v, VALUES);
    tap_check(err == -EFAULT && after > before && v[0].count >= after - before,
              "a reading of %s that cannot be handed over has not been made (%lld of %lld)", whose,
              (long long)v[0].count, (long long)(after - before));
    hpm_close(session);
}

/* pid: of a child, or 0. */
static uint64_t cycles_of(int session, uint32_t scope, int pid, bool since_last)
{
    struct sys_hpm_value v[VALUES] = {0};
    struct sys_hpm_read read = reading_of(session, scope, since_last);

    read.pid = (uint32_t)pid;
    return hpm_values(&read, v, VALUES) == 1 && v[0].sure == SYS_SURE_EXACT ? v[0].count : 0;
}

/* Counts of children that have ended, and of theirs, remain, are they forgotten or not. */
static void families(void)
{
    int session = open_names("cycles"), status = 0;
    struct sys_breakdown whole = {0}, own = {0};
    uint64_t parts = 0, least = 0, children = 0;

    for (int i = 0; i < CHILDREN + 8; i++) {
        int child = start("brood", i % 8 ? "0" : "1");
        status |= child < 0 ? child : application_wait(child);
        children += cycles_of(session, SYS_SCOPE_FAMILY, child, false);
        uint64_t more = cycles_of(session, SYS_SCOPE_FAMILY, 0, true);
        least = !i || more < least ? more : least;
        parts += more;
    }
    uint64_t self = cycles_of(session, SYS_SCOPE_PROCESS, 0, false);
    uint64_t all = cycles_of(session, SYS_SCOPE_FAMILY, 0, false);
    uint64_t self_later = cycles_of(session, SYS_SCOPE_PROCESS, 0, false);
    parts += cycles_of(session, SYS_SCOPE_FAMILY, 0, true);
    tap_check(!status && least > WORK, "each child is among its family's cycles (%llu at least)",
              (unsigned long long)least);
    tap_check(all <= parts && all > parts - parts / 100,
              "they stay, and are there once (%llu of %llu)", (unsigned long long)all,
              (unsigned long long)parts);
    /* A child's last ones, as it tells its parent, are counted when it has been waited for. */
    tap_check(all >= self + children && all <= self_later + children + children / 20,
              "a family's are those that its %d children had when they ended, and its own (%llu, "
              "%llu, %llu)",
              CHILDREN + 8, (unsigned long long)all, (unsigned long long)children,
              (unsigned long long)self);
    struct sys_hpm_read read = {.scope = SYS_SCOPE_FAMILY};
    tap_check(!hpm_breakdown(&read, &whole) && whole.cycles >= all, "a family has a breakdown");
    read.scope = SYS_SCOPE_PROCESS;
    tap_check(!hpm_breakdown(&read, &own) && own.cycles < whole.cycles,
              "... which is more than the process's");
    hpm_close(session);
}

static void ends(void)
{
    struct sys_thread_info info[2];
    char number[16];
    int session = open_names("cycles"), orphan = run("orphan", NULL);
    int lives = application_threads(orphan, info, 2);

    syscall2(SYS_kill, orphan, SIGKILL);
    int status = application_wait(orphan);
    tap_check(orphan > 0 && lives == 1 && status == 128 + SIGKILL,
              "a child that outlives its parent is the first process's (%d)", status);
    snprintf(number, sizeof number, "%d", session);
    tap_check(run("foreign", number) == FINE, "another process's session is none");
    for (int i = 0; i < 8; i++)
        if (run("hold", NULL) != FINE)
            tap_check(false, "sessions can be held");
    hpm_close(session);
    all_are_free();
}

static int many;

static void *read_own(void *arg)
{
    struct sys_hpm_value v[VALUES];
    struct sys_hpm_read read = {
        .session = (uint32_t)many, .scope = SYS_SCOPE_THREAD, .since_last = 1};

    (void)arg;
    int n = hpm_values(&read, v, VALUES);
    expect(n == 1 && v[0].count > 0 && v[0].count < process_cycles(many),
           "own cycles since the last", n);
    read.tid = (uint32_t)syscall0(SYS_gettid);
    uint64_t first = v[0].count;
    expect(hpm_values(&read, v, VALUES) == 1 && first + v[0].count <= own_cycles(many, false),
           "the same thread by its number", (long long)v[0].count);
    return NULL;
}

/* More threads than one session keeps readings of; but not at a time. */
static void read_many(void)
{
    pthread_t thread;

    many = open_names("cycles");
    for (int i = 0; i < 100; i++) {
        if (pthread_create(&thread, NULL, read_own, NULL))
            exit(2);
        pthread_join(thread, NULL);
    }
    hpm_close(many);
    tap_check(!wrong, "a hundred threads, each since its last reading");
}

static void children(void)
{
    int pid[CHILDREN], n = 0, status = 0;
    struct sys_hpm_value v[VALUES];

    tap_check(run("no", "such") == 1, "a child's status is known");
    tap_check(application_start((char *[]){"nosuch"}, 1) == -ENOENT,
              "an application that there is not");
    for (int i = 0; i < CHILDREN + 8; i++)
        status |= run("nothing", NULL);
    tap_check(!status, "a child that has been waited for makes room (%d)", status);
    while (n < CHILDREN && (pid[n] = start("nothing", NULL)) > 0)
        n++;
    tap_check(n == CHILDREN, "%d children at a time", n);
    while (n--)
        status |= application_wait(pid[n]);
    int session = open_names("cycles"), child = start("nothing", NULL);
    status |= application_wait(child);
    struct sys_hpm_read read = {
        .session = (uint32_t)session, .scope = SYS_SCOPE_PROCESS, .pid = (uint32_t)child};
    tap_check(!status && hpm_values(&read, v, VALUES) == 1 && v[0].count > 0,
              "the counts of one that has ended can be read");
    read.scope = SYS_SCOPE_THREAD;
    tap_check(hpm_values(&read, v, VALUES) == -ESRCH, "... those of its threads can not");
    hpm_close(session);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    unsigned threads = (unsigned)strtoul(word, NULL, 10);

    if (!strcmp(word, "hold"))
        return hold();
    if (!strcmp(word, "greedy"))
        return greedy(atoi(argv[2]));
    if (!strcmp(word, "brood"))
        return brood(atoi(argv[2]));
    if (!strcmp(word, "hog"))
        return hog();
    if (!strcmp(word, "beside"))
        return beside();
    if (!strcmp(word, "litter"))
        return litter(atoi(argv[2]));
    if (!strcmp(word, "foreign"))
        return use_foreign((uint32_t)strtoul(argv[2], NULL, 10));
    if (!strcmp(word, "orphan"))
        return leave_child();
    if (!strcmp(word, "forever"))
        forever();
    if (!strcmp(word, "nothing"))
        return 0;
    if (argc != 3 || !threads || threads > THREADS_MAX)
        return 1;
    rounds = (unsigned)strtoul(argv[2], NULL, 10);
    ends();
    children();
    families();
    nothing_is_lost(SYS_SCOPE_THREAD, "a thread");
    nothing_is_lost(SYS_SCOPE_FAMILY, "a family");
    nothing_is_lost(SYS_SCOPE_MACHINE, "the machine");
    read_many();
    stress(threads);
    all_are_free();
    return tap_done();
}
