/*
 * Threads that write to the end of one file, and that read and write at one position: each record
 * is there whole, and once; of a device they do not wait for each other. Signals do not cut the
 * transfers of a file short. Prints TAP; the same under Linux.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { THREADS = 4, RECORDS = 50, BYTES = 9000, ALL = THREADS * RECORDS };

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static int shared;
static uint8_t seen[ALL];

/* Records are bytes of their number's low part, behind the number. */
static void fill(uint8_t *record, uint32_t number)
{
    memset(record, (int)number, BYTES);
    memcpy(record, &number, sizeof number);
}

static bool is_whole(const uint8_t *record)
{
    uint8_t expected[BYTES];
    uint32_t number;

    memcpy(&number, record, sizeof number);
    fill(expected, number);
    if (number >= ALL || memcmp(record, expected, BYTES))
        return false;
    return __atomic_add_fetch(&seen[number], 1, __ATOMIC_RELAXED) == 1;
}

static void *append(void *arg)
{
    uint8_t record[BYTES];
    int fd = open("/tmp/appended", O_WRONLY | O_APPEND);

    for (uint32_t i = 0; i < RECORDS; i++) {
        fill(record, (uint32_t)(intptr_t)arg * RECORDS + i);
        struct iovec parts[2] = {{record, 100}, {record + 100, BYTES - 100}};
        (void)!(i & 1 ? write(fd, record, BYTES) : writev(fd, parts, 2));
    }
    close(fd);
    return NULL;
}

static void *write_shared(void *arg)
{
    uint8_t record[BYTES];

    for (uint32_t i = 0; i < RECORDS; i++) {
        fill(record, (uint32_t)(intptr_t)arg * RECORDS + i);
        (void)!write(shared, record, BYTES);
    }
    return NULL;
}

static void *read_shared(void *arg)
{
    uint8_t record[BYTES];
    intptr_t whole = 0;

    (void)arg;
    while (read(shared, record, BYTES) == BYTES)
        whole += is_whole(record);
    return (void *)whole;
}

static intptr_t run(void *(*what)(void *))
{
    pthread_t threads[THREADS];
    intptr_t sum = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, what, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (intptr_t)result;
    }
    return sum;
}

/* Reads a device that threads share. Returns how often the thread was switched from meanwhile. */
static void *read_device(void *arg)
{
    enum { READS = 2000 };
    struct perf_event_attr a = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_CONTEXT_SWITCHES};
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
    uint64_t switches = READS, before = 0;
    char byte;

    (void)arg;
    (void)!read(fd, &before, sizeof before);
    for (int i = 0; i < READS; i++)
        (void)!read(shared, &byte, 1);
    (void)!read(fd, &switches, sizeof switches);
    close(fd);
    return (void *)(intptr_t)(switches - before);
}

static bool has_all(const char *path)
{
    uint8_t record[BYTES];
    int fd = open(path, O_RDONLY), whole = 0;

    memset(seen, 0, sizeof seen);
    while (read(fd, record, BYTES) == BYTES)
        whole += is_whole(record);
    off_t size = lseek(fd, 0, SEEK_END);
    close(fd);
    return whole == ALL && size == (off_t)ALL * BYTES;
}

static void take(int n)
{
    (void)n;
}

/* Writes and reads a file in large parts while signals come. Returns whether each was whole. */
static bool is_never_cut(void)
{
    enum { PART = 1 << 20, ROUNDS = 100 };
    static uint8_t part[PART];
    struct sigaction a = {.sa_handler = take, .sa_flags = SA_RESTART};
    struct itimerval t = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    int fd = open("/tmp/large", O_CREAT | O_TRUNC | O_RDWR, 0600), whole = 0;

    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
    for (int i = 0; i < ROUNDS; i++)
        whole += pwrite(fd, part, PART, 0) == PART && pread(fd, part, PART, 0) == PART;
    setitimer(ITIMER_REAL, &off, NULL);
    close(fd);
    return whole == ROUNDS;
}

int main(void)
{
    close(open("/tmp/appended", O_CREAT | O_TRUNC | O_WRONLY, 0600));
    run(append);
    check(has_all("/tmp/appended"), "records written to the end of a file are whole");
    shared = open("/tmp/shared", O_CREAT | O_TRUNC | O_RDWR, 0600);
    run(write_shared);
    check(has_all("/tmp/shared"), "... and those written at one position");
    memset(seen, 0, sizeof seen);
    lseek(shared, 0, SEEK_SET);
    check(run(read_shared) == ALL, "records read at one position are read once, and whole");
    close(shared);
    shared = open("/dev/zero", O_RDONLY);
    intptr_t switches = run(read_device);
    printf("# switches while threads read a device: %ld\n", (long)switches);
    check(switches < 400, "threads that read a device do not wait for each other");
    check(is_never_cut(), "a signal does not cut a transfer of a file short");
    printf("1..%u\n", count);
    return failed != 0;
}
