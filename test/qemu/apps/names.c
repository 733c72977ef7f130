/*
 * A program of standard C has every name that the standard does not keep for itself: some that the
 * library's own functions could have had, and some of POSIX. If the library called these, they
 * would be called by printf, malloc, time.
 */
#include <stdlib.h>
#include "test/qemu/apps/tap.h"

/* <time.h> would declare POSIX's names as POSIX has them. */
unsigned long clock(void);
long long time(long long *);

static unsigned calls;

#define OWN(name)   \
    int name(int);  \
    int name(int x) \
    {               \
        calls++;    \
        return x;   \
    }
/* clang-format off */
OWN(lock_take) OWN(lock_give) OWN(futex_wait) OWN(clock_ns) OWN(thread_main) OWN(memory_read)
OWN(memory_map) OWN(symbol_of) OWN(hpm_open) OWN(libc_start) OWN(tls_init) OWN(thread_entry)
OWN(application_start) OWN(samples_take) OWN(write) OWN(read) OWN(close) OWN(isatty) OWN(fstat)
OWN(kill) OWN(getpid) OWN(times) OWN(gettimeofday) OWN(sleep) OWN(sbrk) OWN(sysconf) OWN(mmap)
OWN(munmap) OWN(link) OWN(wait)
    /* clang-format on */

    int main(void)
{
    void *large = malloc(1 << 20), *small = malloc(10);

    tap_check(large && small, "malloc has memory");
    free(large);
    free(small);
    tap_check(clock() != -1ul, "clock tells the time");
    tap_check(time(NULL) != -1, "and so does time");
    tap_check(!calls, "the library calls no function of the program's: %u times", calls);
    tap_check(lock_take(1) == 1 && memory_read(2) == 2 && write(3) == 3, "they are the program's");
    return tap_done();
}
