/* The system-call instruction of each ISA, with up to six arguments (kernel/proc/abi.h has the calls). */
#pragma once
#include "kernel/proc/abi.h"

static inline int64_t syscall6(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                               uint64_t f)
{
#if defined(__x86_64__)
    int64_t result;
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register uint64_t x8 __asm__("x8") = number;
    register uint64_t x0 __asm__("x0") = a;
    register uint64_t x1 __asm__("x1") = b;
    register uint64_t x2 __asm__("x2") = c;
    register uint64_t x3 __asm__("x3") = d;
    register uint64_t x4 __asm__("x4") = e;
    register uint64_t x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return (int64_t)x0;
#else
#error "no system-call instruction known for this ISA"
#endif
}

#define SYSCALL_ARG(x)       ((uint64_t)(x))
#define syscall0(n)          syscall6((n), 0, 0, 0, 0, 0, 0)
#define syscall1(n, a)       syscall6((n), SYSCALL_ARG(a), 0, 0, 0, 0, 0)
#define syscall2(n, a, b)    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), 0, 0, 0, 0)
#define syscall3(n, a, b, c) syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), 0, 0, 0)
#define syscall4(n, a, b, c, d) \
    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), SYSCALL_ARG(d), 0, 0)
