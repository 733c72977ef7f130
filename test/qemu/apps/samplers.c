/*
 * Sessions of samples: which process owns them, what they add up to, and what becomes of them when
 * processes end.
 *
 * Words for the children that it starts: hold (ends with a session open), fault (faults with one
 * open), foreign N (uses another process's), spin (some work), parent (has a child spin), more (has
 * the rest of what a family may have), nothing.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/tap.h"

enum {
    SESSIONS = 4,
    OWN = SYS_SAMPLE_SESSIONS,
    FAMILY = SYS_SAMPLE_FAMILY,
    BATCH = 256,
    TAKERS = 3,
    FINE = 7,
    FULL = 8,
    FAULTED = 139,
    WORK = 10000000
};
_Static_assert(FAMILY == OWN + 1,
               "a child has one when its parent has all that one process may have");

static struct sys_sample samples[BATCH];
static const char *criteria; /* that this machine can sample by */

static int open_of(const char *what, uint32_t pid)
{
    char why[160];
    int session = samples_open(what, pid, 1000, 1000, why, sizeof why);

    if (session < 0)
        printf("# %s: %d %s\n", what, session, why);
    return session;
}

static int start(const char *word, const char *more)
{
    char *argv[] = {"samplers", (char *)word, (char *)more};

    return application_start(argv, more ? 3 : 2);
}

static int run(const char *word, const char *more)
{
    int pid = start(word, more);

    return pid < 0 ? pid : application_wait(pid);
}

/* ---- Children -------------------------------------------------------------------------------- */

static void __attribute__((noinline)) spin(void)
{
    for (volatile unsigned i = 0; i < WORK; i++)
        ;
}

static int use_foreign(int session)
{
    struct sys_sample_account a;

    return samples_take(session, samples, BATCH) == -ESRCH &&
                   samples_account(session, 0, &a) == -ESRCH &&
                   syscall1(SYS_SAMPLE_CLOSE, session) == -ESRCH
               ? FINE
               : 1;
}

/* Opens all that one process may have. True: there were as many as that, and the next is refused
 * with the limit's name. */
static bool open_all(const char *what, int session[OWN])
{
    char why[160] = "";
    int n = 0;

    while (n < OWN && (session[n] = open_of(what, 0)) > 0)
        n++;
    return n == OWN && samples_open(what, 0, 1000, 1000, why, sizeof why) == -ENOSPC &&
           !strcmp(why,
                   "this process has 2 sessions of samples open, as many as one process may have");
}

static int have_more(const char *what)
{
    char why[160] = "";

    return open_of(what, 0) > 0 && samples_open(what, 0, 1000, 1000, why, sizeof why) == -ENOSPC &&
                   !strcmp(why, "this application and those that it has started have 3 sessions of "
                                "samples open, as "
                                "many as they may have") &&
                   run("hold", what) == FULL
               ? FINE
               : 1;
}

