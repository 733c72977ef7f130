/* Threads of Linux: pthreads on clone, and futexes by their calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "test/qemu/apps/tap.h"

#define THREADS 100
#define ROUNDS  200

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static long counter, tids;
static __thread long own;

static long futex(uint32_t *word, int op, uint32_t v, const void *timeout, void *second,
                  uint32_t v3)
{
    return syscall(SYS_futex, word, op, v, timeout, second, v3);
}

static void *count(void *arg)
{
    own = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        if (i % 50 == 0)
            sched_yield();
    }
    __atomic_fetch_add(&tids, syscall(SYS_gettid) != getpid(), __ATOMIC_RELAXED);
    return (void *)own;
}

static void many_threads(void)
{
    pthread_t thread[THREADS];
    long sum = 0, made = 0;

    for (long i = 0; i < THREADS; i++)
        made += pthread_create(&thread[i], NULL, count, (void *)i) == 0;
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(thread[i], &result);
        sum += (long)result;
    }
    tap_check(made == THREADS && sum == THREADS * (THREADS - 1) / 2, "%d threads are joined",
              THREADS);
    tap_check(counter == THREADS * ROUNDS, "... and took turns with a mutex");
    tap_check(tids == THREADS && syscall(SYS_gettid) == getpid(),
              "a first thread has the process's number, others have none that it has");
}

static void *meet(void *arg)
{
    for (int i = 0; i < 20; i++)
        pthread_barrier_wait(&barrier);
    sem_wait(&semaphore);
    return arg;
}

static void barriers_and_semaphores(void)
{
    pthread_t thread[8];

    pthread_barrier_init(&barrier, NULL, 8);
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, meet, NULL);
    for (int i = 0; i < 8; i++)
        sem_post(&semaphore);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    tap_check(true, "barriers and semaphores let all of 8 threads through");
}

static struct timespec after_ms(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void timeouts(void)
{
    uint32_t word = 1;
    struct timespec soon = after_ms(CLOCK_REALTIME, 5), ms = {.tv_nsec = 3000000};
    struct timespec until = after_ms(CLOCK_MONOTONIC, 3);

    pthread_mutex_lock(&mutex);
    tap_check(pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT,
              "a wait until a date ends");
    pthread_mutex_unlock(&mutex);
    tap_check(futex(&word, FUTEX_WAIT, 1, &ms, NULL, 0) == -1 && errno == ETIMEDOUT,
              "a futex's wait of 3 ms ends");
    tap_check(futex(&word, FUTEX_WAIT_BITSET, 1, &until, NULL, FUTEX_BITSET_MATCH_ANY) == -1 &&
                  errno == ETIMEDOUT,
              "... and one until a time");
    tap_check(futex(&word, FUTEX_WAIT, 2, NULL, NULL, 0) == -1 && errno == EAGAIN,
              "a word with another value does not wait");
    ms.tv_nsec = 1000000000;
    tap_check(futex(&word, FUTEX_WAIT, 1, &ms, NULL, 0) == -1 && errno == EINVAL,
              "a malformed time is refused");
    tap_check(futex(&word, FUTEX_WAIT_BITSET, 1, NULL, NULL, 0) == -1 && errno == EINVAL,
              "no bit is refused");
    tap_check(futex((uint32_t *)((char *)&word + 1), FUTEX_WAKE, 1, NULL, NULL, 0) == -1 &&
                  errno == EINVAL,
              "a misaligned word is refused");
}

static uint32_t first, second;
static int asleep, woken_by_bit[2];

static void *sleep_for_bit(void *arg)
{
    long bit = (long)arg;

    __atomic_fetch_add(&asleep, 1, __ATOMIC_SEQ_CST);
    while (futex(&first, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1u << bit) == -1 && errno == EINTR)
        ;
    __atomic_fetch_add(&woken_by_bit[bit], 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Waits until n threads are asleep on the word at `first`: a wake with no thread says so. */
static void let_sleep(int n)
{
    while (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST) < n)
        sched_yield();
    usleep(20000);
}

static void bits_and_requeues(void)
{
    pthread_t thread[6];

    for (long i = 0; i < 6; i++)
        pthread_create(&thread[i], NULL, sleep_for_bit, (void *)(i % 2));
    let_sleep(6);
    long n = futex(&first, FUTEX_WAKE_BITSET, 10, NULL, NULL, 2);
    usleep(20000);
    tap_check(n == 3 && woken_by_bit[1] == 3 && woken_by_bit[0] == 0,
              "those that wait for a bit are woken (%ld)", n);
    n = futex(&first, FUTEX_CMP_REQUEUE, 1, (void *)1, &second, 1);
    tap_check(n == -1 && errno == EAGAIN, "a requeue compares");
    n = futex(&first, FUTEX_CMP_REQUEUE, 1, (void *)1, &second, 0);
    tap_check(n == 2, "one is woken, one goes on to another word (%ld)", n);
    tap_check(futex(&second, FUTEX_WAKE, 10, NULL, NULL, 0) == 1, "... and is woken there");
    tap_check(futex(&first, FUTEX_WAKE, 10, NULL, NULL, 0) == 1, "the third has stayed");
    for (int i = 0; i < 6; i++)
        pthread_join(thread[i], NULL);
    n = futex(&first, FUTEX_WAKE_OP, 1, (void *)1, &second,
              FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0));
    tap_check(n == 0 && second == 5, "an operation on the second word is made");
}

static void *die_with_mutex(void *arg)
{
    pthread_mutex_lock(arg);
    return NULL;
}

static void robust_mutexes(void)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t robust;
    pthread_t thread;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_create(&thread, NULL, die_with_mutex, &robust);
    pthread_join(thread, NULL);
    tap_check(pthread_mutex_lock(&robust) == EOWNERDEAD, "a mutex whose owner ended says so");
    tap_check(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0 &&
                  pthread_mutex_lock(&robust) == 0,
              "... and can be used again");
}

static void refused_clones(void)
{
    tap_check(syscall(SYS_clone3, NULL, 8) == -1 && errno == EINVAL, "a short clone3 is refused");
    tap_check(syscall(SYS_clone3, NULL, 88) == -1 && errno == EFAULT, "one without arguments, too");
    tap_check(syscall(SYS_clone, 0x10000, 0, 0, 0, 0) == -1 && errno == EINVAL,
              "a thread with a memory of its own, too");
}

static void *wait_for_all(void *arg)
{
    pthread_barrier_wait(arg);
    return NULL;
}

/* "others": makes this many further threads that exist at once; "refused": expects that no more can
 * be made. */
static int threads_at_once(long others, bool refused)
{
    pthread_t *thread = calloc((size_t)others, sizeof *thread), extra;
    pthread_attr_t attr;
    pthread_barrier_t all;
    long made = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * 1024);
    pthread_barrier_init(&all, NULL, (unsigned)others + 1);
    while (made < others && pthread_create(&thread[made], &attr, wait_for_all, &all) == 0)
        made++;
    tap_check(made == others, "%ld threads exist at once", others + 1);
    if (refused)
        tap_check(pthread_create(&extra, &attr, wait_for_all, &all) == EAGAIN,
                  "... and one more is refused");
    if (made == others)
        pthread_barrier_wait(&all);
    for (long i = 0; made == others && i < made; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return tap_done();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return threads_at_once(atol(argv[1]), argc > 2);
    many_threads();
    barriers_and_semaphores();
    timeouts();
    bits_and_requeues();
    robust_mutexes();
    refused_clones();
    return tap_done();
}
