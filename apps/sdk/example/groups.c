/* Two groups of threads, each with a counter of its own, as Vigil may be told. Runs under Vigil and
 * Linux, with any C library. */
#include <pthread.h>
#include <stdio.h>
#include <vigil.h>

enum { GROUPS = 2, THREADS = 4, ROUNDS = 100000 };
static struct {
    _Alignas(64) unsigned long count; /* atomic */
} shared[GROUPS];

static void *work(void *arg)
{
    unsigned group = (unsigned)(size_t)arg;

    vigil_group(group);
    for (unsigned i = 0; i < ROUNDS; i++)
        __atomic_add_fetch(&shared[group].count, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    uint64_t counts[2] = {0, 0};
    char why[200];
    int session = vigil_open("instructions,cycles", why, sizeof why);

    vigil_mark("work");
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i % GROUPS));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    vigil_mark("");
    printf("groups: vigil=%s total=%lu\n", vigil_is_here() ? "yes" : "no",
           shared[0].count + shared[1].count);
    if (session > 0 && vigil_read(session, VIGIL_PROCESS, counts, 2) == 2)
        printf("groups: instructions=%llu cycles=%llu\n", (unsigned long long)counts[0],
               (unsigned long long)counts[1]);
    else if (vigil_is_here())
        printf("groups: nothing is counted: %s\n", why);
    if (session > 0)
        vigil_close(session);
    return shared[0].count + shared[1].count == THREADS * ROUNDS ? 0 : 1;
}
