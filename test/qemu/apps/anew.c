/*
 * Pages that come, go and come again where they were: 64 of them, all zeros whenever they come, 50
 * times.
 */
#include <stdint.h>
#include <sys/mman.h>
#include "test/qemu/apps/tap.h"

enum { PAGE = 4096, PAGES = 64, TIMES = 50 };

int main(void)
{
    uint8_t *at =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned wrong = 0;

    tap_check(at != MAP_FAILED, "pages are mapped");
    for (unsigned t = 0; t < TIMES; t++) {
        for (unsigned p = 0; p < PAGES; p++)
            wrong += at[p * PAGE]++ != 0;
        wrong += madvise(at, PAGES * PAGE, MADV_DONTNEED) != 0;
    }
    tap_check(!wrong, "each time they are all zeros");
    return tap_done();
}
