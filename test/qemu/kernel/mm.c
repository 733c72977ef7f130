/* Memory from inside the booted kernel: frames, heap, stacks and address spaces, used by all CPUs
 * at once. */
#include "kernel/core/cpu.h"
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/mm.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define WORKERS 10
#define USER_VA ((vaddr_t)0x10000000)

static struct space *space;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t free_pages(void)
{
    struct frame_stats stats;

    frame_stats(&stats);
    return stats.free_pages;
}

/* Runs `entry` in n threads, in the test's space if there is one, and waits for all of them. */
static void run_threads(unsigned n, void (*entry)(void *))
{
    struct arch_space *in = space ? space_arch(space) : NULL;

    threads_begin();
    for (unsigned i = 0; i < n; i++)
        start_thread_on(
            i, (struct thread_params){.entry = entry, .arg = (void *)(uint64_t)i, .space = in});
    wait_for_ends(n);
}

/* Stacks and heap pages of earlier threads may not be free yet; a bounded number of stacks stays
 * cached. */
#define CACHED_PAGES 150
static void check_returned(uint64_t before)
{
    for (unsigned i = 0; i < 200 && free_pages() + CACHED_PAGES < before; i++)
        nap(10 * NS_PER_MS);
    CHECK(free_pages() + CACHED_PAGES >= before);
    frame_check();
    heap_check();
}

/* ---- Frames, heap, stacks -------------------------------------------------------------------- */

static void use_frames(void *arg)
{
    uint64_t state = (uint64_t)arg + 1;
    struct {
        paddr_t pa;
        unsigned order;
    } held[24] = {0};

    for (unsigned step = 0; step < 3000; step++) {
        unsigned i = next_random(&state) % ARRAY_SIZE(held);
        if (held[i].pa) {
            uint64_t *page = phys_to_virt(held[i].pa);
            CHECK(page[0] == held[i].pa &&
                  page[(PAGE_SIZE << held[i].order) / 8 - 1] == ~held[i].pa);
            frame_free(held[i].pa, held[i].order);
            held[i].pa = 0;
            continue;
        }
        held[i].order = next_random(&state) % 8 ? 0 : next_random(&state) % 6;
        if (frame_alloc(held[i].order, &held[i].pa)) {
            held[i].pa = 0;
            continue;
        }
        uint64_t *page = phys_to_virt(held[i].pa);
        page[0] = held[i].pa;
        page[(PAGE_SIZE << held[i].order) / 8 - 1] = ~held[i].pa;
        if (step % 64 == 0)
            sched_yield();
    }
    for (unsigned i = 0; i < ARRAY_SIZE(held); i++)
        if (held[i].pa)
            frame_free(held[i].pa, held[i].order);
    note_end();
}

static void no_frame_has_two_owners(void)
{
    uint64_t before = free_pages();

    run_threads(WORKERS, use_frames);
    check_returned(before);
}

static void use_heap(void *arg)
{
    uint64_t state = (uint64_t)arg + 77;
    struct {
        uint8_t *p;
        size_t size;
    } held[40] = {0};

    for (unsigned step = 0; step < 4000; step++) {
        unsigned i = next_random(&state) % ARRAY_SIZE(held);
        if (held[i].p) {
            CHECK(held[i].p[0] == (uint8_t)i && held[i].p[held[i].size - 1] == (uint8_t)i);
            kfree(held[i].p);
            held[i].p = NULL;
            continue;
        }
        held[i].size = 1 + next_random(&state) % (next_random(&state) % 10 ? 300 : 20000);
        held[i].p = kmalloc(held[i].size);
        if (!held[i].p)
            continue;
        for (size_t k = 0; k < held[i].size; k++)
            if (held[i].p[k]) {
                CHECK(held[i].p[k] == 0);
                break;
            }
        memset(held[i].p, (int)i, held[i].size);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(held); i++)
        kfree(held[i].p);
    note_end();
}

static void heap_objects_are_zero_at_first_and_nobody_elses(void)
{
    uint64_t before = free_pages();

    run_threads(WORKERS, use_heap);
    check_returned(before);
}

static void sizes_the_heap_cannot_serve_are_refused(void)
{
    CHECK(kmalloc((PAGE_SIZE << FRAME_ORDER_MAX) + 1) == NULL);
    CHECK(kmalloc(SIZE_MAX) == NULL);
    void *largest = kmalloc(PAGE_SIZE << 8);
    CHECK(largest != NULL);
    kfree(largest);
    kfree(NULL);
}

