/* Calls of which LTP's tests have found that they differed or were not there. Prints TAP; the same
 * under Linux, as root. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static bool fails(long result, int with)
{
    return result == -1 && errno == with;
}

/* Returns whether a file has this text. */
static bool has(const char *path, const char *text)
{
    char got[200] = "";
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, got, sizeof(got) - 1);

    close(fd);
    return n == (ssize_t)strlen(text) && !strcmp(got, text);
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool right = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    close(fd);
    return right;
}

static void test_copies(void)
{
    int in = open("in", O_RDWR | O_CREAT, 0600), out = open("out", O_RDWR | O_CREAT, 0600);
    int ends[2];
    off64_t from = 2, to = 1;

    (void)!write(in, "0123456789", 10);
    lseek(in, 4, SEEK_SET);
    check(copy_file_range(in, NULL, out, NULL, 3, 0) == 3 && has("out", "456") &&
              lseek(in, 0, SEEK_CUR) == 7 && lseek(out, 0, SEEK_CUR) == 3,
          "copy_file_range copies at the positions, and moves them");
    check(copy_file_range(in, &from, out, &to, 4, 0) == 4 && has("out", "42345") && from == 6 &&
              to == 5 && lseek(in, 0, SEEK_CUR) == 7,
          "and at offsets, which it moves instead");
    from = 8;
    check(copy_file_range(in, &from, out, NULL, 100, 0) == 2 &&
              copy_file_range(in, &from, out, NULL, 100, 0) == 0,
          "less at the end, and nothing behind it");
    from = 0, to = 2;
    check(fails(copy_file_range(in, &from, in, &to, 5, 0), EINVAL), "EINVAL where both overlap");
    check(fails(copy_file_range(in, &from, out, &to, 5, 1), EINVAL), "EINVAL for a flag");
    check(fails(copy_file_range(in, NULL, 99, NULL, 5, 0), EBADF), "EBADF for no descriptor");
    (void)!pipe(ends);
    check(fails(copy_file_range(in, NULL, ends[1], NULL, 5, 0), EINVAL), "EINVAL for a pipe");
    close(out);
    out = open("out", O_WRONLY | O_APPEND);
    check(fails(copy_file_range(in, NULL, out, NULL, 5, 0), EBADF), "EBADF for O_APPEND");
    close(out);
    out = open(".", O_RDONLY);
    check(fails(copy_file_range(out, NULL, in, NULL, 5, 0), EISDIR), "EISDIR for a folder");
    close(out);
    close(in);
    close(ends[0]);
    close(ends[1]);
}

static void test_transfers(void)
{
    int fd = open("t", O_RDWR | O_CREAT | O_APPEND, 0600), null = open("/dev/null", O_RDWR);
    char got[8] = "";
    struct iovec part = {got, 4};

    check(pwrite(fd, "abcd", 4, 0) == 4 && pwrite(fd, "efgh", 4, 0) == 4 && has("t", "abcdefgh"),
          "pwrite with O_APPEND writes to the end");
    check(preadv2(fd, &part, 1, 2, 0) == 4 && !memcmp(got, "cdef", 4) &&
              lseek(fd, 0, SEEK_CUR) == 0,
          "preadv2 reads at an offset");
    check(preadv2(fd, &part, 1, -1, 0) == 4 && !memcmp(got, "abcd", 4) &&
              lseek(fd, 0, SEEK_CUR) == 4,
          "and for -1 at the position");
    check(fails(preadv2(fd, &part, 1, 0, 1 << 20), EOPNOTSUPP), "EOPNOTSUPP for an unknown flag");
    check(fails(pwritev2(99, &part, 1, 0, 0), EBADF), "pwritev2: EBADF for no descriptor");
    check(fails(fsync(null), EINVAL), "fsync: EINVAL for a device of characters");
    check(!readahead(fd, 0, 4096) && fails(readahead(99, 0, 1), EBADF), "readahead succeeds");
    check(!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) &&
              fails(sync_file_range(fd, 0, 0, 1 << 9), EINVAL) &&
              fails(sync_file_range(99, 0, 0, 0), EBADF),
          "sync_file_range succeeds");
    check(fails(fgetxattr(99, "user.a", got, 4), EBADF), "fgetxattr: EBADF for no descriptor");
    check(fails(fchmodat(fd, "", 0600, 0), ENOENT), "ENOENT for an empty path, whatever it is in");
    close(null);
    close(fd);
}

static void test_owner(void)
{
    struct stat s;

    close(open("p", O_CREAT | O_WRONLY, 0700));
    chmod("p", 06770);
    check(!chown("p", 0, 0) && !stat("p", &s) && (s.st_mode & 07777) == 0770,
          "chown takes the bits for a program's user and group");
    chmod("p", 02760);
    check(!chown("p", 0, 0) && !stat("p", &s) && (s.st_mode & 07777) == 02760,
          "but that of a group that may not execute it");
}

