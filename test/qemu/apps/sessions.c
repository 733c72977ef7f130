/*
 * Sessions of counting under stress, and what becomes of them and of children when processes end.
 *
 *   sessions THREADS ROUNDS
 *
 * The other words are for the children that it starts: hold (ends with three sessions open), foreign N (uses somebody else's
 * session), orphan (ends with a child that never would), chain N (has all that it may have, and so has each of N children, one the
 * other's child), one (opens one), forever, nothing.
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
    CHILDREN = 32,
    THREADS_MAX = 64,
    FINE = 7,
    FULL = 8
};

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

/* ---- Children ---- */

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

    return hpm_values(&read, v, VALUES) == -ESRCH && syscall1(SYS_HPM_CLOSE, session) == -ESRCH ? FINE : 1;
}

static int open_one(void)
{
    int session = open_names("cycles");

    return session > 0 ? FINE : session == -ENOSPC ? FULL : 1;
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

/* The last of them finds that a process with none cannot have one either. */
static int chain(int more)
{
    char number[16];
    int session[OWN];

    snprintf(number, sizeof number, "%d", more - 1);
    if (!open_all(session))
        return 1;
    return more ? run("chain", number) : run("one", NULL) == FULL ? FINE : 1;
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

/* ---- Stress ---- */

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

    expect(first <= part && part <= second && second <= third, "cycles that go back", (long long)second);
    expect(part + rest >= second && part + rest <= third, "parts that are not the whole",
           (long long)(part + rest));
    const struct sys_hpm_read own = {.scope = SYS_SCOPE_THREAD};
    struct sys_breakdown b = {0};
    expect(!hpm_breakdown(&own, &b) && third <= b.cycles, "more than the thread ever had", (long long)third);
    expect(process_cycles(session) >= third, "a process with less than its thread", (long long)third);
}

static void *open_and_close(void *arg)
{
    static const char *const names[] = {"cycles", "cycles,cycles:u", "cycles,ipc",
                                        "cycles,branch.miss,l1d.miss:k", "cycles cycles:k,l1i.miss:u"};
    uint64_t random = (uintptr_t)arg * 0x9e3779b97f4a7c15 | 1;

    for (unsigned i = 0; i < rounds;) {
        random = random * 6364136223846793005 + 1442695040888963407;
        int session = open_names(names[(random >> 33) % 5]);
        if (session == -ENOTSUP)
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

/* ---- Ends ---- */

static void all_are_free(void)
{
    char number[16];
    int session[OWN];

    snprintf(number, sizeof number, "%d", SESSIONS / OWN - 2);
    tap_check(open_all(session), "a process has as many sessions as it may");
    tap_check(run("chain", number) == FINE, "others have the rest, and one more is too many");
    for (unsigned i = 0; i < OWN; i++)
        hpm_close(session[i]);
    tap_check(run("one", NULL) == FINE, "then there is one to be had");
}

static void ends(void)
{
    struct sys_thread_info info[2];
    char number[16];
    int session = open_names("cycles"), orphan = run("orphan", NULL), left = -1;

    for (int i = 0; i < 1000 && left != -ESRCH; i++) {
        left = application_threads(orphan, info, 2);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    tap_check(orphan > 0 && left == -ESRCH, "a child ends with its parent (%d)", left);
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
    struct sys_hpm_read read = {.session = (uint32_t)many, .scope = SYS_SCOPE_THREAD, .since_last = 1};

    (void)arg;
    int n = hpm_values(&read, v, VALUES);
    expect(n == 1 && v[0].count > 0 && v[0].count < process_cycles(many), "own cycles since the last", n);
    read.tid = (uint32_t)syscall0(SYS_GETTID);
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
    tap_check(application_start((char *[]){"nosuch"}, 1) == -ENOENT, "an application that there is not");
    for (int i = 0; i < CHILDREN + 8; i++)
        status |= run("nothing", NULL);
    tap_check(!status, "who has been waited for makes room (%d)", status);
    while (n < CHILDREN && (pid[n] = start("nothing", NULL)) > 0)
        n++;
    tap_check(n == CHILDREN && start("nothing", NULL) == -EAGAIN, "%d children, and no more", n);
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
    if (!strcmp(word, "chain"))
        return chain(atoi(argv[2]));
    if (!strcmp(word, "one"))
        return open_one();
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
    read_many();
    stress(threads);
    all_are_free();
    return tap_done();
}