static void stacks_have_an_unmapped_page_below_them_and_go_back(void)
{
    enum { STACKS = 100 };
    static void *stacks[STACKS];
    uint64_t before = free_pages();
    paddr_t pa;
    unsigned prot;

    for (unsigned i = 0; i < STACKS; i++) {
        stacks[i] = kstack_alloc(KSTACK_SIZE);
        CHECK(stacks[i] != NULL);
        CHECK(arch_space_query(NULL, (vaddr_t)stacks[i] - PAGE_SIZE, &pa, &prot) == -ENOENT);
        CHECK(arch_space_query(NULL, (vaddr_t)stacks[i], &pa, &prot) == 0 && !(prot & PROT_X));
        memset(stacks[i], 0x5a, KSTACK_SIZE);
    }
    for (unsigned i = 0; i < STACKS; i++)
        kstack_free(stacks[i], KSTACK_SIZE);
    check_returned(before);
}

static void an_area_is_extended_where_it_is_used(void)
{
    enum { WORDS = PAGE_SIZE / sizeof(uint64_t), SMALL = 70, LARGE = 140 };
    uint64_t before = free_pages(), wrong = 0;
    uint64_t *small = area_alloc(SMALL * PAGE_SIZE - 8),
             *large = area_extend(small, LARGE * PAGE_SIZE);

    CHECK(small && large && small != large);
    area_free(large); /* it is not used */
    for (uint64_t i = 0; i < SMALL; i++)
        small[i * WORDS] = i + 1;
    large = area_extend(small, LARGE * PAGE_SIZE);
    small[0] = 1000;
    area_replace(small, large);
    area_free(small);
    for (uint64_t i = 0; i < LARGE; i++)
        wrong += large[i * WORDS] != (i ? i < SMALL ? i + 1 : 0 : 1000);
    CHECK(wrong == 0);
    small = large;
    large = area_extend(small, 2 * LARGE * PAGE_SIZE);
    area_replace(small, large);
    area_free(small);
    CHECK(large[0] == 1000 && large[(SMALL - 1) * WORDS] == SMALL);
    area_free(large);
    check_returned(before);
}

/* ---- Address spaces -------------------------------------------------------------------------- */

static void make_space(void)
{
    if (space_create(NULL, NULL, &space))
        panic("no memory for a test's space");
}

static void drop_space(void)
{
    space_check(space);
    space_destroy(space);
    space = NULL;
}

static void wrong_mappings_are_refused(void)
{
    vaddr_t va;

    make_space();
    CHECK(space_map(space, USER_VA, PAGE_SIZE, PROT_R | PROT_W | PROT_X, REGION_ANON, "x", &va) ==
          -EACCES);
    CHECK(space_map(space, USER_VA, PAGE_SIZE, PROT_USER, REGION_ANON, "x", &va) == -EINVAL);
    CHECK(space_map(space, USER_VA + 1, PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) == -EINVAL);
    CHECK(space_map(space, PAGE_SIZE, PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) == -EINVAL);
    CHECK(space_map(space, USER_MAX - PAGE_SIZE, 2 * PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) ==
          -EINVAL);
    CHECK(space_map(space, KERNEL_BASE, PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) == -EINVAL);
    CHECK(space_map(space, USER_VA, 0, PROT_R, REGION_ANON, "x", &va) == -EINVAL);
    CHECK(space_map(space, 0, UINT64_MAX, PROT_R, REGION_ANON, "x", &va) == -EINVAL);
    CHECK(space_map(space, USER_VA, PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) == 0 &&
          va == USER_VA);
    CHECK(space_map(space, USER_VA, PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) == -EEXIST);
    CHECK(space_protect(space, USER_VA, PAGE_SIZE, PROT_W | PROT_X) == -EACCES);
    CHECK(space_protect(space, USER_VA, 2 * PAGE_SIZE, PROT_R) == -ENOMEM);
    CHECK(space_unmap(space, USER_VA + 8, PAGE_SIZE) == -EINVAL);
    drop_space();
}

