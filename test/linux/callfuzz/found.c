/* What seeded calls have found once, a check each. Prints TAP; the same under Linux, but for mlock
 * of all of memory, whose length wraps around there. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static void look_at_paths(void)
{
    struct pollfd polled = {.fd = open("/dev/tty", O_PATH), .events = POLLIN | POLLOUT};

    if (polled.fd < 0)
        polled.fd = open("/dev/console", O_PATH);
    check(polled.fd >= 0 && poll(&polled, 1, 0) == 1 && polled.revents == POLLNVAL,
          "a terminal that is a mere path is not polled");
    int out = dup(1);
    dup2(polled.fd, 1);
    dup2(out, 1);
    close(out);
    dup2(polled.fd, 2); /* and stays so to the end of the process */
    close(polled.fd);
}

static void look_at_descriptors(void)
{
    int ends[2];

    check(!pipe(ends), "a pipe");
    check(!syscall(SYS_fcntl, 1ull << 32 | (unsigned)ends[0], F_GETFD),
          "of a descriptor's register the lower half counts");
    check(flock(ends[0], 0) == -1 && errno == EINVAL, "flock without an operation");
    check(lseek(ends[0], 0, 77) == -1 && errno == EINVAL, "a bad origin is told before a pipe");
    check(readv(ends[1], NULL, 0) == -1 && errno == EBADF, "reading nothing where nothing is read");
    close(ends[0]);
    close(ends[1]);
    check(!syscall(SYS_close_range, 1000, 1001, 1ull << 32),
          "of flags' register the lower half counts");
}

static bool refuses(long result, int error)
{
    return result == -1 && errno == error;
}

static void look_at_mere_paths(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct itimerspec times;
    int path = open("/dev/zero", O_PATH), zero = open("/dev/zero", O_RDONLY), ends[2];
    sigset_t none;

    sigemptyset(&none);
    check(path >= 0 && zero >= 0 && !pipe(ends), "files");
    check(refuses(epoll_ctl(path, EPOLL_CTL_ADD, ends[0], &event), EBADF),
          "a mere path is no epoll");
    check(refuses(epoll_wait(path, &event, 1, 0), EBADF), "... and not waited at");
    check(refuses(timerfd_gettime(path, &times), EBADF), "... no timer");
    check(refuses(signalfd(path, &none, 0), EBADF), "... and no signals");
    check(refuses(epoll_ctl(ends[0], EPOLL_CTL_MOD, zero, &event), EPERM),
          "a file that is always ready is told before what is no epoll");
    check(refuses(epoll_wait(ends[0], (void *)-4000, 1, 0), EFAULT),
          "... and an address of nothing, too");
    check(refuses(open("/tmp/none", O_RDWR | (O_TMPFILE & ~O_DIRECTORY), 0600), EINVAL),
          "a file without a name is made in a folder");
    struct iovec parts[] = {{&event, 0}, {(void *)(-1ul << 12), 8}};
    check(refuses(preadv(ends[0], (struct iovec[2]){{0}}, 2, 0), ESPIPE),
          "nothing is not read at a place of a pipe");
    check(refuses(readv(zero, parts, 2), EFAULT), "parts are looked at before the first is moved");
    close(path);
    close(zero);
    close(ends[0]);
    close(ends[1]);
}

static void look_at_rest(void)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    siginfo_t info = {.si_code = SI_QUEUE};
    struct timespec none = {0, 0};

    check(!mlock(pages + 100, PAGE) && !munlock(pages + 100, PAGE),
          "pages are locked by addresses within them");
    check(mmap(pages, PAGE, PROT_READ, MAP_SHARED_VALIDATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
              MAP_FAILED,
          "flags of files' mappings are not looked at in memory of no file");
    check(!syscall(SYS_madvise, pages, PAGE, 1ull << 63), "advice's lower half counts");
    check(mlock(pages + 100, (size_t)-1) == -1, "... but not all of memory");
    check(!syscall(SYS_rt_sigqueueinfo, getpid(), 0, &info), "signal 0 can be queued");
    check(syscall(SYS_clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &none, NULL) == -1 &&
              errno == EOPNOTSUPP,
          "the clock of a thread's own time is not slept by");
}

int found(void)
{
    look_at_paths();
    look_at_descriptors();
    look_at_mere_paths();
    look_at_rest();
    printf("1..%u\n", count);
    return failed != 0;
}
