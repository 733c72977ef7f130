/* Error numbers: the kernel's are Linux's, and newlib has others. */
#include <errno.h>
#include "apps/libc/libc.h"

static const uint16_t of_linux[] = {
#include "linux_errnos.h"
};
#define NUMBERS (sizeof of_linux / sizeof of_linux[0])

int64_t syscall_result(int64_t result)
{
    uint64_t error = (uint64_t)-result;

    if (result >= 0)
        return result;
    return error < NUMBERS && of_linux[error] ? -(int64_t)of_linux[error] : result - __ELASTERROR;
}

int posix_result(int64_t result)
{
    if (result >= 0)
        return (int)result;
    errno = (int)-result;
    return -1;
}
