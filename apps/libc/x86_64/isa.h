/* The parts of the library that depend on x86-64 (System V ABI, AMD64 supplement, and its ELF TLS
 * supplement). */
#pragma once
#include <stdint.h>

/* Thread-local storage lies below the thread pointer; the descriptor begins at it. */
#define TLS_VARIANT 2

/* Returns the thread pointer, which the word at the thread pointer holds. */
static inline uint64_t thread_pointer(void)
{
    uint64_t tp;
    __asm__("mov %%fs:0, %0" : "=r"(tp));
    return tp;
}

/* Eases a loop that waits for another CPU. */
static inline void relax(void)
{
    __builtin_ia32_pause();
}

/* Returns a time that grows at one rate on all CPUs, in steps of its own. */
static inline uint64_t time_stamp(void)
{
    return __builtin_ia32_rdtsc();
}

/* Reads the performance counter of this index (struct hpm_user_register), after all earlier
 * instructions have been counted. */
static inline uint64_t counter_read(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdpmc\n\tlfence"
                     : "=a"(low), "=d"(high)
                     : "c"(index - 1)
                     : "memory");
    return (uint64_t)high << 32 | low;
}

/* Makes a system call by Linux's convention. */
static inline int64_t syscall_raw(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                  uint64_t e, uint64_t f)
{
    int64_t result;
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Sets the thread pointer of the caller. */
#define ARCH_SET_FS 0x1002
static inline void thread_pointer_set(uint64_t tp)
{
    syscall_raw(SYS_arch_prctl, ARCH_SET_FS, tp, 0, 0, 0, 0);
}
