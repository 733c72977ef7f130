/* System calls with 0 to 6 arguments: Linux's by their names there, SYS_read, and Vigil's own
 * (kernel/proc/abi.h), which Linux answers by ENOSYS. isa.h, found by the include path, has the
 * instruction. */
#pragma once
#include "kernel/proc/abi.h"
#include "apps/libc/names.h"
#include "linux_constants.h"

enum linux_call {
#define CALL(number, name, handler) SYS_##name = (number),
#define REFUSED(number, name)       SYS_##name = (number),
#include "linux_calls.h"
#undef REFUSED
#undef CALL
};

#include "isa.h"

/* Returns the result of a system call with newlib's error number in place of Linux's. */
int64_t syscall_result(int64_t result) VIGIL(syscall_result);

static inline int64_t syscall6(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                               uint64_t e, uint64_t f)
{
    int64_t result = syscall_raw(number, a, b, c, d, e, f);

    return __builtin_expect(result < 0, 0) ? syscall_result(result) : result;
}

#define SYSCALL_ARG(x)       ((uint64_t)(x))
#define syscall0(n)          syscall6((n), 0, 0, 0, 0, 0, 0)
#define syscall1(n, a)       syscall6((n), SYSCALL_ARG(a), 0, 0, 0, 0, 0)
#define syscall2(n, a, b)    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), 0, 0, 0, 0)
#define syscall3(n, a, b, c) syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), 0, 0, 0)
#define syscall4(n, a, b, c, d) \
    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), SYSCALL_ARG(d), 0, 0)
#define syscall5(n, a, b, c, d, e) \
    syscall6((n), SYSCALL_ARG(a), SYSCALL_ARG(b), SYSCALL_ARG(c), SYSCALL_ARG(d), SYSCALL_ARG(e), 0)
