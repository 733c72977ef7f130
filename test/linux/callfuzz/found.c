/* What seeded calls have found once, a check each. Prints TAP; the same under Linux. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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
    look_at_rest();
    printf("1..%u\n", count);
    return failed != 0;
}