static void faults_obey_the_rights_of_the_region(void)
{
    struct space_stats stats;
    vaddr_t va;

    make_space();
    CHECK(space_map(space, 0, 4 * PAGE_SIZE, PROT_R, REGION_ANON, "x", &va) == 0);
    CHECK(space_fault(space, va, FAULT_WRITE) == -EFAULT);
    CHECK(space_fault(space, va, FAULT_EXEC) == -EFAULT);
    CHECK(space_fault(space, va + 4 * PAGE_SIZE, FAULT_READ) == -EFAULT);
    CHECK(space_fault(space, va - 1, FAULT_READ) == -EFAULT);
    CHECK(space_fault(space, va + 5, FAULT_READ) == 0);
    CHECK(space_fault(space, va + 6, FAULT_READ) == 0);
    CHECK(space_protect(space, va, PAGE_SIZE, 0) == 0);
    CHECK(space_fault(space, va, FAULT_READ) == -EFAULT);
    CHECK(space_protect(space, va, 2 * PAGE_SIZE, PROT_R | PROT_W) == 0);
    CHECK(space_fault(space, va + PAGE_SIZE, FAULT_WRITE) == 0);
    space_stats(space, &stats);
    CHECK(stats.resident_pages == 2 && stats.mapped_pages == 4);
    CHECK(space_unmap(space, va + PAGE_SIZE, PAGE_SIZE) == 0);
    space_stats(space, &stats);
    CHECK(stats.resident_pages == 1 && stats.mapped_pages == 3);
    drop_space();
}

#define SHARED_PAGES 256
static uint32_t arrived;

static void fault_all(UNUSED void *arg)
{
    __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < WORKERS)
        sched_yield();
    for (unsigned i = 0; i < SHARED_PAGES; i++)
        CHECK(space_fault(space, USER_VA + i * PAGE_SIZE, FAULT_WRITE) == 0);
    note_end();
}

static void pages_faulted_by_many_at_once_get_one_frame_each(void)
{
    uint64_t before = free_pages();
    struct space_stats stats;
    vaddr_t va;

    make_space();
    CHECK(space_map(space, USER_VA, SHARED_PAGES * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "x",
                    &va) == 0);
    arrived = 0;
    run_threads(WORKERS, fault_all);
    space_stats(space, &stats);
    CHECK(stats.resident_pages == SHARED_PAGES);
    drop_space();
    check_returned(before);
}

/* One writer maps a page again and again, filled with the number of the round. Readers on all CPUs
 * read it. Once a round is announced, no reader may see an earlier one: that would be a translation
 * that outlived its page. */
#define ROUNDS 100
static uint64_t announced;
static uint64_t reads;
static volatile bool over;

#define POISON 1 /* less than any round but the first */

/* Allocates the frame that was just freed, so that a stale translation shows. */
static paddr_t poison_frame(paddr_t last)
{
    paddr_t pa;

    if (frame_alloc(0, &pa))
        panic("no memory for a test");
    *(uint64_t *)phys_to_virt(pa) = POISON;
    if (last)
        frame_free(last, 0);
    return pa;
}

/* Waits until a reader has read the page: on a shared host a reader's CPU may not run for long. */
static void wait_for_reader(uint64_t before, uint64_t deadline)
{
    while (__atomic_load_n(&reads, __ATOMIC_RELAXED) == before && arch_clock_ns() < deadline)
        sched_yield();
}

static void write_rounds(void)
{
    uint64_t deadline = arch_clock_ns() + 10 * NS_PER_S;
    paddr_t poison = 0;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t before = __atomic_load_n(&reads, __ATOMIC_RELAXED);
        vaddr_t va;
        CHECK(space_map(space, USER_VA, PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "x", &va) == 0);
        CHECK(space_fill(space, USER_VA, &round, sizeof(round)) == 0);
        __atomic_store_n(&announced, round, __ATOMIC_RELEASE);
        CHECK(arch_copy_to_user(USER_VA, &round, sizeof(round)) == 0);
        if (round % 3 == 0) {
            CHECK(space_protect(space, USER_VA, PAGE_SIZE, PROT_R) == 0);
            CHECK(arch_copy_to_user(USER_VA, &round, sizeof(round)) == -EFAULT);
        }
        wait_for_reader(before, deadline);
        CHECK(space_unmap(space, USER_VA, PAGE_SIZE) == 0);
        CHECK(arch_copy_to_user(USER_VA, &round, sizeof(round)) == -EFAULT);
        poison = poison_frame(poison);
        sched_yield();
    }
    frame_free(poison, 0);
    over = true;
}

