/*
 * Leaves processes and threads behind.
 *   leaves bomb       every process starts two more, as long as it can; the first ends when no more
 *   can be had, or soon
 *   leaves threads    four processes make sleeping threads until they are refused; the first ends
 *   leaves free       prints how much memory is free
 *   leaves limit      makes threads until they are refused, and regions and a session of samples,
 *   which are, too; and then as many
 *                     threads again as have ended
 *   leaves tables     makes threads until they are refused, and touches pages that need page tables
 *   of their own
 *   leaves hoard      makes a thousand sleeping threads, which is kernel memory for the most part,
 *   and sleeps for some seconds
 *   leaves eat        touches page after page until there are none, when hoard has its threads
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/memory.h"
#include "apps/libc/libc.h"
#include "apps/libc/syscall.h"

#define MS        UINT64_C(1000000)
#define LAST_MS   300
#define HOARD_MS  4000
#define EAT_AT_MS 1500
#define CHUNK     ((uint64_t)1 << 20)
#define PROCESSES 4
#define REGIONS   10000
#define FAR       ((uint64_t)1 << 30) /* a page table of its own for each */
#define TABLES    32
#define TOLERATED 200 /* threads in a row that are refused while others' memory comes back */

static uint32_t never, stop;

static void sleep_ms(uint64_t ms)
{
    sleep_ns(ms * MS);
}

static int64_t start(const char *kind)
{
    char words[32];
    int n = snprintf(words, sizeof words, "leaves%c%s", 0, kind);

    return syscall2(SYS_SPAWN, words, (uint64_t)n + 1);
}

static int bomb(int first)
{
    for (int i = 0; i < 2; i++)
        start("fragment");
    sleep_ms(first ? LAST_MS : 1000000);
    return 0;
}

static void *sleeper(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        futex_wait(&never, 0);
    return unused;
}

static unsigned make_sleepers(pthread_t *threads, unsigned max)
{
    unsigned n = 0;

    while (n < max && pthread_create(&threads[n], NULL, sleeper, NULL) == 0)
        n++;
    return n;
}

static int crowd(int first)
{
    static pthread_t threads[1024];

    for (int i = 0; first && i < PROCESSES - 1; i++)
        start("crowd");
    printf("leaves: %u sleeping threads\n", make_sleepers(threads, 500));
    sleep_ms(first ? LAST_MS : 1000000);
    return 0;
}

static int hoard(void)
{
    static pthread_t threads[1024];

    printf("leaves: hoards %u threads\n", make_sleepers(threads, 1000));
    sleep_ms(HOARD_MS);
    return 0;
}

static int eat(void)
{
    sleep_ms(EAT_AT_MS);
    for (unsigned n = 0; n < 10000; n++) {
        int64_t at = (int64_t)memory_map("eaten", CHUNK);
        for (uint64_t i = 0; at > 0 && i < CHUNK; i += 4096)
            *(volatile char *)(at + i) = 1;
    }
    return 1;
}

static int64_t map(uint64_t bytes)
{
    return (int64_t)memory_map("more", bytes);
}

/* What else takes kernel memory, when there is none left. Nothing is printed then: that may take a
 * region, too. */
static int take_more(unsigned *regions, char *why, size_t size)
{
    *regions = 0;
    /* Neighbours of different rights do not become one. */
    while (*regions < REGIONS &&
           (int64_t)syscall6(SYS_mmap, 0, 4096, *regions % 2 ? LINUX_PROT_READ : 0,
                             LINUX_MAP_PRIVATE | LINUX_MAP_ANONYMOUS, (uint64_t)-1, 0) > 0)
        ++*regions;
    return samples_open("time@100us", (uint32_t)getpid(), 1000, 100, why, size);
}

static int tables(void)
{
    static pthread_t threads[1024];

    make_sleepers(threads, 1000);
    int64_t at = map(FAR * TABLES);
    for (uint64_t i = 0; at > 0 && i < TABLES; i++)
        *(volatile char *)(at + (int64_t)(i * FAR)) = 1;
    return at > 0 ? 0 : 1;
}

static int limit(void)
{
    static pthread_t threads[1024];
    unsigned n = make_sleepers(threads, 1000), again = 0, regions;
    char why[160] = "";

    int session = take_more(&regions, why, sizeof why);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&never, 1, __ATOMIC_RELEASE);
    futex_wake(&never, 1000);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (unsigned refused = 0; again < n && refused < TOLERATED;)
        if (pthread_create(&threads[again], NULL, sleeper, NULL) == 0)
            again++;
        else {
            refused++;
            sleep_ms(1);
        }
    for (unsigned i = 0; i < again; i++)
        pthread_join(threads[i], NULL);
    printf("leaves: regions=%u session=%d limit=%s: %s\n", regions, session,
           session == -EDQUOT ? "yes" : "no", why);
    printf("leaves: threads=%u again=%u\n", n, again);
    return 0;
}

static int print_free(void)
{
    struct sys_memory m;

    if (syscall3(SYS_MEMORY, 0, &m, sizeof m))
        return 1;
    printf("leaves: free_kb=%llu\n", (unsigned long long)(m.free_bytes / 1024));
    return 0;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";

    if (!strcmp(kind, "bomb") || !strcmp(kind, "fragment"))
        return bomb(!strcmp(kind, "bomb"));
    if (!strcmp(kind, "threads") || !strcmp(kind, "crowd"))
        return crowd(!strcmp(kind, "threads"));
    if (!strcmp(kind, "limit"))
        return limit();
    if (!strcmp(kind, "tables"))
        return tables();
    if (!strcmp(kind, "hoard"))
        return hoard();
    if (!strcmp(kind, "eat"))
        return eat();
    return strcmp(kind, "free") ? 2 : print_free();
}
