/* System calls (kernel/proc/abi.h) with 0 to 5 arguments. isa.h, found by the include path, has the
 * instruction. */
#pragma once
#include "kernel/proc/abi.h"
#include "isa.h"

#define SYSCALL_ARG(x)       ((uint64_t)(x))
#define syscall0(n)          syscall6((n), 0, 0, 0, 0, 0, 0)
#define syscall1(n, a)       syscall6((n), SYSCALL_ARG(a), 0, 0, 0, 0, 0)
#define syscall2(n, a, b)    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), 0, 0, 0, 0)
#define syscall3(n, a, b, c) syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), 0, 0, 0)
#define syscall4(n, a, b, c, d) \
    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), SYSCALL_ARG(d), 0, 0)
#define syscall5(n, a, b, c, d, e) \
    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), SYSCALL_ARG(d), SYSCALL_ARG(e), 0)
