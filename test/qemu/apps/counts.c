/*
 * What a program reads of its own counts: exactly the instructions it executed, in the modes that
 * are counted, whatever interrupts it and whatever else runs in between.
 *
 *   counts user | kernel | both [SLACK]     as hpm.modes says
 *
 * SLACK: the instructions by which the kernel may differ from one reading to the next, where it has
 * figures to estimate; 0 if not given.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/known_loop.h"
#include "test/qemu/apps/tap.h"

#define WORD(name) (offsetof(struct sys_breakdown, name) / sizeof(uint64_t))

static struct sys_breakdown own_counts(void)
{
    const struct sys_hpm_read own = {.scope = SYS_SCOPE_THREAD};
    struct sys_breakdown b = {0};

    if (hpm_breakdown(&own, &b))
        abort();
    return b;
}

/* Returns the instructions of a loop of `n` rounds and of counting them. */
static uint64_t instructions_of(uint64_t n)
{
    struct sys_breakdown before = own_counts(), after;

    known_loop(n);
    after = own_counts();
    return after.instructions - before.instructions;
}

/* Of several, the one that was interrupted least. */
static uint64_t least_of(uint64_t n)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 9; i++) {
        uint64_t once = instructions_of(n);
        least = once < least ? once : least;
    }
    return least;
}

/* ---- User mode: nothing disturbs ------------------------------------------------------------- */

static void loops_are_exact(void)
{
    static const uint64_t sizes[] = {2, 10, 1000, 100000,
                                     20000000}; /* the last: many turns and time slices */
    uint64_t overhead = instructions_of(1) - 2;

    tap_check(overhead > 0 && overhead < 400, "counting takes %u instructions in user mode",
              (unsigned)overhead);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t counted = instructions_of(sizes[i]) - overhead;
        tap_check(counted == 2 * sizes[i], "%llu instructions are counted as %llu",
                  (unsigned long long)(2 * sizes[i]), (unsigned long long)counted);
    }
}

enum { THREADS = 5, ROUNDS = 300 };

struct turns {
    pthread_t thread;
    uint64_t n, counted;
};

static void *take_turns(void *arg)
{
    struct turns *t = arg;
    struct sys_breakdown before = own_counts(), after;

    for (int i = 0; i < ROUNDS; i++) {
        known_loop(t->n);
        sched_yield();
    }
    after = own_counts();
    t->counted = after.instructions - before.instructions;
    return NULL;
}

static void run_turns(struct turns *t, uint64_t step)
{
    for (int i = 0; i < THREADS; i++) {
        t[i].n = 1 + step * (uint64_t)(i + 1);
        if (pthread_create(&t[i].thread, NULL, take_turns, &t[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i].thread, NULL);
}

/* The same program with loops of one round says what the rest of it takes. */
static void threads_that_take_turns_are_exact(void)
{
    struct turns rest[THREADS], all[THREADS];

    run_turns(rest, 0);
    run_turns(all, 1000);
    for (int i = 0; i < THREADS; i++) {
        uint64_t expected = 2 * ROUNDS * (all[i].n - 1), counted = all[i].counted - rest[i].counted;
        tap_check(counted == expected,
                  "thread %d of %d on one CPU: %llu instructions are counted as %llu", i, THREADS,
                  (unsigned long long)expected, (unsigned long long)counted);
    }
}

static void user(void)
{
    loops_are_exact();
    threads_that_take_turns_are_exact();
}

/* ---- With the kernel's part, interrupts are in it -------------------------------------------- */

static uint64_t slack;

static bool near(uint64_t counted, uint64_t expected)
{
    return counted <= expected + slack && expected <= counted + slack;
}

static void kernel(void)
{
    uint64_t one = least_of(1), many = least_of(50000);

    tap_check(one > 100, "a system call takes %u instructions in kernel mode", (unsigned)one);
    tap_check(near(many, one), "what is done in user mode is not counted (%u, %u)", (unsigned)one,
              (unsigned)many);
}

static void both(void)
{
    uint64_t one = least_of(1), many = least_of(50000);

    tap_check(one > 100, "counting takes %u instructions in both modes", (unsigned)one);
    tap_check(near(many - one, 2 * 49999), "99998 instructions are counted as %u",
              (unsigned)(many - one));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"user", user}, {"kernel", kernel}, {"both", both}};
    struct sys_breakdown b = own_counts();

    slack = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (!(b.counted >> WORD(instructions) & 1)) {
        tap_skip("exact counts", "no instructions are counted here");
        return tap_done();
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (argc >= 2 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return tap_done();
        }
    }
    printf("counts: which modes? user, kernel or both\n");
    return 2;
}
