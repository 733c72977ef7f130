/*
 * Takes memory until there is none. The kernel ends it with status 137 and a line that says so.
 *   oom           touches page after page
 *   oom threads   makes threads, which need kernel memory, until refused; then ends with status 0
 *   oom regions   maps single pages until refused; then ends with status 0
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"

#define CHUNK ((uint64_t)1 << 20)
#define PAGE  4096u

static int eat(void)
{
    uint64_t eaten = 0;

    for (;;) {
        int64_t at = (int64_t)memory_map("eaten", CHUNK);
        if (!at) {
            printf("oom: mmap refused after %llu MB\n", (unsigned long long)(eaten / CHUNK));
            return 1;
        }
        for (uint64_t i = 0; i < CHUNK; i += PAGE)
            *(volatile char *)(at + i) = 1;
        eaten += CHUNK;
        if (eaten % (16 * CHUNK) == 0)
            printf("oom: holds %llu MB\n", (unsigned long long)(eaten / CHUNK));
    }
}

static void *wait_for_ever(void *arg)
{
    static uint32_t never;

    (void)arg;
    for (;;)
        futex_wait(&never, 0);
    return NULL;
}

static int make_threads(void)
{
    unsigned n = 0;
    pthread_t t;

    while (pthread_create(&t, NULL, wait_for_ever, NULL) == 0)
        n++;
    printf("oom: refused=threads after=%u\n", n);
    return n > 100 ? 0 : 1;
}

static int make_regions(void)
{
    unsigned n = 0;

    printf("oom: mapping single pages\n"); /* while there is memory for the output's buffer */
    /* Neighbours of different rights do not become one. */
    while ((int64_t)syscall6(SYS_mmap, 0, PAGE, n % 2 ? LINUX_PROT_READ : 0,
                             LINUX_MAP_PRIVATE | LINUX_MAP_ANONYMOUS, (uint64_t)-1, 0) > 0)
        n++;
    printf("oom: refused=regions after=%u\n", n);
    return n > 1000 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return make_threads();
    if (argc > 1 && strcmp(argv[1], "regions") == 0)
        return make_regions();
    return eat();
}
