/*
 * Paging complete: threads of processes use, map, unmap, protect and drop memory at random, more
 * than fits, on disks that answer late, in any order, or with an error. Threads take turns wherever
 * a CPU could be taken from them. Every byte read is what was last written there; every error is
 * one that the disk made, on that very page; and when all processes have ended nothing is missing.
 * STEPS=N in the environment: further seeds until threads have made N steps.
 */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "test/host/mm/paging_process.h"
#include "kernel/mem/frame.h"
#include "mm/pool/args.h"
#include "mm/space.h"
#include "mm/pool/swap.h"
#include "mm/track/track.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- Scenarios, each in a process of its own: mm is not made to begin twice ------------------ */

static void check_nothing_is_missing(unsigned heap)
{
    struct swap_stats swap;

    swap_stats(&swap);
    if (!now.no_swap)
        INSIST(swap.free_slots + swap.bad_slots == swap.slots);
    INSIST(swap.bad_slots <= swap_double.failed_writes);
    INSIST(mm_frames_used == 0);
    INSIST(mm_heap_used == heap);
    INSIST(swap_double.device.busy == 0 && source_double.device.busy == 0);
    INSIST(now.read_fails || !seen.errors);
    if (now.frame_fails) /* some reads that no thread waited for: their errors reach none */
        INSIST(seen.refused < mm_frames_refused);
}

static void play(uint64_t from)
{
    path_double_boot();
    swap_wanted = now.no_swap ? SWAP_NONE : SWAP_RAM;
    mm_argument("mem.policy", now.policy);
    mm_argument("mem.prefetch", now.prefetch);
    mm_argument("mem.tracker", now.tracker);
    mm_argument("mem.active_pages", 32);
    mm_argument("mem.pab", 128);
    mm_argument("mem.scan_ms", 1);
    mm_argument("mem.sample_period", 5);
    mem_pool = now.global;
    if (now.process_kb)
        mem_process = now.process_kb * KIB;
    if (now.user_kb)
        mem_user = now.user_kb * KIB;
    if (now.swap_kb)
        swap_size = now.swap_kb * KIB;
    mm_double_samples = true;
    mm_double_boot(from);
    track_init(false);
    paging_start();
    swap_double.read_fails = source_double.read_fails = now.read_fails;
    swap_double.write_fails = now.write_fails;
    mm_map_fails = now.map_fails;
    mm_frame_fails = now.frame_fails;
    if (now.frames)
        mm_frames_max = now.frames;
    unsigned heap = mm_heap_used;
    processes_start(from);
    fibers_run();
    check_nothing_is_missing(heap);
}

static uint64_t first = 1;       /* seed of the two that each scenario is played with */
static struct paging_seen *sums; /* of these two, shared with the children */
static uint64_t steps;           /* of all scenarios */

static void play_and_add(uint64_t from)
{
    play(from);
    sums->errors += seen.errors;
    sums->refused += seen.refused;
    sums->forks += seen.forks;
    sums->inherited += seen.inherited;
    sums->steps += seen.steps;
}

static void run_scenario(const struct scenario *s)
{
    now = *s;
    *sums = (struct paging_seen){0};
    for (uint64_t from = first; from < first + 2; from++) {
        int status = in_child(play_and_add, from, 600);
        if (status)
            fail_msg("%s, seed %lu: status %#x", s->name, (unsigned long)from, (unsigned)status);
    }
    steps += sums->steps;
    /* What the scenario is for has come about. */
    assert_true(!now.read_fails || sums->errors);
    assert_true(!now.frame_fails || sums->refused);
    assert_true(!now.forks || (sums->forks > 4 && sums->inherited > 100));
}

enum { LRU, CLOCK, MRU, LIRS, ARC, GAP, REGION, CHOOSER };
enum { NO_PREFETCH, SPATIAL, PPG };
enum { PATH = 1, SOFT, SCAN, SAMPLED, NO_TRACKER };

static void each_policy_keeps_every_byte(void **state)
{
    (void)state;
    for (unsigned policy = LRU; policy <= CHOOSER; policy++)
        run_scenario(&(struct scenario){.name = "policy",
                                        .policy = policy,
                                        .prefetch = policy % 3,
                                        .tracker = NO_TRACKER,
                                        .process_kb = 512,
                                        .steps = 700,
                                        .lives = 6});
}

