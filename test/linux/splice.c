/* splice(2), tee(2), vmsplice(2): between pipes, files, sockets and memory, what they refuse, and
 * when they wait. Prints TAP; the same under Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 300000, SOME = 5000 };

static unsigned count, failed;
static _Alignas(4096) char text[BYTES];
static char got[BYTES];
static int file; /* BYTES of text */
static volatile sig_atomic_t broken;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static bool fails(long result, int error)
{
    return result == -1 && errno == error;
}

static void note(int n)
{
    (void)n;
    broken++;
}

/* Makes a pipe with `bytes` of text in it. */
static void make_pipe(int ends[2], size_t bytes)
{
    pipe(ends);
    if (bytes && write(ends[1], text, bytes) != (ssize_t)bytes)
        exit(2);
}

static void drop(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* Returns whether the next bytes to be read are the text from `at` on, and no more. */
static bool holds(int fd, size_t at, size_t bytes)
{
    int old = fcntl(fd, F_GETFL);
    size_t n = 0;

    fcntl(fd, F_SETFL, old | O_NONBLOCK);
    for (ssize_t part; n < BYTES && (part = read(fd, got + n, BYTES - n)) > 0;)
        n += (size_t)part;
    fcntl(fd, F_SETFL, old);
    return n == bytes && !memcmp(got, text + at, bytes);
}

static void test_file(void)
{
    int ends[2], other = memfd_create("other", 0);
    loff_t at = 1000;

    make_pipe(ends, 0);
    check(splice(file, &at, ends[1], NULL, SOME, 0) == SOME && at == 1000 + SOME,
          "from a file's offset, which moves");
    check(lseek(file, 0, SEEK_CUR) == 0 && holds(ends[0], 1000, SOME), "its position does not");
    check(splice(file, NULL, ends[1], NULL, SOME, 0) == SOME && lseek(file, 0, SEEK_CUR) == SOME,
          "from its position, which moves");
    at = 10;
    check(splice(ends[0], NULL, other, &at, SOME, SPLICE_F_MOVE) == SOME && at == 10 + SOME,
          "to a file's offset");
    check(pread(other, got, SOME, 10) == SOME && !memcmp(got, text, SOME), "it is there");
    write(ends[1], text, SOME);
    check(splice(ends[0], NULL, other, NULL, 100, 0) == 100 && lseek(other, 0, SEEK_CUR) == 100,
          "to its position, not all of it");
    check(holds(ends[0], 100, SOME - 100), "the rest stays");
    at = BYTES;
    check(splice(file, &at, ends[1], NULL, SOME, 0) == 0, "0 at the end of the file");
    at = 0;
    long all = splice(file, &at, ends[1], NULL, BYTES, 0);
    check(all == 65536 && holds(ends[0], 0, 65536), "what does not fit in the pipe is left");
    close(other);
    drop(ends);
    lseek(file, 0, SEEK_SET);
}

static void test_pipes(void)
{
    int a[2], b[2];

    make_pipe(a, SOME);
    make_pipe(b, 0);
    check(tee(a[0], b[1], BYTES, 0) == SOME && holds(b[0], 0, SOME), "tee copies");
    check(splice(a[0], NULL, b[1], NULL, 2000, 0) == 2000 && holds(b[0], 0, 2000),
          "what is there is moved then");
    check(splice(a[0], NULL, b[1], NULL, BYTES, 0) == SOME - 2000 && holds(b[0], 2000, SOME - 2000),
          "as much as there is");
    check(fails(splice(a[0], NULL, b[1], NULL, 1, SPLICE_F_NONBLOCK), EAGAIN) &&
              fails(tee(a[0], b[1], 1, SPLICE_F_NONBLOCK), EAGAIN),
          "NONBLOCK: nothing there is EAGAIN");
    write(a[1], text, SOME);
    write(b[1], text, 65536);
    check(fails(splice(a[0], NULL, b[1], NULL, 1, SPLICE_F_NONBLOCK), EAGAIN) &&
              holds(a[0], 0, SOME),
          "no room, too; and nothing is lost");
    close(a[1]);
    check(splice(a[0], NULL, b[1], NULL, 1, SPLICE_F_NONBLOCK) <= 0 && holds(b[0], 0, 65536),
          "a pipe that has ended gives nothing");
    close(a[0]);
    drop(b);
}

static void *write_late(void *fd)
{
    usleep(20000);
    write(*(int *)fd, text, SOME);
    return NULL;
}

static void test_waits(void)
{
    pthread_t thread;
    int a[2], b[2];

    make_pipe(a, 0);
    make_pipe(b, 0);
    pthread_create(&thread, NULL, write_late, &a[1]);
    check(splice(a[0], NULL, b[1], NULL, SOME, 0) > 0, "bytes are waited for");
    pthread_join(thread, NULL);
    drop(a);
    drop(b);
    make_pipe(a, SOME);
    make_pipe(b, 0);
    close(b[0]);
    check(fails(splice(a[0], NULL, b[1], NULL, SOME, 0), EPIPE) && broken == 1,
          "no reader: EPIPE and SIGPIPE");
    check(holds(a[0], 0, SOME), "the bytes are still there");
    drop(a);
    close(b[1]);
}

static void test_sockets(void)
{
    int ends[2], pair[2], other[2];

    make_pipe(ends, SOME);
    make_pipe(other, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    check(splice(ends[0], NULL, pair[0], NULL, SOME, SPLICE_F_MORE) == SOME, "to a socket");
    check(splice(pair[1], NULL, other[1], NULL, BYTES, 0) == SOME && holds(other[0], 0, SOME),
          "from a socket");
    check(fails(splice(pair[1], NULL, other[1], NULL, 1, SPLICE_F_NONBLOCK), EAGAIN),
          "nothing there: EAGAIN");
    drop(ends);
    drop(other);
    drop(pair);
}

static void test_memory(void)
{
    int ends[2];
    struct iovec parts[] = {{text, 1000}, {NULL, 0}, {text + 1000, SOME - 1000}};
    struct iovec into[] = {{got, 2000}, {got + 2000, SOME - 2000}}, bad = {(void *)8, 8};
    struct iovec large = {text, BYTES};

    make_pipe(ends, 0);
    check(vmsplice(ends[1], parts, 3, SPLICE_F_GIFT) == SOME && holds(ends[0], 0, SOME),
          "memory goes into a pipe");
    write(ends[1], text, SOME);
    memset(got, 0, SOME);
    check(vmsplice(ends[0], into, 2, 0) == SOME && !memcmp(got, text, SOME), "and out of it");
    check(vmsplice(ends[1], NULL, 0, 0) == 0, "no parts: 0");
    check(fails(vmsplice(ends[1], &bad, 1, 0), EFAULT), "bad memory: EFAULT");
    check(vmsplice(ends[1], &large, 1, SPLICE_F_NONBLOCK) == 65536 &&
              fails(vmsplice(ends[1], &large, 1, SPLICE_F_NONBLOCK), EAGAIN),
          "as much as fits, then EAGAIN");
    check(fails(vmsplice(file, parts, 1, 0), EBADF), "a file: EBADF");
    check(fails(vmsplice(ends[1], parts, 2000, 0), EINVAL), "too many parts: EINVAL");
    drop(ends);
}

static void test_refusals(void)
{
    int ends[2], append = open("/dev/shm", O_TMPFILE | O_RDWR | O_APPEND, 0600);
    loff_t at = 0;

    make_pipe(ends, SOME);
    check(splice(-1, NULL, -1, NULL, 0, 0) == 0, "no bytes: 0");
    check(fails(splice(-1, NULL, ends[1], NULL, 1, 0), EBADF), "no descriptor: EBADF");
    check(fails(splice(ends[1], NULL, ends[1], NULL, 1, 0), EBADF), "the wrong end: EBADF");
    check(fails(splice(file, NULL, file, NULL, 1, 0), EINVAL), "no pipe: EINVAL");
    check(fails(splice(ends[0], NULL, ends[1], NULL, 1, 0), EINVAL), "one pipe: EINVAL");
    check(fails(splice(ends[0], &at, file, NULL, 1, 0), ESPIPE), "an offset of a pipe: ESPIPE");
    check(fails(splice(ends[0], NULL, append, NULL, 1, 0), EINVAL), "to the end of a file: EINVAL");
    check(fails(splice(file, NULL, ends[1], NULL, 1, 16), EINVAL), "an unknown flag: EINVAL");
    check(fails(tee(ends[0], file, 1, 0), EINVAL) && fails(tee(ends[0], ends[1], 1, 0), EINVAL),
          "tee wants two pipes");
    check(fails(splice(file, (loff_t *)8, ends[1], NULL, 1, 0), EFAULT), "a bad offset: EFAULT");
    drop(ends);
    close(append);
}

int main(void)
{
    signal(SIGPIPE, note);
    for (unsigned i = 0; i < BYTES; i++)
        text[i] = (char)(i * 7 + i / 251);
    file = memfd_create("file", 0);
    if (write(file, text, BYTES) != BYTES || lseek(file, 0, SEEK_SET))
        return 2;
    test_file();
    test_pipes();
    test_waits();
    test_sockets();
    test_memory();
    test_refusals();
    printf("1..%u\n", count);
    return failed != 0;
}
