/*
 * Locks on files, names that files have more than one of, and times of files; in the folder that is
 * named, or in /tmp. Prints TAP; the same under Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    if (!right)
        printf("# errno %d\n", errno);
    fflush(stdout);
    failed += !right;
}

static int lock(int fd, int how, short type, off_t start, off_t length)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};

    return fcntl(fd, how, &l);
}

/* Runs a part in a child. Returns its status. */
static int in_child(int (*part)(int fd), int fd)
{
    int status;
    pid_t pid = fork();

    if (!pid)
        _exit(part(fd));
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int child_sees_parents(int fd)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 100};

    if (lock(fd, F_SETLK, F_WRLCK, 15, 1) != -1 || (errno != EAGAIN && errno != EACCES))
        return 1;
    if (lock(fd, F_SETLK, F_RDLCK, 30, 5) || lock(fd, F_SETLK, F_WRLCK, 20, 5))
        return 2;
    if (fcntl(fd, F_GETLK, &l) || l.l_type != F_WRLCK || l.l_start != 10 || l.l_len != 10 ||
        l.l_pid != getppid())
        return 3;
    return 0;
}

static int child_takes_all(int fd)
{
    return lock(fd, F_SETLK, F_WRLCK, 0, 0) ? 1 : 0;
}

static int child_waits(int fd)
{
    alarm(20);
    return lock(fd, F_SETLKW, F_WRLCK, 10, 1) ? 1 : 0;
}

static void handle(int number)
{
    (void)number;
}

static int child_is_interrupted(int fd)
{
    struct sigaction action = {.sa_handler = handle};

    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    return lock(fd, F_SETLKW, F_WRLCK, 10, 1) == -1 && errno == EINTR ? 0 : 1;
}

static void records(const char *path)
{
    int fd = open(path, O_CREAT | O_RDWR, 0644), again, status;

    check(!lock(fd, F_SETLK, F_WRLCK, 10, 10) && !lock(fd, F_SETLK, F_WRLCK, 12, 2),
          "a record is locked, and parts of it again");
    check(in_child(child_sees_parents, fd) == 0, "... which keeps others from it, and is told");
    check(in_child(child_is_interrupted, fd) == 0, "a wait is ended by a signal");
    pid_t pid = fork();
    if (!pid)
        _exit(child_waits(fd));
    usleep(100000);
    check(!waitpid(pid, &status, WNOHANG), "a wait lasts");
    check(!lock(fd, F_SETLK, F_UNLCK, 10, 1) && waitpid(pid, &status, 0) == pid && !status,
          "... until the record is unlocked");
    check(in_child(child_takes_all, fd) == 1, "the rest stays locked");
    again = open(path, O_RDONLY);
    close(again);
    check(in_child(child_takes_all, fd) == 0, "a close of any descriptor of the file unlocks all");
    check(in_child(child_takes_all, fd) == 0, "and so does the end of a process");
    again = open(path, O_RDONLY);
    check(lock(again, F_SETLK, F_WRLCK, 0, 1) == -1 && errno == EBADF,
          "a file must be open for writing to be locked exclusively");
    close(again);
    close(fd);
}

static void deadlock(const char *path)
{
    int fd = open(path, O_RDWR), ready[2], status;
    char byte = 0;

    (void)!pipe(ready);
    (void)!lock(fd, F_SETLK, F_WRLCK, 0, 1);
    pid_t pid = fork();
    if (!pid) {
        alarm(20);
        (void)!lock(fd, F_SETLK, F_WRLCK, 1, 1);
        (void)!write(ready[1], &byte, 1);
        _exit(lock(fd, F_SETLKW, F_WRLCK, 0, 1) ? 1 : 0);
    }
    (void)!read(ready[0], &byte, 1);
    usleep(100000);
    check(lock(fd, F_SETLKW, F_WRLCK, 1, 1) == -1 && errno == EDEADLK,
          "two that would wait for each other");
    check(!lock(fd, F_SETLK, F_UNLCK, 0, 1) && waitpid(pid, &status, 0) == pid && !status,
          "... of which the other one goes on");
    close(fd);
}

