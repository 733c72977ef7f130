/*
 * Tests of AArch64 alone: exclusive pairs, blocks zeroed by one instruction, invalidations that
 * name an address space or reach all CPUs, waiting in firmware.
 */
#include "test/machine/guest/guest.h"

#define ROUNDS 100

#define PSCI_CPU_SUSPEND 0xc4000001ull
#define PSCI_CPU_OFF     0x84000002ull

static bool has_atomics(void)
{
    uint64_t features;
    __asm__("mrs %0, id_aa64isar0_el1" : "=r"(features));
    return features >> 20 & 15;
}

static void a_pair_of_exclusives_reads_and_upgrades(void)
{
    struct counting c = {.event = {MACHINE_EVENT_LOADS, MACHINE_EVENT_STORES}};
    uint64_t at = arena(PAGE_SIZE), value, failed;

    store(at, 5);
    count_start(&c, MACHINE_COUNT_KERNEL);
    for (unsigned i = 0; i < ROUNDS; i++)
        __asm__ volatile("1: ldaxr %0, [%2]\n add %0, %0, #1\n stlxr %w1, %0, [%2]\n cbnz %w1, 1b"
                         : "=&r"(value), "=&r"(failed)
                         : "r"(at)
                         : "memory");
    count_stop(&c);
    check("a pair of exclusives adds", load(at), 5 + ROUNDS, 5 + ROUNDS);
    check("  as one load", c.value[0], ROUNDS, ROUNDS + 40);
    check("  and one store", c.value[1], ROUNDS, ROUNDS + 60);
}

static void an_atomic_instruction_is_one_store(void)
{
    struct counting c = {.event = {MACHINE_EVENT_LOADS, MACHINE_EVENT_STORES}};
    uint64_t at = arena(PAGE_SIZE), old = 0;

    if (!has_atomics())
        return;
    store(at, 0);
    count_start(&c, MACHINE_COUNT_KERNEL);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        __asm__ volatile(".arch_extension lse\n ldadd %1, %0, [%2]"
                         : "=r"(old)
                         : "r"((uint64_t)1), "r"(at)
                         : "memory");
        __asm__ volatile("swpal %1, %0, [%2]" : "=r"(old) : "r"(i), "r"(at) : "memory");
        __asm__ volatile("casal %0, %1, [%2]" : "+r"(old) : "r"(i), "r"(at) : "memory");
    }
    count_stop(&c);
    check("atomic instructions are stores", c.value[1], 3 * ROUNDS, 3 * ROUNDS + 60);
    check("  and no loads", c.value[0], 0, 40);
}

static void a_zeroed_block_is_a_store(void)
{
    struct counting c = {.event = {MACHINE_EVENT_STORES, MACHINE_EVENT_SERVED_LOCAL_MEMORY,
                                   MACHINE_EVENT_SERVED_REMOTE_MEMORY}};
    uint64_t at = arena(ROUNDS * PAGE_SIZE), size;

    __asm__ volatile("mrs %0, dczid_el0" : "=r"(size));
    check("a block is what the machine takes it for", 4u << size, 64, 64);
    count_start(&c, MACHINE_COUNT_KERNEL);
    for (uint64_t i = 0; i < ROUNDS; i++)
        __asm__ volatile("dc zva, %0" ::"r"(at + i * PAGE_SIZE) : "memory");
    count_stop(&c);
    check("zeroing a block is a store", c.value[0], ROUNDS, ROUNDS + 60);
    check("  that fetches its line", c.value[1] + c.value[2], ROUNDS, ROUNDS + 20);
    check("  and zeroes it", load(at), 0, 0);
}

static uint64_t walked_after(uint64_t at, void (*invalidate)(uint64_t))
{
    struct counting c = {.event = {MACHINE_EVENT_TLB_MISSES}};

    load(at);
    count_start(&c, MACHINE_COUNT_KERNEL);
    for (unsigned i = 0; i < ROUNDS; i++) {
        invalidate(at);
        load(at);
    }
    count_stop(&c);
    return c.value[0];
}

