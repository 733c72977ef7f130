/*
 * Threads of the highest priority that never stop computing, on every CPU or on one, and one of the
 * lowest beside them: says for how long at most it had no CPU.
 *   priorities [on=all|one] [loops=N] [gaps=N]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include "apps/common/args.h"
#include "apps/libc/libc.h"

enum { LOOPS_MAX = 256, NS_PER_MS = 1000000, NICE_LOW = 19, NICE_HIGH = -20 };

static atomic_bool stop;
static atomic_uint looping;
static uint64_t longest_ns, gaps = 8;

static void take_nice(int nice)
{
    syscall3(SYS_setpriority, 0, thread_self()->tid_value, nice);
}

static void *loop(void *unused)
{
    (void)unused;
    take_nice(NICE_HIGH);
    atomic_fetch_add(&looping, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        relax();
    return NULL;
}

/* Until it has been without a CPU for several times. */
static void *go_on(void *unused)
{
    (void)unused;
    take_nice(NICE_LOW);
    uint64_t last_ns = clock_ns();
    for (uint64_t seen = 0; seen < gaps;) {
        uint64_t now_ns = clock_ns();
        if (now_ns - last_ns > 10 * NS_PER_MS)
            seen++;
        longest_ns = now_ns - last_ns > longest_ns ? now_ns - last_ns : longest_ns;
        last_ns = now_ns;
    }
    atomic_store(&stop, true);
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const on_names[] = {"all", "one", NULL};
    static unsigned on;
    static uint64_t loops = 0;
    static pthread_t thread[LOOPS_MAX + 1];
    static const struct args_entry entries[] = {
        {"on", ARGS_CHOICE, &on, 0, 0, on_names, "CPUs that the threads may use"},
        {"gaps", ARGS_NUMBER, &gaps, 1, 1000, NULL, "times without a CPU that are waited for"},
        {"loops", ARGS_NUMBER, &loops, 0, LOOPS_MAX, NULL,
         "threads that compute; 0: two for each CPU"},
    };
    static const struct args_table table = {"priorities", "a low priority beside high ones",
                                            entries, sizeof entries / sizeof entries[0]};
    pthread_attr_t attr;

    args_parse_or_exit(&table, argc, argv);
    uint64_t cpus = on ? 1 : (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    loops = loops ? loops : 2 * cpus;
    pthread_attr_init(&attr);
    if (on)
        pthread_attr_setaffinity_np(&attr, sizeof(cpu_set_t), &(cpu_set_t){.bits = 1});
    take_nice(NICE_HIGH);
    for (uint64_t i = 0; i < loops; i++)
        if (pthread_create(&thread[i], &attr, loop, NULL))
            return 1;
    while (atomic_load(&looping) < loops)
        usleep(1000);
    if (pthread_create(&thread[loops], &attr, go_on, NULL))
        return 1;
    for (uint64_t i = 0; i <= loops; i++)
        pthread_join(thread[i], NULL);
    printf("RESULT app=priorities cpus=%" PRIu64 " loops=%" PRIu64 " longest_us=%" PRIu64 "\n",
           cpus, loops, longest_ns / 1000);
    return 0;
}