static void openings(const char *path)
{
    int one = open(path, O_RDWR), two = open(path, O_RDWR), copy = dup(one);

    check(!flock(one, LOCK_EX) && flock(two, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK,
          "flock keeps another opening out");
    check(!flock(copy, LOCK_SH) && !flock(two, LOCK_SH | LOCK_NB), "a shared one lets it in");
    check(flock(one, LOCK_EX | LOCK_NB) == -1 && !flock(two, LOCK_UN) &&
              !flock(one, LOCK_EX | LOCK_NB),
          "it becomes exclusive when it is alone");
    close(one);
    check(flock(two, LOCK_EX | LOCK_NB) == -1, "a copy of the descriptor keeps it");
    close(copy);
    check(!flock(two, LOCK_EX | LOCK_NB) && !flock(two, LOCK_UN), "... the last close drops it");
    one = open(path, O_RDWR);
    check(!lock(one, F_OFD_SETLK, F_WRLCK, 0, 10) && lock(two, F_OFD_SETLK, F_WRLCK, 5, 1) == -1 &&
              errno == EAGAIN,
          "records by opening conflict in one process");
    check(lock(two, F_SETLK, F_WRLCK, 5, 1) == -1, "... and with those by process");
    close(one);
    check(!lock(two, F_OFD_SETLK, F_WRLCK, 5, 1), "... until the opening ends");
    check(flock(two, 77) == -1 && errno == EINVAL, "flock knows no other kinds");
    close(two);
}

static void names(const char *path)
{
    char other[120], third[120], text[10] = "";
    struct stat a, b;
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);

    snprintf(other, sizeof other, "%s.other", path);
    snprintf(third, sizeof third, "%s.third", path);
    check(!link(path, other) && !stat(path, &a) && !stat(other, &b) && a.st_ino == b.st_ino &&
              b.st_nlink == 2,
          "a file has a second name");
    check(link(path, other) == -1 && errno == EEXIST, "... which is taken then");
    check(write(fd, "text", 4) == 4 && !stat(other, &b) && b.st_size == 4, "... of one file");
    check(!unlink(path) && !stat(other, &b) && b.st_nlink == 1, "one name goes, the file stays");
    close(fd);
    fd = open(other, O_RDONLY);
    check(read(fd, text, 10) == 4 && !memcmp(text, "text", 4), "... with what is in it");
    check(!rename(other, third) && !link(third, path) && !rename(path, third) &&
              !access(path, F_OK),
          "a rename over the other name of a file does nothing");
    check(!unlink(third) && !unlink(path) && !fstat(fd, &b) && b.st_nlink == 0 &&
              pread(fd, text, 10, 0) == 4,
          "without a name it is there until it is closed");
    close(fd);
    check(link("/proc/version", other) == -1 && errno == EXDEV, "no name in another file system");
}

static void times(const char *path)
{
    struct timespec t[2] = {{1000000000, 123456789}, {1100000000, 987654321}}, now;
    struct stat s;
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);

    check(!utimensat(AT_FDCWD, path, t, 0) && !stat(path, &s) && s.st_atime == 1000000000 &&
              s.st_mtim.tv_sec == 1100000000 && s.st_mtim.tv_nsec == 987654321,
          "times are set, to the nanosecond");
    t[0].tv_nsec = UTIME_OMIT;
    t[1].tv_sec = 1200000000;
    check(!futimens(fd, t) && !stat(path, &s) && s.st_atime == 1000000000 &&
              s.st_mtime == 1200000000,
          "one of them stays");
    t[1].tv_nsec = 1000000000;
    check(futimens(fd, t) == -1 && errno == EINVAL, "a second has no more nanoseconds");
    check(!futimens(fd, NULL) && !stat(path, &s) && s.st_mtime > 1200000000, "they become now");
    t[1] = (struct timespec){1200000000, 0};
    futimens(fd, t);
    clock_gettime(CLOCK_REALTIME, &now);
    check(write(fd, "x", 1) == 1 && !fstat(fd, &s) && s.st_mtime > 1200000000 &&
              s.st_ctime == s.st_mtime,
          "a write is noted");
    check(!posix_fallocate(fd, 0, 10000) && !fstat(fd, &s) && s.st_size == 10000,
          "room is asked for");
    close(fd);
    unlink(path);
}

int main(int argc, char **argv)
{
    char path[100];

    snprintf(path, sizeof path, "%s/locked", argc > 1 ? argv[1] : "/tmp");
    records(path);
    deadlock(path);
    openings(path);
    names(path);
    times(path);
    printf("1..%u\n", count);
    return failed != 0;
}