static void by_address_everywhere(uint64_t at)
{
    __asm__ volatile("tlbi vaae1is, %0" ::"r"(at >> 12) : "memory");
}

static void another_address(uint64_t at)
{
    __asm__ volatile("tlbi vaae1, %0" ::"r"((at >> 12) + 1) : "memory");
}

static void another_space(uint64_t at)
{
    (void)at;
    __asm__ volatile("tlbi aside1, %0" ::"r"((uint64_t)7 << 48) : "memory");
}

static void invalidations_take_what_they_name(void)
{
    uint64_t at = arena(2 * PAGE_SIZE);

    check("invalidating a page for all CPUs takes it here", walked_after(at, by_address_everywhere),
          ROUNDS, ROUNDS + 4);
    check("invalidating the next page does not", walked_after(at, another_address), 0, 4);
    check("nor does another address space", walked_after(at, another_space), 0, 4);
}

static uint64_t elsewhere;

static void load_page(void *result)
{
    struct counting c = {.event = {MACHINE_EVENT_TLB_MISSES}};

    load(elsewhere);
    count_start(&c, MACHINE_COUNT_KERNEL);
    load(elsewhere);
    count_stop(&c);
    *(uint64_t *)result = c.value[0];
}

static void count_page(void *result)
{
    struct counting c = {.event = {MACHINE_EVENT_TLB_MISSES}};

    count_start(&c, MACHINE_COUNT_KERNEL);
    load(elsewhere);
    count_stop(&c);
    *(uint64_t *)result = c.value[0];
}

static void an_invalidation_reaches_other_cpus(void)
{
    uint64_t misses = 0;

    if (guest_cpus() < 2)
        return;
    elsewhere = arena(PAGE_SIZE);
    run_on(1, load_page, &misses);
    run_wait(1);
    check("a page that was used is in the TLB", misses, 0, 0);
    run_on(1, count_page, &misses);
    run_wait(1);
    check("  and still is later", misses, 0, 0);
    by_address_everywhere(elsewhere);
    run_on(1, count_page, &misses);
    run_wait(1);
    check("  until another CPU invalidates it for all", misses, 1, 1);
}

static void call_firmware(uint64_t function)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = 0;
    register uint64_t x2 __asm__("x2") = 0;
    register uint64_t x3 __asm__("x3") = 0;

    __asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
}

static void firmware_can_wait(void)
{
    struct counting c = {.event = {MACHINE_EVENT_IDLE}};
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t before = i->count, begin;

    count_start(&c, MACHINE_COUNT_KERNEL);
    begin = ticks();
    timer_in(1000000);
    while (i->count == before)
        call_firmware(PSCI_CPU_SUSPEND);
    count_stop(&c);
    check("a timer wakes a CPU that firmware has suspended", i->time - begin, 1000000, 1001000);
    check("  and the wait is idle time", c.value[0], 998000, 1000100);
}

static void switch_off(void *arg)
{
    (void)arg;
    call_firmware(PSCI_CPU_OFF);
}

/* The last test: the CPU does not come back. */
static void a_cpu_that_is_off_delays_no_other(void)
{
    struct interrupts *i = &interrupts[this_cpu()];
    uint64_t before = i->count, begin;

    if (guest_cpus() < 2)
        return;
    run_on(1, switch_off, NULL);
    for (uint64_t wait = ticks() + 20000; ticks() < wait;)
        ;
    begin = ticks();
    timer_in(100000);
    while (i->count == before)
        spin(10);
    check("a CPU that is switched off delays no other", i->time - begin, 100000, 101000);
}

void (*const platform_tests[])(void) = {
    a_pair_of_exclusives_reads_and_upgrades,
    an_atomic_instruction_is_one_store,
    a_zeroed_block_is_a_store,
    invalidations_take_what_they_name,
    an_invalidation_reaches_other_cpus,
    firmware_can_wait,
    a_cpu_that_is_off_delays_no_other,
    NULL,
};