static void test_room(void)
{
    int ends[2];
    static char bytes[8192];

    (void)!pipe2(ends, O_NONBLOCK);
    check(fcntl(ends[0], F_GETPIPE_SZ) == 65536, "a pipe holds 64 KB");
    check(fcntl(ends[1], F_SETPIPE_SZ, 5000) == 8192 && fcntl(ends[0], F_GETPIPE_SZ) == 8192,
          "its room is set, in pages by a power of 2");
    check(write(ends[1], bytes, 8192) == 8192 && fails(write(ends[1], bytes, 1), EAGAIN),
          "it holds that");
    check(fails(fcntl(ends[1], F_SETPIPE_SZ, 4096), EBUSY), "EBUSY for less than it holds");
    check(fcntl(ends[1], F_SETPIPE_SZ, 16384) == 16384 && write(ends[1], bytes, 8192) == 8192 &&
              read(ends[0], bytes, 8192) == 8192 && read(ends[0], bytes, 8192) == 8192,
          "more room keeps what it holds");
    close(ends[0]);
    close(ends[1]);
    int fd = open("p", O_RDONLY);
    check(fails(fcntl(fd, F_GETPIPE_SZ), EBADF), "EBADF for a file");
    close(fd);
}

static void test_names(void)
{
    struct utsname before, u;
    char line[70];

    unshare(CLONE_NEWUTS); /* Linux's own stay */
    uname(&before);
    check(!sethostname("ship", 4) && !setdomainname("sea", 3) && !uname(&u) &&
              !strcmp(u.nodename, "ship") && !strcmp(u.domainname, "sea"),
          "the machine's names are set");
    check(has("/proc/sys/kernel/hostname", "ship\n") && has("/proc/sys/kernel/domainname", "sea\n"),
          "/proc has them");
    check(fails(syscall(SYS_sethostname, "ship", -1), EINVAL) &&
              fails(syscall(SYS_sethostname, line, 65), EINVAL),
          "EINVAL for a wrong length");
    snprintf(line, sizeof(line), "%s\n", u.release);
    check(has("/proc/sys/kernel/osrelease", line), "/proc has the release of uname");
    sethostname(before.nodename, strlen(before.nodename));
    setdomainname(before.domainname, strlen(before.domainname));
    prctl(PR_SET_NAME, "other");
    check(has("/proc/self/comm", "other\n") && has("/proc/thread-self/comm", "other\n"),
          "/proc has a thread's name");
}

static void test_process(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct had[2], got[2];
    char score[20] = "";

    int fd = open("/proc/self/oom_score_adj", O_RDONLY);
    (void)!read(fd, score, sizeof(score) - 1);
    close(fd);
    check(put("/proc/self/oom_score_adj", "7") && has("/proc/self/oom_score_adj", "7\n"),
          "oom_score_adj keeps what is written");
    check(!put("/proc/self/oom_score_adj", "2000") && !put("/proc/self/oom_score_adj", "x"),
          "but nothing wrong");
    put("/proc/self/oom_score_adj", score);
    check(!syscall(SYS_capget, &head, had) && had[0].effective & 1 << CAP_KILL,
          "a process has capabilities");
    pid_t pid = fork();
    if (!pid) {
        memcpy(got, had, sizeof(got));
        got[0].effective &= ~(1u << CAP_KILL);
        got[0].permitted &= ~(1u << CAP_KILL);
        bool right = !syscall(SYS_capset, &head, got) && !syscall(SYS_capget, &head, got) &&
                     !(got[0].effective & 1 << CAP_KILL) &&
                     fails(syscall(SYS_capset, &head, had), EPERM);
        _exit(!right);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    check(status == 0, "one that is given up is gone for good");
    check(prctl(PR_GET_DUMPABLE) == 1 && !prctl(PR_SET_DUMPABLE, 0) &&
              prctl(PR_GET_DUMPABLE) == 0 && !prctl(PR_SET_DUMPABLE, 1) &&
              fails(prctl(PR_SET_DUMPABLE, 2), EINVAL),
          "PR_SET_DUMPABLE is kept");
    head.version = 1;
    check(fails(syscall(SYS_capget, &head, had), EINVAL) &&
              head.version == _LINUX_CAPABILITY_VERSION_3,
          "an unknown version gets the kernel's");
}

static void test_async(void)
{
    int on = 1, off = 0, ends[2], folder = open("/", O_RDONLY);

    check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends) && !ioctl(ends[0], FIOASYNC, &on) &&
              fcntl(ends[0], F_GETFL) & O_ASYNC,
          "ioctl makes a socket one whose owner is signalled");
    check(!ioctl(ends[0], FIOASYNC, &off) && !(fcntl(ends[0], F_GETFL) & O_ASYNC),
          "... and takes it back");
    check(fails(ioctl(folder, FIOASYNC, &on), ENOTTY), "... which a folder cannot be");
    close(ends[0]);
    close(ends[1]);
    close(folder);
}

int main(void)
{
    char folder[] = "/tmp/calls.XXXXXX";

    if (!mkdtemp(folder) || chdir(folder))
        return 2;
    umask(0);
    test_copies();
    test_transfers();
    test_owner();
    test_room();
    test_names();
    test_process();
    test_async();
    printf("1..%u\n", count);
    return failed != 0;
}