static void read_rounds(void)
{
    while (!over) {
        uint64_t value, at_least = __atomic_load_n(&announced, __ATOMIC_ACQUIRE);
        if (arch_copy_from_user(&value, USER_VA, sizeof(value)) == 0) {
            /* 0: mapped, but not yet filled. */
            CHECK(value >= at_least || value == 0);
            __atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED);
        }
        sched_yield();
        arch_cpu_relax(); /* where CPUs run in turns, one look in each turn is enough */
    }
}

static void read_or_write(void *arg)
{
    if (arg)
        read_rounds();
    else
        write_rounds();
    note_end();
}

static void no_cpu_sees_a_page_after_it_was_unmapped(void)
{
    make_space();
    announced = reads = 0;
    over = false;
    run_threads(1 + cpu_count(), read_or_write);
    CHECK(reads > 0);
    drop_space();
}

#define OVERLAP_ROUNDS 20 /* each takes hundreds of shootdowns */

/* One thread unmaps the whole while others unmap parts of it: each page is counted once. */
static void unmap_whole(void)
{
    vaddr_t va;

    for (unsigned round = 0; round < OVERLAP_ROUNDS;) {
        if (space_map(space, USER_VA, SHARED_PAGES * PAGE_SIZE, PROT_R | PROT_W, REGION_ANON, "x",
                      &va)) {
            sched_yield();
            continue;
        }
        for (unsigned i = 0; i < SHARED_PAGES; i += 2)
            space_fault(space, USER_VA + i * PAGE_SIZE, FAULT_WRITE);
        CHECK(space_unmap(space, USER_VA, SHARED_PAGES * PAGE_SIZE) == 0);
        round++;
    }
    over = true;
}

static void unmap_parts(uint64_t state)
{
    while (!over) {
        vaddr_t va = USER_VA + next_random(&state) % SHARED_PAGES * PAGE_SIZE;
        CHECK(space_unmap(space, va, (1 + next_random(&state) % 8) * PAGE_SIZE) == 0);
        sched_yield();
        arch_cpu_relax();
    }
}

static void unmap_whole_or_parts(void *arg)
{
    if (arg)
        unmap_parts((uint64_t)arg);
    else
        unmap_whole();
    note_end();
}

static void unmappings_that_overlap_account_for_each_page_once(void)
{
    struct space_stats stats;

    make_space();
    over = false;
    /* More would only obstruct each other. */
    run_threads(1 + MIN(cpu_count(), 3u), unmap_whole_or_parts);
    space_stats(space, &stats);
    CHECK(stats.mapped_pages == 0 && stats.resident_pages == 0);
    drop_space();
}

/* All CPUs make shootdowns at the same time, so those that wait must answer. The number is shared,
 * because each concerns all CPUs. */
#define SHOOTDOWNS 800

static void shoot(void *arg)
{
    uint64_t state = (uint64_t)arg + 5;

    for (unsigned i = 0; i < SHOOTDOWNS / (2 * cpu_count()); i++) {
        tlb_shootdown(space_arch(space), USER_VA, next_random(&state) % 40);
        if (i % 16 == 0)
            tlb_shootdown(NULL, VMAP_BASE, 1);
    }
    note_end();
}

static void shootdowns_from_all_cpus_at_once_all_come_to_an_end(void)
{
    make_space();
    run_threads(2 * cpu_count(), shoot);
    drop_space();
}

static const struct suite_test tests[] = {
    {"no frame has two owners", no_frame_has_two_owners},
    {"heap objects are zero at first and not shared",
     heap_objects_are_zero_at_first_and_nobody_elses},
    {"sizes the heap cannot serve are refused", sizes_the_heap_cannot_serve_are_refused},
    {"stacks have an unmapped page below them and go back",
     stacks_have_an_unmapped_page_below_them_and_go_back},
    {"an area is extended where it is used", an_area_is_extended_where_it_is_used},
    {"wrong mappings are refused", wrong_mappings_are_refused},
    {"faults obey the rights of the region", faults_obey_the_rights_of_the_region},
    {"pages faulted by many at once get one frame each",
     pages_faulted_by_many_at_once_get_one_frame_each},
    {"no CPU sees a page after it was unmapped", no_cpu_sees_a_page_after_it_was_unmapped},
    {"unmappings that overlap account for each page once",
     unmappings_that_overlap_account_for_each_page_once},
    {"shootdowns from all CPUs at once all come to an end",
     shootdowns_from_all_cpus_at_once_all_come_to_an_end},
    {0},
};

const struct suite mm_suite = {"mm", tests};
