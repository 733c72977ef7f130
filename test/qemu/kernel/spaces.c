/*
 * More address spaces than the TLB has identifiers (mem.space_ids) take turns on the CPUs: each
 * sees its own pages at the common address, and no page outlives its mapping, regardless of the
 * spaces that ran in between.
 */
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"
#include "mm/mm.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define USER_VA ((vaddr_t)0x10000000)
#define SPACES  (ARCH_SPACE_IDS_MIN + 14)
#define ROUNDS  12
#define POISON  UINT64_MAX

static struct tenant {
    struct space *space;
    uint64_t least; /* the smallest value that may be read at USER_VA; 0: not mapped */
    bool over;
    bool watched; /* its first round lasts until a page has been read */
} tenants[SPACES];
static unsigned reads;

static void make_tenants(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        tenants[i] = (struct tenant){0};
        if (space_create(NULL, NULL, &tenants[i].space))
            panic("no memory for a test's space");
    }
    reads = 0;
    threads_begin();
}

static void drop_tenants(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        space_check(tenants[i].space);
        space_destroy(tenants[i].space);
    }
}

static void run_in(struct tenant *t, void (*entry)(void *), unsigned cpu)
{
    start_thread_on(
        cpu, (struct thread_params){.entry = entry, .arg = t, .space = space_arch(t->space)});
}

/* Returns the contents of the page in a round of a space; all are different. */
static uint64_t value_of(const struct tenant *t, uint64_t round)
{
    return (uint64_t)(t - tenants) << 32 | round;
}

/* Fills the page with one store, because space_fill() has stores of any size, and another thread
 * may be reading. */
static void map_round(struct tenant *t, uint64_t round)
{
    uint64_t value = value_of(t, round), none = 0;
    unsigned prot;
    paddr_t frame;
    vaddr_t va;

    CHECK(space_map(t->space, USER_VA, PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "x", &va) == 0);
    CHECK(space_fill(t->space, USER_VA, &none, sizeof(none)) == 0);
    CHECK(arch_space_query(space_arch(t->space), USER_VA, &frame, &prot) == 0);
    __atomic_store_n((uint64_t *)phys_to_virt(frame), value, __ATOMIC_RELAXED);
    __atomic_store_n(&t->least, value, __ATOMIC_RELEASE);
}

/* Unmaps the page and reuses its frame. */
static void unmap_round(struct tenant *t, paddr_t *frame)
{
    CHECK(space_unmap(t->space, USER_VA, PAGE_SIZE) == 0);
    paddr_t last = *frame;
    if (frame_alloc(0, frame))
        panic("no memory for a test");
    *(uint64_t *)phys_to_virt(*frame) = POISON;
    if (last)
        frame_free(last, 0);
}

static void change(void *arg)
{
    struct tenant *t = arg;
    paddr_t frame = 0;
    uint64_t value;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        map_round(t, round);
        /* The reader may come late. */
        while (t->watched && !__atomic_load_n(&reads, __ATOMIC_ACQUIRE))
            sched_yield();
        for (unsigned i = 0; i < 3; i++) {
            CHECK(arch_copy_from_user(&value, USER_VA, sizeof(value)) == 0 &&
                  value == value_of(t, round));
            sched_yield();
        }
        unmap_round(t, &frame);
        CHECK(arch_copy_from_user(&value, USER_VA, sizeof(value)) == -EFAULT);
        sched_yield();
    }
    frame_free(frame, 0);
    __atomic_store_n(&t->over, true, __ATOMIC_RELEASE);
    note_end();
}

/* Runs on another CPU. */
static void look_until_over(struct tenant *t, void (*between)(void))
{
    uint64_t value;

    while (!__atomic_load_n(&t->over, __ATOMIC_ACQUIRE)) {
        uint64_t least = __atomic_load_n(&t->least, __ATOMIC_ACQUIRE);
        if (arch_copy_from_user(&value, USER_VA, sizeof(value)) == 0) {
            /* 0: mapped, but not yet filled. */
            CHECK(value == 0 || (value >= least && value <= value_of(t, ROUNDS)));
            __atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED);
        }
        between();
    }
    note_end();
}

static void look(void *arg)
{
    look_until_over(arg, sched_yield);
}

static void look_and_stay(void *arg)
{
    look_until_over(arg, arch_cpu_relax);
}

static void spaces_on_one_cpu_have_their_own_data_at_one_address(void)
{
    make_tenants(2);
    run_in(&tenants[0], change, 0);
    run_in(&tenants[1], change, 0);
    wait_for_ends(2);
    drop_tenants(2);
}

static void spaces_that_outnumber_the_identifiers_have_their_own_data(void)
{
    make_tenants(SPACES);
    for (unsigned i = 0; i < SPACES; i++) {
        tenants[i].watched = true;
        run_in(&tenants[i], change, i);
        run_in(&tenants[i], look, i + 1);
    }
    wait_for_ends(2 * SPACES);
    CHECK(reads > 0);
    drop_tenants(SPACES);
}

/* CPU 0 uses one space all the time, while others go through many, until its identifier is of an
 * earlier generation. */
static void a_space_that_stays_on_its_cpu_is_still_told_of_pages_that_went(void)
{
    unsigned others = cpu_count() - 1;

    if (!others)
        return;
    make_tenants(SPACES);
    tenants[SPACES - 1].watched = true;
    for (unsigned i = 0; i < SPACES; i++)
        run_in(&tenants[i], change, 1 + i % others);
    run_in(&tenants[SPACES - 1], look_and_stay, 0);
    wait_for_ends(SPACES + 1);
    CHECK(reads > 0);
    drop_tenants(SPACES);
}

/* Its CPU may keep the translation, and is idle or runs other spaces. */
static void remember(void *arg)
{
    struct tenant *t = arg;
    uint64_t value, round = 1;

    for (; round <= ROUNDS; round++) {
        while (__atomic_load_n(&t->least, __ATOMIC_ACQUIRE) < value_of(t, round))
            nap(NS_PER_MS);
        CHECK(arch_copy_from_user(&value, USER_VA, sizeof(value)) == 0 &&
              value == value_of(t, round));
        __atomic_add_fetch(&reads, 1, __ATOMIC_RELEASE);
    }
    note_end();
}

static void a_page_that_went_while_its_space_slept_is_gone_on_every_cpu(void)
{
    struct tenant *t = tenants;
    paddr_t frame = 0;

    make_tenants(1);
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        run_in(t, remember, cpu);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        map_round(t, round);
        while (__atomic_load_n(&reads, __ATOMIC_ACQUIRE) < round * cpu_count())
            nap(NS_PER_MS);
        unmap_round(t, &frame);
    }
    wait_for_ends(cpu_count());
    frame_free(frame, 0);
    drop_tenants(1);
}

static const struct suite_test tests[] = {
    {"spaces on one CPU have their own data at one address",
     spaces_on_one_cpu_have_their_own_data_at_one_address},
    {"spaces that outnumber the identifiers have their own data",
     spaces_that_outnumber_the_identifiers_have_their_own_data},
    {"a space that stays on its CPU is still told of pages that went",
     a_space_that_stays_on_its_cpu_is_still_told_of_pages_that_went},
    {"a page that went while its space slept is gone on every CPU",
     a_page_that_went_while_its_space_slept_is_gone_on_every_cpu},
    {0},
};

const struct suite spaces_suite = {.name = "spaces", .tests = tests};
