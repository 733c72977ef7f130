/* Unlocking sends the interrupts that were asked for while locks were held, when no lock is held
 * any more. */
#include "test/host/double/expect_panic.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"

struct cpu cpus[CPU_MAX];
bool host_irqs_on;
struct cpu *host_cpu = cpus;
uint64_t host_ticks = 1;

static uint64_t asked[8]; /* number of interrupts, by CPU */

uint64_t arch_clock_ns(void)
{
    return host_ticks++;
}

void arch_ipi_send(struct cpu *target, enum arch_ipi kind)
{
    assert_int_equal(kind, IPI_RESCHED);
    assert_int_equal(host_cpu->spin_depth, 0);
    assert_false(host_irqs_on);
    asked[target->index]++;
}

static int set_up(void **state)
{
    (void)state;
    memset(asked, 0, sizeof(asked));
    for (unsigned i = 0; i < ARRAY_SIZE(asked); i++)
        cpus[i] = (struct cpu){.index = i};
    host_irqs_on = true;
    return 0;
}

static void a_cpu_is_asked_when_the_last_lock_is_let_go(void **state)
{
    struct spinlock outer = SPINLOCK(LOCK_FUTEX, "outer"), inner = SPINLOCK(LOCK_RUNQUEUE, "inner");

    (void)state;
    bool irq = spin_lock(&outer);
    spin_lock_irqoff(&inner);
    spin_kick_later(&cpus[3]);
    spin_unlock_irqoff(&inner);
    assert_int_equal(asked[3], 0);
    spin_unlock(&outer, irq);
    assert_int_equal(asked[3], 1);
    assert_true(host_irqs_on);
}

static void each_is_asked_once_and_not_again(void **state)
{
    struct spinlock lock = SPINLOCK(LOCK_RUNQUEUE, "lock");

    (void)state;
    bool irq = spin_lock(&lock);
    spin_kick_later(&cpus[5]);
    spin_kick_later(&cpus[1]);
    spin_kick_later(&cpus[5]);
    spin_unlock(&lock, irq);
    irq = spin_lock(&lock);
    spin_unlock(&lock, irq);
    for (unsigned i = 0; i < ARRAY_SIZE(asked); i++)
        assert_int_equal(asked[i], i == 1 || i == 5);
}

static void without_a_lock_there_is_no_later(void **state)
{
    (void)state;
    EXPECT_PANIC(spin_kick_later(&cpus[1]));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_cpu_is_asked_when_the_last_lock_is_let_go, set_up),
        cmocka_unit_test_setup(each_is_asked_once_and_not_again, set_up),
        cmocka_unit_test_setup(without_a_lock_there_is_no_later, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
