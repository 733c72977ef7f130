/* How long a CPU waits for a lock, in debug builds. */
#include "test/host/double/expect_panic.h"
#define DEBUG
#include "kernel/core/lock.c"

struct cpu cpus[CPU_MAX];
bool host_irqs_on;
struct cpu *host_cpu = cpus;
uint64_t host_ticks = 1;

static struct spinlock lock = SPINLOCK(LOCK_FUTEX, "lock");
static uint64_t now_ns, step_ns, jump_ns, jump_at_ns, let_go_ns;

uint64_t arch_clock_ns(void)
{
    now_ns += step_ns;
    if (jump_ns && now_ns >= jump_at_ns) {
        now_ns += jump_ns;
        jump_ns = 0;
    }
    if (now_ns >= let_go_ns)
        lock.owner = 0;
    return now_ns;
}

void arch_ipi_send(UNUSED struct cpu *target, UNUSED enum arch_ipi kind)
{
    fail();
}

/* The lock is CPU 1's for `ns`, of which the machine stands still for jump_ns. */
static void wait_for_lock(uint64_t ns)
{
    cpus[1].index = 1;
    lock = (struct spinlock)SPINLOCK(LOCK_FUTEX, "lock");
    lock.owner = 2;
    now_ns = 1;
    let_go_ns = ns;
    spin_unlock(&lock, spin_lock(&lock));
}

static void waiting_for_ten_seconds_panics(void **state)
{
    (void)state;
    step_ns = NS_PER_US;
    wait_for_lock(9 * NS_PER_S);
    assert_true(now_ns >= 9 * NS_PER_S);
    EXPECT_PANIC(wait_for_lock(11 * NS_PER_S));
    /* also where looks are far apart, as on a machine with many CPUs and few hosts */
    step_ns = NS_PER_S / 30;
    wait_for_lock(9 * NS_PER_S);
    EXPECT_PANIC(wait_for_lock(11 * NS_PER_S));
}

static void standing_still_is_not_waiting(void **state)
{
    (void)state;
    step_ns = NS_PER_US;
    jump_at_ns = 3 * NS_PER_S;
    jump_ns = 600 * NS_PER_S;
    wait_for_lock(606 * NS_PER_S);
    assert_true(now_ns >= 606 * NS_PER_S);
    jump_ns = 600 * NS_PER_S;
    EXPECT_PANIC(wait_for_lock(612 * NS_PER_S));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_ten_seconds_panics),
        cmocka_unit_test(standing_still_is_not_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
