/*
 * The machine's test guest: as little as it takes to run exact programs on each CPU and to see what the machine made of
 * them.  No kernel underneath; one program at a time.
 */
#pragma once
#include "kernel/dev/machine.h"

#define GUEST_CPUS 64

extern volatile struct machine_id *id;   /* the register pages */
unsigned guest_cpus(void);               /* running */
volatile struct machine_cpu *regs(void); /* of the calling CPU */
unsigned this_cpu(void);

void print(const char *text);
void print_number(uint64_t n);

/* Runs f on a CPU; run_wait waits until it is done.  Not for CPU 0, which is the caller. */
void run_on(unsigned cpu, void (*f)(void *), void *arg);
void run_wait(unsigned cpu);
void wake(unsigned cpu); /* sends it an interrupt, counted below */

static inline uint64_t rdtsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline void cpu_pause(void)
{
    __asm__ volatile("pause" ::: "memory");
}

static inline uint64_t load(uint64_t address)
{
    return *(volatile uint64_t *)address;
}

static inline void store(uint64_t address, uint64_t value)
{
    *(volatile uint64_t *)address = value;
}

/* The interrupt of the calling CPU: how often it came, and when last. */
#define GUEST_VECTOR 0x40
struct interrupts {
    volatile uint64_t count, tsc;
};
extern struct interrupts interrupts[GUEST_CPUS];
void timer_in(uint64_t cycles);               /* raises it once, later */
void message(volatile struct machine_cpu *r); /* lets the performance monitor raise it */

/* A machine command that must work. */
int command(enum machine_command c);

/* Counts up to four events on this CPU around what lies between; mode: MACHINE_COUNT_USER, MACHINE_COUNT_KERNEL. */
struct counting {
    enum machine_event event[4];
    uint64_t value[4];
    uint64_t instructions, cycles;
};
void count_start(const struct counting *c, uint32_t mode);
void count_stop(struct counting *c);

/* Test results, as TAP. */
void check(const char *what, uint64_t value, uint64_t least, uint64_t most);
void tests(void);
