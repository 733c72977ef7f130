/* The kernel heap with its caches, on real frames, by CPUs that take turns. */
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"

#define MEMORY (64 * MIB)
#define CPUS   4
#define HELD   600

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

static struct {
    uint8_t *p;
    size_t size;
} held[HELD];

static int set_up(void **state)
{
    static struct boot_info info;
    char *memory = aligned_alloc(PAGE_SIZE << FRAME_ORDER_MAX, MEMORY);

    (void)state;
    info.kernel_base = virt_to_phys(memory);
    assert_int_equal(boot_mem_add(&info, info.kernel_base, MEMORY, BOOT_MEM_USABLE), 0);
    frame_init(&info, boot_early_end(&info));
    frame_init_rest();
    for (unsigned i = 0; i < CPUS; i++)
        cpus[i].index = i;
    return 0;
}

static void on_cpu(unsigned cpu)
{
    host_cpu = &cpus[cpu];
}

static void check_every_cpu(void)
{
    for (unsigned i = 0; i < CPUS; i++) {
        on_cpu(i);
        heap_check();
    }
}

static void drop(unsigned i)
{
    for (size_t k = 0; k < held[i].size; k++)
        assert_int_equal(held[i].p[k], (uint8_t)i);
    kfree(held[i].p);
    held[i].p = NULL;
}

static void hold(unsigned i, size_t size)
{
    held[i].p = kmalloc(size);
    held[i].size = size;
    assert_non_null(held[i].p);
    for (size_t k = 0; k < size; k++)
        assert_int_equal(held[i].p[k], 0);
    memset(held[i].p, (int)i, size);
}

static uint64_t free_pages(void)
{
    struct frame_stats stats;

    frame_stats(&stats);
    return stats.free_pages;
}

/* Objects never overlap, whichever CPU allocated and freed them; caches keep a bounded part of what
 * was freed. */
static void objects_are_zeroed_and_never_overlap_on_any_cpu(void **state)
{
    uint64_t seed = 1, before = free_pages();

    (void)state;
    for (unsigned step = 0; step < 60000; step++) {
        unsigned i = (unsigned)(test_random(&seed) % HELD);
        on_cpu((unsigned)(test_random(&seed) % CPUS));
        if (held[i].p)
            drop(i);
        else
            hold(i, 1 + test_random(&seed) % (test_random(&seed) % 20 ? 300 : 6000));
        if (step % 100 == 0)
            check_every_cpu();
    }
    for (unsigned i = 0; i < HELD; i++)
        if (held[i].p)
            drop(i);
    check_every_cpu();
    /* An object in a cache keeps its page from being freed; so does the one empty page of a
     * class. */
    assert_true(free_pages() + CPUS * 14 * 16 >= before);
}

/* Objects that a CPU has freed serve that CPU again: the second round takes no page. */
static void freed_objects_are_used_again(void **state)
{
    void *p[64];

    (void)state;
    on_cpu(1);
    for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
        p[i] = kmalloc(128);
    uint64_t before = free_pages();
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
            kfree(p[i]);
        for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
            p[i] = kmalloc(128);
        heap_check();
    }
    assert_true(free_pages() + 2 >= before);
    for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
        kfree(p[i]);
}

static void misuse_is_noticed_on_any_cpu(void **state)
{
    (void)state;
    on_cpu(0);
    char *p = kmalloc(100), *other = kmalloc(100);
    EXPECT_PANIC(kfree(p + 16));
    kfree(p);
    on_cpu(2);
    EXPECT_PANIC(kfree(p));
    kfree(other);
    on_cpu(0);
    *(uint64_t *)(p + 8) = 1; /* written to after it was freed */
    EXPECT_PANIC(heap_check());
    EXPECT_PANIC(for (unsigned i = 0; i < 100; i++) kmalloc(100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_zeroed_and_never_overlap_on_any_cpu),
        cmocka_unit_test(freed_objects_are_used_again),
        cmocka_unit_test(misuse_is_noticed_on_any_cpu),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
