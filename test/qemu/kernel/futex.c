/* A thousand futexes, from inside: words that share a bucket, sleepers that share a word, deadlines
 * that race. */
#include "kernel/core/cpu.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/sleepers.h"
#include "mm/mm.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define THREADS 1024
#define USER_VA ((vaddr_t)0x10000000)
#define AREA    (4 * MIB) /* one word in FUTEX_BUCKETS is in the wanted bucket */

static struct space *space;
static vaddr_t words[THREADS]; /* resident, all 0 */
static uint32_t woken, timed_out, wrong, sent;
static bool is_awake[THREADS], over;

/* Collects words of one bucket, in a space of their own. */
static void begin(void)
{
    const uint32_t zero = 0;
    unsigned n = 0;
    vaddr_t va;

    threads_begin();
    woken = timed_out = wrong = sent = 0;
    over = false;
    memset(is_awake, 0, sizeof(is_awake));
    if (space_create(NULL, NULL, &space) ||
        space_map(space, USER_VA, AREA, PROT_R | PROT_W, REGION_ANON, "words", &va))
        panic("no memory for a test's space");
    for (; n < THREADS && va < USER_VA + AREA; va += sizeof(zero)) {
        if (futex_bucket(word_name(space, va)) != futex_bucket(word_name(space, USER_VA)))
            continue;
        if (space_fill(space, va, &zero, sizeof(zero)))
            panic("no memory for a test's words");
        words[n++] = va;
    }
    CHECK(n == THREADS);
}

static void spawn(void (*entry)(void *), uint64_t arg)
{
    start_thread(
        (struct thread_params){.entry = entry, .arg = (void *)arg, .space = space_arch(space)});
}

static void finish(unsigned threads)
{
    wait_for_ends(threads);
    space_destroy(space);
}

static void sleep_on(uint64_t thread, vaddr_t word)
{
    if (futex_wait(space, word, 0, FUTEX_ANY, UINT64_MAX))
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    /* In this order: a thread that is seen awake has been counted. */
    __atomic_add_fetch(&woken, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&is_awake[thread], true, __ATOMIC_RELEASE);
    note_end();
}

static void sleep_on_own_word(void *arg)
{
    sleep_on((uint64_t)arg, words[(uint64_t)arg]);
}

/* In a scattered order: 1237 and 1024 have no common divisor. */
static void of_a_thousand_words_in_one_bucket_each_wakes_its_own_sleeper(void)
{
    begin();
    for (unsigned i = 0; i < THREADS; i++)
        spawn(sleep_on_own_word, i);
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned which = i * 1237 % THREADS;
        while (!futex_wake(space, words[which], 1, FUTEX_ANY)) /* the thread is not asleep yet */
            nap(100 * NS_PER_US);
        while (!__atomic_load_n(&is_awake[which], __ATOMIC_ACQUIRE))
            nap(20 * NS_PER_US);
        CHECK(__atomic_load_n(&woken, __ATOMIC_ACQUIRE) == i + 1);
        CHECK(futex_wake(space, words[which], 1, FUTEX_ANY) == 0);
    }
    CHECK(!wrong);
    finish(THREADS);
}

static void sleep_on_first_word(void *arg)
{
    sleep_on((uint64_t)arg, words[0]);
}

/* Wakes up to `max` at a time until `wanted` were woken: until all are asleep a call may wake
 * fewer. */
static unsigned wake_all(uint32_t max, unsigned wanted)
{
    unsigned got = 0;

    while (got < wanted) {
        int n = futex_wake(space, words[0], MIN(max, wanted - got), FUTEX_ANY);
        CHECK(n >= 0);
        got += n > 0 ? (unsigned)n : 0;
        if (got < wanted)
            nap(100 * NS_PER_US);
    }
    return got;
}

static void as_many_sleepers_of_one_word_wake_as_were_asked_for(void)
{
    begin();
    for (unsigned i = 0; i < THREADS; i++)
        spawn(sleep_on_first_word, i);
    CHECK(wake_all(100, 100) == 100);
    CHECK(wake_all(1, 101) == 101);
    while (__atomic_load_n(&woken, __ATOMIC_ACQUIRE) < 201)
        nap(NS_PER_MS);
    nap(20 * NS_PER_MS); /* so that one too many would show */
    CHECK(__atomic_load_n(&woken, __ATOMIC_ACQUIRE) == 201);
    CHECK(wake_all(UINT32_MAX, THREADS - 201) == THREADS - 201);
    CHECK(futex_wake(space, words[0], UINT32_MAX, FUTEX_ANY) == 0);
    CHECK(!wrong);
    finish(THREADS);
}

#define DOZERS 48
#define DOZES  40
#define SHARED 5 /* words that the threads share */

static void doze(void *arg)
{
    uint64_t seed = (uint64_t)arg * 0x9e3779b97f4a7c15 + 1;

    for (unsigned i = 0; i < DOZES; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        int err = futex_wait(space, words[(seed >> 33) % SHARED], 0, FUTEX_ANY,
                             arch_clock_ns() + (seed >> 40) % (100 * NS_PER_US));
        __atomic_add_fetch(err == 0            ? &woken
                           : err == -ETIMEDOUT ? &timed_out
                                               : &wrong,
                           1, __ATOMIC_RELAXED);
    }
    note_end();
}

static void wake_others(UNUSED void *arg)
{
    for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        int n = futex_wake(space, words[i % SHARED], 1 + i % 3, FUTEX_ANY);
        __atomic_add_fetch(n < 0 ? &wrong : &sent, n < 0 ? 1 : (uint32_t)n, __ATOMIC_RELAXED);
        nap(10 * NS_PER_US);
    }
    note_end();
}

static void every_wake_up_reaches_one_sleeper_though_deadlines_race(void)
{
    begin();
    for (unsigned i = 0; i < DOZERS; i++)
        spawn(doze, i);
    spawn(wake_others, 0);
    wait_for_ends(DOZERS);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    finish(DOZERS + 1);
    CHECK(woken == sent);
    CHECK(woken + timed_out == DOZERS * DOZES);
    CHECK(woken && timed_out && !wrong);
}

static const struct suite_test tests[] = {
    {"of a thousand words in one bucket each wakes its own sleeper",
     of_a_thousand_words_in_one_bucket_each_wakes_its_own_sleeper},
    {"as many sleepers of one word wake as were asked for",
     as_many_sleepers_of_one_word_wake_as_were_asked_for},
    {"every wake-up reaches one sleeper though deadlines race",
     every_wake_up_reaches_one_sleeper_though_deadlines_race},
    {0},
};

const struct suite futex_suite = {"futex", tests};
