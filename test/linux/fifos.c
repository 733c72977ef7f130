/* FIFOs: pipes with names. Prints TAP; the same under Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static bool fails(int result, int with)
{
    return result == -1 && errno == with;
}

static short ready(int fd)
{
    struct pollfd p = {fd, POLLIN | POLLOUT, 0};

    return poll(&p, 1, 0) == 1 ? p.revents : 0;
}

static void test_name(void)
{
    struct stat by_path, by_fd;

    umask(022);
    check(!mkfifo("f", 0666) && !stat("f", &by_path) && by_path.st_mode == (S_IFIFO | 0644),
          "mkfifo makes one with the permissions that umask leaves");
    check(fails(mkfifo("f", 0666), EEXIST), "EEXIST where there is something");
    int fd = open("f", O_RDWR);
    check(!fstat(fd, &by_fd) && by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev,
          "its descriptor has the name's number");
    check(!fchmod(fd, 0600) && !stat("f", &by_path) && by_path.st_mode == (S_IFIFO | 0600),
          "fchmod changes what the name has");
    check(fails((int)lseek(fd, 0, SEEK_SET), ESPIPE), "it has no positions");
    close(fd);
    check(!mknod("g", S_IFIFO | 0600, 0) && !unlink("g"), "mknod makes one");
}

static void test_without_waiting(void)
{
    char got[8] = "";

    check(fails(open("f", O_WRONLY | O_NONBLOCK), ENXIO), "ENXIO for a writer without a reader");
    int in = open("f", O_RDONLY | O_NONBLOCK);
    check(in >= 0 && read(in, got, sizeof(got)) == 0, "a reader without a writer reads its end");
    check(ready(in) == 0, "poll tells it of no end before a writer has been there");
    int out = open("f", O_WRONLY | O_NONBLOCK);
    check(out >= 0 && fails((int)read(in, got, 8), EAGAIN), "EAGAIN while there is nothing");
    check(write(out, "words", 5) == 5 && ready(in) == POLLIN && read(in, got, 8) == 5 &&
              !memcmp(got, "words", 5),
          "bytes go through it");
    close(out);
    check(ready(in) == POLLHUP, "poll tells of the last writer's end");
    out = open("f", O_WRONLY);
    check(ready(in) == 0 && ready(out) == POLLOUT, "another writer may come");
    close(in);
    signal(SIGPIPE, SIG_IGN);
    check(fails((int)write(out, "x", 1), EPIPE), "EPIPE without readers");
    close(out);
}

static void test_waiting(void)
{
    char got[8] = "";
    int status;
    pid_t pid = fork();

    if (!pid) {
        int out = open("f", O_WRONLY);
        _exit(out < 0 || write(out, "child", 5) != 5);
    }
    int in = open("f", O_RDONLY);
    check(read(in, got, sizeof(got)) == 5 && !memcmp(got, "child", 5) && read(in, got, 8) == 0,
          "a reader and a writer wait for each other");
    waitpid(pid, &status, 0);
    close(in);
}

static void interrupt(int n)
{
    (void)n;
}

static void test_signal(void)
{
    struct sigaction a = {.sa_handler = interrupt};

    sigaction(SIGALRM, &a, NULL);
    alarm(1);
    check(fails(open("f", O_RDONLY), EINTR), "a signal ends the wait for a writer");
    check(fails(open("f", O_WRONLY | O_NONBLOCK), ENXIO), "and no reader is left");
}

static void test_unnamed(void)
{
    char got[4] = "";
    int fd = open("f", O_RDWR | O_NONBLOCK), other;

    check(!unlink("f") && !mkfifo("f", 0600), "a name that is removed can be given again");
    other = open("f", O_RDWR | O_NONBLOCK);
    check(write(fd, "a", 1) == 1 && fails((int)read(other, got, 1), EAGAIN) &&
              read(fd, got, 1) == 1 && got[0] == 'a',
          "the old one stays open beside the new one");
    close(fd);
    close(other);
    check(!rename("f", "h") && !link("h", "i"), "it is renamed, and gets a second name");
    fd = open("h", O_RDWR | O_NONBLOCK);
    other = open("i", O_RDONLY | O_NONBLOCK);
    check(write(fd, "b", 1) == 1 && read(other, got, 1) == 1 && got[0] == 'b',
          "both names lead to one pipe");
}

int main(void)
{
    char folder[] = "/tmp/fifos.XXXXXX";

    if (!mkdtemp(folder) || chdir(folder))
        return 2;
    test_name();
    test_without_waiting();
    test_waiting();
    test_signal();
    test_unnamed();
    printf("1..%u\n", count);
    return failed != 0;
}