static void each_tracker_keeps_every_byte(void **state)
{
    (void)state;
    for (unsigned tracker = PATH; tracker <= SAMPLED; tracker++)
        run_scenario(&(struct scenario){.name = "tracker",
                                        .policy = LIRS,
                                        .prefetch = tracker % 3,
                                        .tracker = tracker,
                                        .process_kb = 512,
                                        .steps = 700,
                                        .lives = 6});
}

static void a_pool_for_all_keeps_every_byte(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "global",
                                    .policy = LRU,
                                    .prefetch = SPATIAL,
                                    .tracker = PATH,
                                    .global = 1,
                                    .user_kb = 1024,
                                    .steps = 1000,
                                    .lives = 6});
}

static void a_shortage_of_all_memory_keeps_every_byte(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "user",
                                    .policy = CLOCK,
                                    .tracker = NO_TRACKER,
                                    .user_kb = 1024,
                                    .steps = 1000,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "frames",
                                    .policy = LRU,
                                    .prefetch = SPATIAL,
                                    .tracker = SOFT,
                                    .frames = 600,
                                    .steps = 1000,
                                    .lives = 6});
}

static void a_disk_that_fails_loses_no_byte_silently(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "reads fail",
                                    .policy = LRU,
                                    .prefetch = SPATIAL,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 512,
                                    .read_fails = 20,
                                    .steps = 1000,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "writes fail",
                                    .policy = ARC,
                                    .prefetch = PPG,
                                    .tracker = SOFT,
                                    .process_kb = 512,
                                    .write_fails = 200,
                                    .steps = 1000,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "both fail",
                                    .policy = LIRS,
                                    .prefetch = SPATIAL,
                                    .tracker = PATH,
                                    .process_kb = 400,
                                    .read_fails = 50,
                                    .write_fails = 100,
                                    .map_fails = 300,
                                    .steps = 1000,
                                    .lives = 6});
}

static void a_refused_frame_is_an_error_or_goes_unnoticed(void **state)
{
    (void)state;
    for (unsigned prefetch = SPATIAL; prefetch <= PPG; prefetch++)
        run_scenario(&(struct scenario){.name = "frames refused",
                                        .policy = LIRS,
                                        .prefetch = prefetch,
                                        .tracker = NO_TRACKER,
                                        .process_kb = 512,
                                        .frame_fails = 10,
                                        .steps = 1000,
                                        .lives = 6});
}

static void without_swap_or_with_too_little_processes_end_and_nothing_else(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "swap full",
                                    .policy = LRU,
                                    .prefetch = SPATIAL,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 512,
                                    .swap_kb = 2048,
                                    .write_fails = 300,
                                    .steps = 1000,
                                    .lives = 8});
    run_scenario(&(struct scenario){.name = "no swap",
                                    .policy = LRU,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 512,
                                    .no_swap = true,
                                    .steps = 1000,
                                    .lives = 6});
}

/* Forked processes share pages with their parents until one of them writes. */
static void forked_processes_have_their_own_bytes(void **state)
{
    (void)state;
    for (unsigned policy = LRU; policy <= CHOOSER; policy++)
        run_scenario(&(struct scenario){.name = "forks",
                                        .policy = policy,
                                        .prefetch = policy % 3,
                                        .tracker = PATH + policy % 5,
                                        .process_kb = 768,
                                        .forks = true,
                                        .steps = 1500,
                                        .lives = 6});
    run_scenario(&(struct scenario){.name = "forks, all in one pool",
                                    .policy = LIRS,
                                    .prefetch = PPG,
                                    .tracker = PATH,
                                    .global = 1,
                                    .user_kb = 1024,
                                    .forks = true,
                                    .steps = 1500,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "forks, with room",
                                    .policy = CLOCK,
                                    .tracker = NO_TRACKER,
                                    .forks = true,
                                    .steps = 1500,
                                    .lives = 6});
}

