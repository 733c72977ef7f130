/*
 * Processes and those they start: their numbers, and what they may see of each other.
 *
 *   kin numbers            with numbers.first near the largest: numbers begin anew
 *   kin all | kin own      with that value of proc.visible: what a process sees of its child's
 *   child, and a child of another child
 *
 * The other words are for the children that it starts: open, forever, middle, probe WORD PID.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"
#include "apps/libc/libc.h"
#include "test/qemu/apps/tap.h"

enum { CHILDREN = 24, THREADS = 24, SEEN_MAX = 64, FINE = 7, LARGEST = 0x3fffffff };

static int start(const char *word, const char *more, const char *last)
{
    char *argv[] = {"kin", (char *)word, (char *)more, (char *)last};

    return application_start(argv, last ? 4 : more ? 3 : 2);
}

static void sleep_ms(unsigned ms)
{
    sleep_ns((uint64_t)ms * 1000000);
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        sleep_ms(1000);
}

static int open_samples(uint32_t pid)
{
    return samples_open("time@100us", pid, 1000, 100, NULL, 0);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static int open_and_end(void)
{
    return open_samples((uint32_t)getpid()) > 0 ? FINE : 1;
}

static void *own_number(void *arg)
{
    *(int *)arg = (int)syscall0(SYS_gettid);
    return NULL;
}

static void processes_begin_anew(void)
{
    int kept = start("forever", NULL, NULL), lowest = kept, highest = kept;
    unsigned wrong = 0;

    for (unsigned i = 0; i < CHILDREN; i++) {
        int next = application_next_pid();
        for (unsigned n = 0; n < 100; n++)
            wrong += application_next_pid() != next;
        int pid = start("open", NULL, NULL);
        wrong += pid != next || pid <= 0 || pid == kept || pid == getpid();
        wrong += application_wait(pid) != FINE;
        lowest = pid < lowest ? pid : lowest;
        highest = pid > highest ? pid : highest;
    }
    tap_check(!wrong, "a number is reserved once, and each child's is its own (%u wrong)", wrong);
    tap_check(highest <= LARGEST && lowest == 1, "behind the largest comes 1 (%d..%d)", lowest,
              highest);
    tap_check(application_wait(0) == -ESRCH, "none is 0");
}

static void threads_begin_anew(void)
{
    int number[THREADS], least = LARGEST, own = (int)syscall0(SYS_gettid);
    unsigned wrong = 0;
    pthread_t thread;

    for (unsigned i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, own_number, &number[i]))
            exit(2);
        pthread_join(thread, NULL);
        wrong += number[i] <= 0 || number[i] == own || (i && number[i] == number[i - 1]);
        least = number[i] < least ? number[i] : least;
    }
    tap_check(!wrong && least < own, "threads' numbers begin anew, too (%d behind %d)", least, own);
}

/* ---- Sight ----------------------------------------------------------------------------------- */

/* What a reading comes to if it is allowed, and if not. */
static void expect(bool allowed, int64_t result, int refusal, const char *what)
{
    tap_check(allowed ? result >= 0 || result == -EOPNOTSUPP : result == refusal, "%s: %lld", what,
              (long long)result);
}

static int64_t breakdown(uint32_t scope, int pid)
{
    struct sys_hpm_read read = {.scope = scope, .pid = (uint32_t)pid};
    struct sys_breakdown b;

    return hpm_breakdown(&read, &b);
}

static int64_t counts(uint32_t scope, int pid)
{
    char why[160];
    int session = hpm_open("cycles", why, sizeof why);
    struct sys_hpm_read read = {.session = (uint32_t)session, .scope = scope, .pid = (uint32_t)pid};
    struct sys_hpm_value value[4];

    if (session < 0) /* there is no PMU */
        return scope == SYS_SCOPE_MACHINE ? -EACCES : -ESRCH;
    int64_t n = hpm_values(&read, value, 4);
    hpm_close(session);
    return n;
}

static int64_t samples(int pid)
{
    int session = open_samples((uint32_t)pid);

    if (session > 0)
        samples_close(session);
    return session;
}

