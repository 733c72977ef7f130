/*
 * Frames of a machine whose memory begins far above 4 GB. The direct map is only an offset, so the
 * host's own memory, as addresses less DIRECT_BASE, is such a machine: some 255 TB up.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"

#define MEMORY      (64 * MIB)
#define BLOCK_BYTES (PAGE_SIZE << FRAME_ORDER_MAX)

struct cpu cpus[CPU_MAX];
bool host_irqs_on = true;
struct cpu *host_cpu = &cpus[0];
uint64_t host_ticks;

bool spin_lock(struct spinlock *l)
{
    (void)l;
    return arch_irq_save();
}
void spin_unlock(struct spinlock *l, bool irq)
{
    (void)l;
    arch_irq_restore(irq);
}
void spin_lock_irqoff(struct spinlock *l)
{
    (void)l;
}
void spin_unlock_irqoff(struct spinlock *l)
{
    (void)l;
}

static char *memory; /* at a multiple of BLOCK_BYTES */
static struct boot_info info;

static paddr_t base(void)
{
    return virt_to_phys(memory);
}

/* Starts with usable memory [from, from + size) of the host's, and one page in it that is in
 * use. */
static void start(uint64_t from, uint64_t size)
{
    memset(&info, 0, sizeof(info));
    info.kernel_base = base();
    assert_int_equal(boot_mem_add(&info, base() + from, size, BOOT_MEM_USABLE), 0);
    assert_int_equal(boot_mem_add(&info, base() + MEMORY / 2, PAGE_SIZE, BOOT_MEM_RESERVED), 0);
    assert_true(base() > 4 * GIB);
    frame_init(&info, boot_early_end(&info));
    frame_init_rest();
    frame_check();
}

/* Empties the CPU's cache of pages, which the next start would find. */
static void finish(void)
{
    paddr_t pa;

    while (!frame_alloc(0, &pa))
        ;
}

static void every_page_is_allocated_once_and_lies_in_memory(void **state)
{
    static bool had[MEMORY / PAGE_SIZE];
    static paddr_t pages[MEMORY / PAGE_SIZE];
    static const uint64_t starts[] = {0, PAGE_SIZE, BLOCK_BYTES - PAGE_SIZE, BLOCK_BYTES};

    (void)state;
    for (unsigned s = 0; s < ARRAY_SIZE(starts); s++) {
        struct frame_stats stats;
        uint64_t n = 0;
        start(starts[s], MEMORY - starts[s]);
        frame_stats(&stats);
        memset(had, 0, sizeof(had));
        while (!frame_alloc(0, &pages[n])) {
            uint64_t page = (pages[n] - base()) / PAGE_SIZE;
            assert_true(pages[n] >= base() + starts[s] && page < ARRAY_SIZE(had) && !had[page]);
            assert_true(page != MEMORY / 2 / PAGE_SIZE);
            assert_int_equal(frame_address(frame_page(pages[n])), pages[n]);
            had[page] = true;
            memset(phys_to_virt(pages[n]), 0x5a, PAGE_SIZE);
            n++;
        }
        assert_int_equal(n, stats.total_pages);
        /* All but the reserved page and the descriptors, which are for this memory only. */
        uint64_t all = (MEMORY - starts[s]) / PAGE_SIZE;
        assert_true(n < all && n > all - all / 50 - 16);
        while (n--)
            frame_free(pages[n], 0);
        frame_check();
        finish();
    }
}

static void blocks_are_aligned_by_their_addresses(void **state)
{
    paddr_t block;
    unsigned n = 0;

    (void)state;
    start(3 * PAGE_SIZE, MEMORY - 3 * PAGE_SIZE);
    while (!frame_alloc(FRAME_ORDER_MAX, &block)) {
        assert_true(IS_ALIGNED(block, BLOCK_BYTES));
        n++;
    }
    assert_true(n >= MEMORY / BLOCK_BYTES - 4);
}

static void addresses_that_are_no_frames_are_refused(void **state)
{
    (void)state;
    start(0, MEMORY);
    EXPECT_PANIC(frame_free(0, 0));
    EXPECT_PANIC(frame_free(PAGE_SIZE, 0));
    EXPECT_PANIC(frame_free(base() - BLOCK_BYTES, 0));
    EXPECT_PANIC(frame_free(base() + MEMORY, 0));
}

static void the_early_map_begins_where_memory_does(void **state)
{
    static const struct {
        paddr_t base;
        uint64_t size;
        paddr_t more; /* a second range of 1 GB; 0: none */
        paddr_t want;
    } cases[] = {
        {0, GIB, 0, 4 * GIB},
        {MIB, 4 * GIB, 0, 4 * GIB},
        {3 * GIB, 2 * GIB, 0, 4 * GIB},
        {4 * GIB - 32 * MIB, 32 * MIB, 1024 * GIB, 4 * GIB},
        {4 * GIB, GIB, 0, 8 * GIB},
        {1024 * GIB, GIB, 0, 1028 * GIB},
        {1024 * GIB + 2 * MIB, GIB, 0, 1028 * GIB},
        {MIB, 16 * MIB, 1024 * GIB, 1028 * GIB}, /* too little below to start with */
        {MIB, 16 * MIB, 0, 4 * GIB},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        memset(&info, 0, sizeof(info));
        assert_int_equal(boot_mem_add(&info, cases[i].base, cases[i].size, BOOT_MEM_USABLE), 0);
        assert_int_equal(boot_mem_add(&info, 0, 512 * GIB, BOOT_MEM_RESERVED), 0);
        if (cases[i].more)
            assert_int_equal(boot_mem_add(&info, cases[i].more, GIB, BOOT_MEM_USABLE), 0);
        assert_int_equal(boot_early_end(&info), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_allocated_once_and_lies_in_memory),
        cmocka_unit_test(blocks_are_aligned_by_their_addresses),
        cmocka_unit_test(addresses_that_are_no_frames_are_refused),
        cmocka_unit_test(the_early_map_begins_where_memory_does),
    };
    memory = aligned_alloc(BLOCK_BYTES, MEMORY);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(memory);
    return failed;
}