static void forks_where_disks_fail_and_memory_is_refused(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "forks, writes fail",
                                    .policy = LIRS,
                                    .prefetch = PPG,
                                    .tracker = SOFT,
                                    .process_kb = 768,
                                    .write_fails = 50,
                                    .forks = true,
                                    .steps = 1500,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "forks, reads and maps fail",
                                    .policy = LRU,
                                    .prefetch = SPATIAL,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 768,
                                    .read_fails = 50,
                                    .map_fails = 300,
                                    .forks = true,
                                    .steps = 1500,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "forks, frames refused",
                                    .policy = ARC,
                                    .prefetch = SPATIAL,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 768,
                                    .frame_fails = 30,
                                    .forks = true,
                                    .steps = 1500,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "forks, no swap",
                                    .policy = LRU,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 12288,
                                    .no_swap = true,
                                    .forks = true,
                                    .steps = 1500,
                                    .lives = 6});
}

/* Processes map, read, write and cut the same objects. */
static void objects_are_the_same_for_all(void **state)
{
    (void)state;
    for (unsigned policy = LRU; policy <= CHOOSER; policy += 2)
        run_scenario(&(struct scenario){.name = "objects",
                                        .policy = policy,
                                        .prefetch = policy % 3,
                                        .tracker = PATH + policy % 5,
                                        .process_kb = 768,
                                        .user_kb = 1024,
                                        .forks = true,
                                        .files = true,
                                        .steps = 1200,
                                        .lives = 6});
    run_scenario(&(struct scenario){.name = "objects, with room",
                                    .policy = CLOCK,
                                    .tracker = NO_TRACKER,
                                    .forks = true,
                                    .files = true,
                                    .steps = 1200,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "objects, all other pages in one pool",
                                    .policy = LIRS,
                                    .prefetch = PPG,
                                    .tracker = PATH,
                                    .global = 1,
                                    .user_kb = 1024,
                                    .forks = true,
                                    .files = true,
                                    .steps = 1200,
                                    .lives = 6});
}

static void objects_where_disks_fail_and_memory_is_refused(void **state)
{
    (void)state;
    run_scenario(&(struct scenario){.name = "objects, disks fail",
                                    .policy = LIRS,
                                    .prefetch = SPATIAL,
                                    .tracker = SOFT,
                                    .process_kb = 512,
                                    .user_kb = 1024,
                                    .read_fails = 50,
                                    .write_fails = 50,
                                    .forks = true,
                                    .files = true,
                                    .steps = 1200,
                                    .lives = 6});
    run_scenario(&(struct scenario){.name = "objects, frames and tables refused",
                                    .policy = ARC,
                                    .prefetch = SPATIAL,
                                    .tracker = NO_TRACKER,
                                    .process_kb = 512,
                                    .user_kb = 1024,
                                    .map_fails = 1000,
                                    .frame_fails = 200,
                                    .forks = true,
                                    .files = true,
                                    .steps = 1200,
                                    .lives = 6});
}

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_swap_or_with_too_little_processes_end_and_nothing_else),
        cmocka_unit_test(each_policy_keeps_every_byte),
        cmocka_unit_test(each_tracker_keeps_every_byte),
        cmocka_unit_test(a_pool_for_all_keeps_every_byte),
        cmocka_unit_test(a_shortage_of_all_memory_keeps_every_byte),
        cmocka_unit_test(a_disk_that_fails_loses_no_byte_silently),
        cmocka_unit_test(a_refused_frame_is_an_error_or_goes_unnoticed),
        cmocka_unit_test(forked_processes_have_their_own_bytes),
        cmocka_unit_test(forks_where_disks_fail_and_memory_is_refused),
        cmocka_unit_test(objects_are_the_same_for_all),
        cmocka_unit_test(objects_where_disks_fail_and_memory_is_refused),
    };
    const char *wanted = getenv("STEPS");
    int failed = 0;

    sums = mmap(NULL, sizeof(*sums), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sums == MAP_FAILED)
        return 1;
    do {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        printf("# RESULT paging_model steps=%lu seeds=1..%lu\n", (unsigned long)steps,
               (unsigned long)first + 1);
        fflush(stdout);
        first += 2;
    } while (!failed && wanted && steps < strtoull(wanted, NULL, 10));
    return failed;
}