static int child(int argc, char **argv)
{
    const char *word = argv[1];

    if (!strcmp(word, "foreign") && argc == 3)
        return use_foreign(atoi(argv[2]));
    if (!strcmp(word, "spin"))
        spin();
    if (!strcmp(word, "parent"))
        return run("spin", NULL);
    if (!strcmp(word, "nothing") || !strcmp(word, "spin"))
        return FINE;
    if (!strcmp(word, "more"))
        return have_more(argv[2]);
    int session = open_of(argv[2], 0);
    if (session < 0)
        return session == -ENOSPC ? FULL : 1;
    if (!strcmp(word, "fault"))
        *(volatile int *)(uintptr_t)strlen(word) = 1;
    return FINE;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

struct sum {
    uint64_t samples, weight, others, functions;
};

/* Of what is there: how many are not of pid, and how many are of spin(). */
static void take_all(int session, uint32_t pid, struct sum *sum)
{
    struct sys_symbol place;
    int n;

    while ((n = samples_take(session, samples, BATCH)) > 0)
        for (int i = 0; i < n; i++) {
            sum->samples++;
            sum->weight += samples[i].period;
            sum->others += samples[i].pid != pid;
            sum->functions += samples[i].user && !symbol_of((int)pid, samples[i].pc, &place) &&
                              !strcmp(place.function, "spin");
        }
}

/* From its first instruction to its last: its samples are had, and named, when it has ended. */
static void a_child_is_sampled(void)
{
    int pid = application_next_pid(), session = open_of(criteria, (uint32_t)pid);
    struct sys_sample_account a = {0};
    struct sum sum = {0};

    tap_check(session > 0, "samples of a process that is not yet there can be asked for");
    tap_check(application_next_pid() == pid, "its number stays until it is started");
    tap_check(start("spin", NULL) == pid, "... and is the next child's");
    tap_check(application_wait(pid) == FINE, "it runs");
    tap_check(application_next_pid() > pid, "... and the next one's is another");
    take_all(session, (uint32_t)pid, &sum);
    tap_check(!samples_account(session, 0, &a), "there is an account");
    printf("# taken %llu delivered %llu lost %llu, %llu in spin\n", (unsigned long long)a.taken,
           (unsigned long long)a.delivered, (unsigned long long)a.lost,
           (unsigned long long)sum.functions);
    tap_check(sum.samples > 10 && !sum.others, "all samples are its own");
    tap_check(sum.functions * 2 > sum.samples,
              "... most of them in the function that it spends its time in");
    tap_check(a.taken == a.delivered + a.lost && a.delivered == sum.samples &&
                  a.stood_for >= sum.weight,
              "taken = delivered + lost");
    tap_check(samples_account(session, 1, &a) == -ENOENT, "there is no account behind the last");
    samples_close(session);
    tap_check(samples_take(session, samples, BATCH) == -ESRCH, "a session is closed once");
}

static void others_are_kept_out(void)
{
    char number[16];
    int session = open_of(criteria, 0);

    snprintf(number, sizeof number, "%d", session);
    tap_check(run("foreign", number) == FINE, "another process's session is none");
    tap_check(samples_take(0, samples, BATCH) == -ESRCH &&
                  samples_take(SESSIONS + 1, samples, BATCH) == -ESRCH &&
                  syscall3(SYS_SAMPLE_TAKE, 0x100000001, samples, sizeof samples) == -ESRCH,
              "nor are numbers that there are not");
    samples_close(session);
}

/* With the family the child's child is sampled, too, and without it is not. */
static void a_family_is_sampled(void)
{
    static const struct sys_profiling all = {.rate = 1000, .permille = 1000};

    for (uint32_t family = 0; family < 2; family++) {
        struct sys_profiling what = all;
        int pid = application_next_pid();
        what.criteria = (uintptr_t)criteria;
        what.pid = (uint32_t)pid;
        what.family = family;
        int session = samples_open_chains(&what, NULL, 0);
        struct sum sum = {0};
        tap_check(session > 0 && run("parent", NULL) == FINE, "a child has a child work");
        take_all(session, (uint32_t)pid, &sum);
        printf("# samples %llu, not of the first %llu\n", (unsigned long long)sum.samples,
               (unsigned long long)sum.others);
        tap_check(family ? sum.others > 10 : !sum.others,
                  "... which is sampled if it is asked for");
        samples_close(session);
    }
}

static void what_is_wrong_is_refused(void)
{
    struct sys_profiling what = {(uint64_t)criteria, 0, 1000, 10, SYS_CHAINS, 0, 0};
    uint64_t kernel = 0xffff800000100000;

    tap_check(syscall3(SYS_SAMPLE_OPEN, &what, 0, 0) == -EINVAL, "no other chains than there are");
    what.chains = SYS_CHAINS_NONE;
    what.family = 2;
    tap_check(syscall3(SYS_SAMPLE_OPEN, &what, 0, 0) == -EINVAL, "a family is there or not");
    what.family = 0;
    what.reserved = 1;
    tap_check(syscall3(SYS_SAMPLE_OPEN, &what, 0, 0) == -EINVAL, "what is reserved is 0");
    what.reserved = 0;
    what.criteria = kernel;
    tap_check(syscall3(SYS_SAMPLE_OPEN, &what, 0, 0) == -EFAULT,
              "criteria in the kernel are refused");
    tap_check(open_of("nosuch", 0) < 0 && open_of("", 0) < 0, "and those that there are not");
    tap_check(samples_open(criteria, 0, 0, 10, NULL, 0) == -EINVAL &&
                  samples_open(criteria, 0, 1000, 0, NULL, 0) == -EINVAL &&
                  samples_open(criteria, 0, 1000, 1001, NULL, 0) == -EINVAL &&
                  samples_open(criteria, 0, 1000001, 10, NULL, 0) == -EINVAL,
              "and rates and limits out of range");
    char why[160] = "";
    tap_check(samples_open(criteria, 99999, 1000, 10, why, sizeof why) == -ESRCH &&
                  !strcmp(why, "there is no process 99999"),
              "and processes that there are not (%s)", why);
    int pid = start("nothing", NULL);
    application_wait(pid);
    tap_check(open_of(criteria, (uint32_t)pid) == -ESRCH, "or are no more");
    int session = open_of(criteria, (uint32_t)getpid());
    tap_check(session > 0, "one may sample oneself");
    samples_close(session);
    session = open_of(criteria, 0);
    spin();
    struct sys_sample_account a;
    tap_check(syscall3(SYS_SAMPLE_TAKE, session, kernel, sizeof samples) == -EFAULT,
              "samples to the kernel are refused");
    tap_check(!samples_account(session, 0, &a) && a.taken > 0 && !a.delivered,
              "... and stay to be taken");
    tap_check(samples_take(session, samples, 0) == 0, "no room is fine");
    samples_close(session);
}

static int shared;
static atomic_ullong taken_by_all;
static atomic_bool spun;

static void *take_beside_others(void *arg)
{
    static __thread struct sys_sample own[BATCH];
    int n;

    (void)arg;
    do {
        bool last = spun;
        while ((n = samples_take(shared, own, BATCH)) > 0)
            taken_by_all += (unsigned)n;
        if (last)
            break;
    } while (n == 0);
    return NULL;
}

/* Each sample goes to one of them. */
static void threads_take_at_once(void)
{
    pthread_t thread[TAKERS];
    struct sys_sample_account a = {0};

    shared = open_of(criteria, 0);
    for (unsigned i = 0; i < TAKERS; i++)
        if (pthread_create(&thread[i], NULL, take_beside_others, NULL))
            exit(2);
    for (unsigned i = 0; i < 5; i++)
        spin();
    spun = true;
    for (unsigned i = 0; i < TAKERS; i++)
        pthread_join(thread[i], NULL);
    samples_account(shared, 0, &a);
    tap_check(taken_by_all > 0 && a.delivered == taken_by_all,
              "threads that take at once get each sample once (%llu of %llu)",
              (unsigned long long)a.delivered, (unsigned long long)taken_by_all);
    samples_close(shared);
}

static uint64_t free_bytes(void)
{
    return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * 4096;
}

static void all_are_free(void)
{
    int session[OWN];

    tap_check(open_all(criteria, session), "a process has as many sessions as it may");
    tap_check(run("more", criteria) == FINE, "a child has one more, and its child none");
    for (unsigned i = 0; i < OWN; i++)
        samples_close(session[i]);
    tap_check(run("hold", criteria) == FINE, "then there is one to be had");
}

static void they_end_with_their_process(void)
{
    uint64_t before = 0, after = 0;
    unsigned wrong = 0;

    for (unsigned i = 0; i < 12; i++) {
        bool faults = i & 1;
        wrong += run(faults ? "fault" : "hold", criteria) != (faults ? FAULTED : FINE);
        if (i == 3)
            before = free_bytes();
    }
    after = free_bytes();
    tap_check(!wrong, "processes end with sessions open, by themselves and by a fault");
    tap_check(after + (256 << 10) > before, "their memory comes back (%lld bytes did not)",
              (long long)(before - after));
    all_are_free();
}

/* What this machine has, best first. */
static int find_criteria(void)
{
    static const char *const known[] = {"cycles@20k", "time@100us", NULL};
    char why[160];

    for (unsigned i = 0; known[i]; i++) {
        int session = samples_open(known[i], 0, 1000, 1000, why, sizeof why);
        if (session < 0)
            continue;
        samples_close(session);
        criteria = known[i];
        return 0;
    }
    tap_skip("sessions of samples", why);
    return -1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argc, argv);
    if (find_criteria())
        return tap_done();
    printf("# by %s\n", criteria);
    a_child_is_sampled();
    a_family_is_sampled();
    others_are_kept_out();
    what_is_wrong_is_refused();
    threads_take_at_once();
    they_end_with_their_process();
    return tap_done();
}
