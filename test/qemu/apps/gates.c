/*
 * Results written to memory that is not there yet, by calls about what all processes share: a fault
 * in the middle of one must not stop the others.
 *
 *   gates eat      samples are taken into fresh pages while another process has nearly all memory
 *   gates invert   samples are taken into pages of a slow disk, at the lowest priority, while
 *   processes end at the highest
 *
 * The other words are for the children it starts: eater, mother.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "test/qemu/apps/tap.h"

enum { PAGE = 4096, MIB = 1 << 20, FINE = 7, NO_MEMORY = 137 };
enum { SPARED = MIB, FILLED = 64 * MIB, ROUNDS = 8, SLOW_PAGES = 16 };
#define MS ((uint64_t)1000000)

static uint64_t now_ns(void)
{
    return clock_ns();
}

static uint64_t free_bytes(void)
{
    return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * 4096;
}

static int start(const char *word)
{
    return application_start((char *[]){"gates", (char *)word}, 2);
}

static int open_samples(void)
{
    char why[160];
    int session = samples_open("time@100us", 0, 100000, 1000, why, sizeof why);

    if (session < 0)
        printf("# %d %s\n", session, why);
    return session;
}

/* Both at the same CPU, so that one cannot run while the other does. */
/* 19: the lowest priority; -20: the highest. */
static void run_at(int nice)
{
    uint64_t first = 1;

    syscall3(SYS_sched_setaffinity, 0, sizeof first, &first);
    syscall3(SYS_setpriority, 0, 0, nice);
}

/* ---- Exhausted memory ------------------------------------------------------------------------ */

/* Takes memory, but leaves the last of it to the other. */
static _Noreturn void eater(void)
{
    for (;;) {
        int64_t at = (int64_t)memory_map("eaten", MIB);
        for (uint64_t i = 0; at > 0 && i < MIB; i += PAGE) {
            while (free_bytes() < SPARED)
                sleep_ns(5 * MS);
            *(volatile char *)(at + (int64_t)i) = 1;
        }
    }
}

/* The fault that finds memory exhausted is in SYS_SAMPLE_TAKE: no other touches fresh memory. */
static void eat(void)
{
    int session = open_samples(), pid = start("eater");
    int64_t at = (int64_t)memory_map("filled", FILLED), end = at + FILLED;
    unsigned wrong = 0;
    struct sys_thread_info info;

    while (at < end && application_threads(pid, &info, 1) > 0) {
        int64_t n = syscall3(SYS_SAMPLE_TAKE, session, at, PAGE);
        wrong += n < 0;
        at += n > 0 ? PAGE : 0;
        sleep_ns(MS / 5);
    }
    tap_check(at < end && !wrong, "samples are taken until memory is exhausted");
    tap_check(application_wait(pid) == NO_MEMORY, "the process with most memory is ended for it");
    tap_check(syscall3(SYS_SAMPLE_TAKE, session, at, PAGE) >= 0, "samples are taken after it, too");
    samples_close(session);
}

/* ---- Inverted priorities --------------------------------------------------------------------- */

static void *sleep_for_ever(void *arg)
{
    for (;;)
        sleep_ns(1000 * MS);
    return arg;
}

/* Ends with a thread left, which has to wait for the gate in its end. */
static int mother(void)
{
    pthread_t thread;

    run_at(-20);
    pthread_create(&thread, NULL, sleep_for_ever, NULL);
    sleep_ns(20 * MS + now_ns() % (40 * MS));
    syscall1(SYS_exit_group, FINE);
    return 0;
}

static void take_slowly(int session)
{
    uint64_t mapped = 0;
    int64_t at = syscall5(SYS_MMAP_DISK, "ram", 0, SLOW_PAGES * PAGE,
                          LINUX_PROT_READ | LINUX_PROT_WRITE, &mapped);

    for (int i = 0; at > 0 && i < SLOW_PAGES; i++)
        syscall3(SYS_SAMPLE_TAKE, session, at + i * PAGE, PAGE);
    syscall2(SYS_munmap, at, SLOW_PAGES * PAGE);
}

static void invert(void)
{
    int session = open_samples();
    unsigned ended = 0;

    run_at(19);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int child = start("mother");
        for (uint64_t since = now_ns(); now_ns() - since < 100 * MS;)
            take_slowly(session);
        ended += application_wait(child) == FINE;
    }
    samples_close(session);
    tap_check(ended == ROUNDS, "processes end beside one that takes samples slowly (%u of %u)",
              ended, ROUNDS);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (!strcmp(word, "eater"))
        eater();
    if (!strcmp(word, "mother"))
        return mother();
    if (!strcmp(word, "eat"))
        eat();
    else if (!strcmp(word, "invert"))
        invert();
    else
        return 1;
    return tap_done();
}
