/* The parts of the library that depend on AArch64 (Arm ARM DDI 0487; ELF for the Arm 64-bit
 * Architecture, thread-local storage). */
#pragma once
#include <stdint.h>

/* Thread-local storage lies above the thread pointer, behind two words; the descriptor ends at the
 * thread pointer. */
#define TLS_VARIANT 1

static inline uint64_t thread_pointer(void)
{
    uint64_t tp;
    __asm__("mrs %0, tpidr_el0" : "=r"(tp));
    return tp;
}

/* Eases a loop that waits for another CPU. */
static inline void relax(void)
{
    __asm__ volatile("yield");
}

/* Returns a time that grows at one rate on all CPUs, in steps of its own. */
static inline uint64_t time_stamp(void)
{
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}

/* Reads the performance counter of this index (struct hpm_user_register), after all earlier
 * instructions have been counted. */
#define COUNTER_CASE(n)                                                        \
    case (n) + 1:                                                              \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(v) : : "memory"); \
        break
static inline uint64_t counter_read(uint32_t index)
{
    uint64_t v = 0;

    __asm__ volatile("isb" : : : "memory");
    switch (index) {
        COUNTER_CASE(0);
        COUNTER_CASE(1);
        COUNTER_CASE(2);
        COUNTER_CASE(3);
        COUNTER_CASE(4);
        COUNTER_CASE(5);
        COUNTER_CASE(6);
        COUNTER_CASE(7);
        COUNTER_CASE(8);
    default:
        __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v) : : "memory");
    }
    return v;
}

/* Makes a system call by Linux's convention. */
static inline int64_t syscall_raw(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                  uint64_t e, uint64_t f)
{
    register uint64_t x8 __asm__("x8") = number;
    register uint64_t x0 __asm__("x0") = a;
    register uint64_t x1 __asm__("x1") = b;
    register uint64_t x2 __asm__("x2") = c;
    register uint64_t x3 __asm__("x3") = d;
    register uint64_t x4 __asm__("x4") = e;
    register uint64_t x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return (int64_t)x0;
}

/* Sets the thread pointer of the caller. */
static inline void thread_pointer_set(uint64_t tp)
{
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory");
}
