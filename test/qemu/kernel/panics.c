/* Ways to end the kernel, each in a boot of its own: `panics N` runs the Nth. None of them
 * returns. */
#include "kernel/core/cpu.h"
#include "kernel/core/end.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

/* Hides a value from the compiler, which would refuse deliberate errors. */
#define HIDDEN(v)                             \
    ({                                        \
        __typeof__(v) hidden_ = (v);          \
        __asm__ volatile("" : "+r"(hidden_)); \
        hidden_;                              \
    })

static void null_pointer(void)
{
    *HIDDEN((volatile int *)8) = 1;
}

static uint64_t __attribute__((noinline)) recurse(uint64_t depth)
{
    volatile char room[200];

    room[0] = (char)depth;
    return HIDDEN(depth) == UINT64_MAX ? 0 : recurse(depth + 1) + (uint64_t)room[0];
}

static void stack_overflow(void)
{
    recurse(0);
}

static void text_written(void)
{
    *HIDDEN((volatile char *)(uintptr_t)stack_overflow) = 0;
}

static char data[16];
static void data_executed(void)
{
    HIDDEN((void (*)(void))(uintptr_t)data)();
}

static void user_memory_touched(void)
{
    static struct arch_space space;
    paddr_t page;

    CHECK(!arch_space_init(&space, &frame_page_tables));
    CHECK(!frame_alloc_zeroed(&page));
    CHECK(!arch_space_map(&space, 16 * PAGE_SIZE, page, PROT_R | PROT_W | PROT_USER));
    arch_irq_save();
    arch_space_switch(&space);
    *HIDDEN((volatile int *)(16 * PAGE_SIZE)) = 1;
}

static void locks_out_of_order(void)
{
    static struct spinlock inner = SPINLOCK(LOCK_HEAP, "inner"),
                           outer = SPINLOCK(LOCK_PROC, "outer");

    spin_lock(&inner);
    spin_lock(&outer);
}

static void lock_taken_twice(void)
{
    static struct spinlock lock = SPINLOCK(LOCK_PROC, "twice");

    spin_lock(&lock);
    spin_lock(&lock);
}

static bool spinning, panicking;

/* Disables interrupts on the last CPU, which then calls `deed` again and again while another CPU
 * panics. */
static void be_deaf(void *deed)
{
    arch_irq_save();
    __atomic_store_n(&spinning, true, __ATOMIC_RELEASE);
    for (;;) {
        ((void (*)(void))deed)();
        arch_cpu_relax();
    }
}

static void panic_beside(void (*deed)(void))
{
    start_thread_on(cpu_count() - 1,
                    (struct thread_params){.entry = be_deaf, .arg = (void *)(uintptr_t)deed});
    while (!__atomic_load_n(&spinning, __ATOMIC_ACQUIRE))
        nap(NS_PER_MS);
    arch_irq_save();
    __atomic_store_n(&panicking, true, __ATOMIC_RELEASE);
    panic("code=test: one CPU does not listen");
}

static void spin_deaf(void)
{
}

static void another_cpu_is_deaf(void)
{
    panic_beside(spin_deaf);
}

/* On machines without an interrupt that reaches the CPU, it stops here. */
static void lock_deaf(void)
{
    static struct spinlock lock = SPINLOCK(LOCK_PROC, "deaf");

    spin_unlock(&lock, spin_lock(&lock));
}

static void another_cpu_is_deaf_and_takes_locks(void)
{
    panic_beside(lock_deaf);
}

/* Prints only after the panic has begun, and then only for a short time. */
static void print_deaf(void)
{
    static uint64_t since_ns;

    if (!__atomic_load_n(&panicking, __ATOMIC_ACQUIRE))
        return;
    since_ns = since_ns ? since_ns : arch_clock_ns();
    if (arch_clock_ns() - since_ns > 300 * NS_PER_MS)
        kprintf("# deaf: event=goes-on: a CPU goes on printing in a panic\n");
}

static void another_cpu_is_deaf_and_prints(void)
{
    panic_beside(print_deaf);
}

/* A CPU that is asked to stop between end_whole_begin() and end_whole_end() goes on to the end, and
 * no further. */
static volatile unsigned steps;

static void say_steps(void)
{
    kprintf("steps: done=%u of=3: by another CPU\n", steps);
}

static void work_whole(void)
{
    end_whole_begin();
    steps = 1;
    for (uint64_t since_ns = 0; !since_ns || arch_clock_ns() - since_ns < 300 * NS_PER_MS;)
        if (!since_ns && __atomic_load_n(&panicking, __ATOMIC_ACQUIRE))
            since_ns = arch_clock_ns();
    steps = 2;
    end_whole_end();
    steps = 3;
}

static void another_cpu_does_something_whole(void)
{
    end_attach(say_steps);
    panic_beside(work_whole);
}

static void wild_pointer(void)
{
    *HIDDEN((volatile int *)(VMAP_BASE - PAGE_SIZE)) = 1;
}

static struct gate gate = GATE(gate, GATE_SESSIONS, "shut");

static void user_memory_copied_with_a_gate_held(void)
{
    char byte;

    gate_enter(&gate);
    arch_copy_from_user(&byte, 16 * PAGE_SIZE, sizeof byte);
}

static void sleep_with_a_gate_held(void)
{
    gate_enter(&gate);
    nap(NS_PER_MS);
}

static void gates_out_of_order(void)
{
    static struct gate further_in = GATE(further_in, GATE_DELIVERY, "inner");

    gate_enter(&further_in);
    gate_enter(&gate);
}

static const struct suite_test tests[] = {
    {"null pointer", null_pointer},
    {"stack overflow", stack_overflow},
    {"text written", text_written},
    {"data executed", data_executed},
    {"user memory touched", user_memory_touched},
    {"locks out of order", locks_out_of_order},
    {"lock taken twice", lock_taken_twice},
    {"another CPU is deaf", another_cpu_is_deaf},
    {"wild pointer", wild_pointer},
    {"another CPU is deaf and takes locks", another_cpu_is_deaf_and_takes_locks},
    {"another CPU is deaf and prints", another_cpu_is_deaf_and_prints},
    {"another CPU does something whole", another_cpu_does_something_whole},
    {"user memory copied with a gate held", user_memory_copied_with_a_gate_held},
    {"sleep with a gate held", sleep_with_a_gate_held},
    {"gates out of order", gates_out_of_order},
    {0},
};

const struct suite panics_suite = {.name = "panics", .tests = tests};