/* Processes among all threads that can be seen, put into pids. */
static unsigned seen(int pids[SEEN_MAX])
{
    static struct sys_thread_info info[SEEN_MAX];
    int n = application_threads(0, info, SEEN_MAX);
    unsigned count = 0;

    for (int i = 0; i < n && i < SEEN_MAX; i++)
        if (!count || pids[count - 1] != (int)info[i].pid)
            pids[count++] = (int)info[i].pid;
    return count;
}

static bool is_seen(int pid)
{
    int pids[SEEN_MAX];
    unsigned n = seen(pids);

    while (n-- && pids[n] != pid)
        ;
    return n != -1u;
}

static int probe(bool all, int other)
{
    struct sys_thread_info info;
    struct sys_symbol place;
    static struct sys_memory memory;
    static struct sys_memory_region region;
    bool pmu = hpm_open("cycles", NULL, 0) > 0;

    tap_check(is_seen(getpid()) && is_seen(other) == all, "the other process is %s the threads",
              all ? "among" : "not among");
    expect(all, application_threads(other, &info, 1), -ESRCH, "its threads");
    expect(all, breakdown(SYS_SCOPE_PROCESS, other), -ESRCH, "its breakdown");
    expect(all, breakdown(SYS_SCOPE_MACHINE, 0), -EACCES, "the machine's breakdown");
    expect(all && pmu, counts(SYS_SCOPE_PROCESS, other), -ESRCH, "its counts");
    expect(all && pmu, counts(SYS_SCOPE_MACHINE, 0), -EACCES, "the machine's counts");
    expect(all, -symbol_of(other, 0x401000, &place), -ESRCH, "its places");
    expect(all, syscall3(SYS_MEMORY, other, &memory, sizeof memory), -ESRCH, "its memory");
    expect(all, syscall3(SYS_REGIONS, other, &region, sizeof region), -ESRCH, "its regions");
    expect(all, samples(other), -ESRCH, "its samples");
    expect(all, samples(0), -EACCES, "all samples");
    expect(true, samples(getpid()), 0, "the own samples");
    expect(true, breakdown(SYS_SCOPE_PROCESS, 0), 0, "the own breakdown");
    return tap_failed ? 1 : FINE;
}

static int middle(void)
{
    return application_wait(start("forever", NULL, NULL));
}

/* Of its child's child all can be read. */
static void descendants(int child, int middle_one)
{
    int pids[SEEN_MAX], grandchild = 0;
    struct sys_symbol place;

    for (unsigned n = 0, wait = 0; !grandchild && wait < 1000; wait++) {
        n = seen(pids);
        for (unsigned i = 0; i < n; i++)
            if (pids[i] != child && pids[i] != middle_one && pids[i] > getpid())
                grandchild = pids[i];
        sleep_ms(2);
    }
    expect(true, breakdown(SYS_SCOPE_PROCESS, child), 0, "a child's breakdown");
    expect(true, breakdown(SYS_SCOPE_PROCESS, grandchild ? grandchild : -1), 0,
           "a child's child's breakdown");
    expect(true, -symbol_of(grandchild, 0x401000, &place), 0, "... and places");
    expect(true, samples(grandchild), 0, "... and samples");
}

static void sight(const char *word)
{
    char number[16];
    int child = start("forever", NULL, NULL), middle_one = start("middle", NULL, NULL);

    snprintf(number, sizeof number, "%d", child);
    descendants(child, middle_one);
    tap_check(application_wait(start("probe", word, number)) == FINE,
              "what a process sees of one it has not started");
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (!strcmp(word, "forever"))
        sleep_for_ever();
    if (!strcmp(word, "open"))
        return open_and_end();
    if (!strcmp(word, "middle"))
        return middle();
    if (!strcmp(word, "probe"))
        return probe(!strcmp(argv[2], "all"), atoi(argv[3]));
    if (!strcmp(word, "numbers")) {
        processes_begin_anew();
        threads_begin_anew();
    } else {
        sight(word);
    }
    return tap_done();
}
