/*
 * Corners of calls: ranges that are no whole pages, signals to groups, the number 0, limits that
 * hold, identities. Prints TAP; the same under Linux, as root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, FEW = 10, NO_PID = 0x3ffffff0, STARTED = 42 };

static unsigned count, failed;
static volatile sig_atomic_t taken;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static void note(int n)
{
    (void)n;
    taken++;
}

static void lock_parts_of_pages(void)
{
    char *three = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char in[3] = {0};

    check(!mlock(three + PAGE - 1, 2), "two bytes at a page's end are locked");
    check(!mincore(three, 3 * PAGE, in) && (in[0] & 1) && (in[1] & 1) && !(in[2] & 1),
          "... which are two pages");
    check(!munlock(three + PAGE - 1, 2), "... and unlocked");
    check(munlock((char *)1, 1) && errno == ENOMEM, "so is one where nothing is");
    check(!mlock(three + 5, 0), "no byte is no page");
    munmap(three, 3 * PAGE);
}

static void send(void)
{
    union sigval value = {.sival_int = 1};

    signal(SIGUSR1, note);
    check(!sigqueue(getpid(), 0, value), "number 0 is sent to a process that there is");
    check(sigqueue(NO_PID, 0, value) && errno == ESRCH, "... but not to one that there is not");
    check(sigqueue(getpid(), 65, value) && errno == EINVAL, "number 65 is none");
    check(!killpg(getpgrp(), 0) && !kill(0, 0), "a program's group is there");
    check(!killpg(getpgrp(), SIGUSR1) && taken == 1, "... and gets a signal");
    check(!kill(0, SIGUSR1) && taken == 2, "... also by 0");
    check(killpg(NO_PID, SIGUSR1) && errno == ESRCH, "no group is there");
    check(kill(-NO_PID, SIGUSR1) && errno == ESRCH, "... and none of a negative number");
}

static void open_few(void)
{
    struct rlimit few = {FEW, FEW};
    int last = -1, fd;

    check(dup2(1, FEW + 5) == FEW + 5, "a descriptor above a limit to come");
    check(!setrlimit(RLIMIT_NOFILE, &few), "a limit on descriptors");
    while ((fd = dup(1)) >= 0)
        last = fd;
    check(errno == EMFILE && last == FEW - 1, "... holds");
    check(dup2(1, FEW) < 0 && errno == EBADF, "... for the copy of a descriptor");
    check(fcntl(1, F_DUPFD, FEW) < 0 && errno == EINVAL, "... and its lowest number");
    check(write(FEW + 5, "", 0) == 0, "what was open stays so");
}

static void be_root(void)
{
    check(!setuid(0) && !setgid(0), "root may be root");
    check(!setreuid((uid_t)-1, 0) && !setresgid(0, (gid_t)-1, 0), "... or stay as it is");
    check(setuid((uid_t)-1) && errno == EINVAL, "-1 is no user");
    check(!setgroups(0, NULL) && !getgroups(0, NULL), "no further groups");
    gid_t groups[3] = {0}, got[3] = {5, 5, 5};
    check(!setgroups(2, groups) && getgroups(0, NULL) == 2, "its own group, twice");
    check(getgroups(3, got) == 2 && !got[0] && !got[1] && got[2] == 5, "... is told");
    check(getgroups(1, got) == -1 && errno == EINVAL, "... where there is room");
    check(!setgroups(0, NULL), "... and none again");
    check(setgroups(1 << 20, NULL) && errno == EINVAL, "too many groups");
    check(setgroups(1, (gid_t *)8) && errno == EFAULT, "groups where nothing is");
}

static void give_files(void)
{
    const char *folder = "/tmp/corners", *name = "/tmp/corners/file", *link = "/tmp/corners/link";
    struct stat s;

    check(!mkdir(folder, 0700), "a folder");
    int fd = open(name, O_CREAT | O_RDWR, 0600);
    check(!fchown(fd, 5, 7) && !fstat(fd, &s) && s.st_uid == 5 && s.st_gid == 7,
          "a file gets an owner and a group");
    check(!chown(name, (uid_t)-1, 9) && !stat(name, &s) && s.st_uid == 5 && s.st_gid == 9,
          "... or one of them");
    check(!symlink(name, link) && !lchown(link, 3, 3) && !stat(link, &s) && s.st_uid == 5,
          "a link has its own");
    check(!lstat(link, &s) && s.st_uid == 3, "... which it keeps");
    check(!fchownat(AT_FDCWD, link, 4, 4, 0) && !stat(name, &s) && s.st_uid == 4,
          "... or passes it on");
    check(fchownat(AT_FDCWD, link, 4, 4, 1) && errno == EINVAL, "a flag that there is not");
    check(chown("/tmp/corners.none", 0, 0) && errno == ENOENT, "no file");
    check(fchown(-1, 0, 0) && errno == EBADF, "no descriptor");
    check(!unlink(link) && !unlink(name) && !fchown(fd, 0, 0), "a file without a name");
    close(fd);
}

static void map_new_file(void)
{
    char name[] = "/tmp/corners.XXXXXX", text[2 * PAGE] = "begin";
    int fd = mkstemp(name);

    text[PAGE] = 'x';
    check(fd >= 0 && write(fd, text, PAGE + 1) == PAGE + 1, "a new file");
    char *all = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    char *rest = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
    check(all != MAP_FAILED && !memcmp(all, text, 2 * PAGE), "... is mapped, zeros behind it");
    check(rest != MAP_FAILED && rest[0] == 'x' && !rest[1], "... from its second page on");
    rest[0] = 'y';
    check(pread(fd, text, 1, PAGE) == 1 && text[0] == 'x' && all[PAGE] == 'x',
          "what is written there stays private");
    close(fd);
    check(!unlink(name) && all[0] == 'b', "the mapping outlives the file");
}

/* Returns a number that /proc/self/status has, or -1. */
static long status_of(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    long n = -1;

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)))
            n = strtol(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return n;
}

static void count_locked(void)
{
    char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    check(status_of("VmLck:") == 0, "no memory is locked");
    mlock(two, 2 * PAGE);
    check(status_of("VmLck:") == 8, "two pages are");
    munlock(two, 2 * PAGE);
    check(status_of("VmLck:") == 0, "none again");
}

/* Files do not become larger than RLIMIT_FSIZE. */
static void limit_files(void)
{
    struct rlimit limit = {10, RLIM_INFINITY};
    int fd = memfd_create("limited", 0);

    signal(SIGXFSZ, note);
    setrlimit(RLIMIT_FSIZE, &limit);
    taken = 0;
    check(write(fd, "0123456789abcdef", 16) == 10 && !taken, "a write is cut at the limit");
    check(write(fd, "x", 1) == -1 && errno == EFBIG && taken == 1, "behind it: EFBIG, SIGXFSZ");
    check(pwrite(fd, "y", 1, 3) == 1, "in front of it, it is done");
    check(ftruncate(fd, 11) == -1 && errno == EFBIG && taken == 2, "nor is it set larger");
    check(!ftruncate(fd, 5) && !ftruncate(fd, 10), "but smaller, and up to the limit");
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    check(pwrite(fd, "x", 1, 10) == 1, "without one it grows");
    close(fd);
}

/* Errors that come first where several could. */
static void order_errors(void)
{
    char *const argv[] = {(char *)"x", NULL}, *const env[] = {NULL};
    int ends[2], root = open("/", O_PATH);

    pipe(ends);
    check(pwrite(ends[0], "x", 1, 0) == -1 && errno == ESPIPE, "an offset of a pipe: ESPIPE");
    check(mmap(NULL, 0, PROT_READ, MAP_SHARED, 99, 0) == MAP_FAILED && errno == EBADF,
          "no descriptor to map: EBADF");
    check(mmap(NULL, PAGE, PROT_READ, MAP_SHARED_VALIDATE | 1 << 30, root, 0) == MAP_FAILED,
          "MAP_SHARED_VALIDATE refuses what it does not know");
    symlink("/proc/self/exe", "/tmp/corners.link");
    check(execveat(AT_FDCWD, "/tmp/corners.link", argv, env, AT_SYMLINK_NOFOLLOW) == -1 &&
              errno == ELOOP,
          "a link that is not followed: ELOOP");
    unlink("/tmp/corners.link");
    check(execveat(root, "", argv, env, AT_EMPTY_PATH) == -1 && errno == EACCES,
          "a folder is no program");
    close(root);
    close(ends[0]);
    close(ends[1]);
}

/* A program is started by its descriptor. */
static void start_open(void)
{
    char *const argv[] = {(char *)"corners", (char *)"started", NULL}, *const env[] = {NULL};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), pid = fork(), status = -1;

    if (!pid) {
        execveat(fd, "", argv, env, AT_EMPTY_PATH);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == STARTED, "a program of a descriptor starts");
    close(fd);
}

/* New files are of the group of a folder that says so. */
static void hand_down_group(void)
{
    struct stat s, in;

    mkdir("/tmp/corners.group", 0777);
    check(!chown("/tmp/corners.group", 0, 5) && !chmod("/tmp/corners.group", 02777),
          "such a folder");
    close(open("/tmp/corners.group/file", O_CREAT | O_RDWR, 0600));
    mkdir("/tmp/corners.group/in", 0777);
    check(!stat("/tmp/corners.group/file", &s) && s.st_gid == 5, "a file in it has its group");
    check(!stat("/tmp/corners.group/in", &in) && in.st_gid == 5 && (in.st_mode & S_ISGID),
          "a folder, too, and hands it down");
    unlink("/tmp/corners.group/file");
    rmdir("/tmp/corners.group/in");
    rmdir("/tmp/corners.group");
}

static long io_priority(void)
{
    return syscall(SYS_ioprio_get, 1, 0);
}

static void set_io_priority(void)
{
    int pid, status = -1;

    check(!syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6) && io_priority() == (2 << 13 | 6),
          "a priority of input and output");
    pid = fork();
    if (!pid)
        _exit(io_priority() != (2 << 13 | 6));
    waitpid(pid, &status, 0);
    check(!status, "a child has it");
    check(syscall(SYS_ioprio_set, 1, 0, 4 << 13) == -1 && errno == EINVAL &&
              syscall(SYS_ioprio_set, 1, 0, 3) == -1 && errno == EINVAL &&
              syscall(SYS_ioprio_set, 0, 0, 3 << 13) == -1 && errno == EINVAL,
          "none that there is not");
    check(!syscall(SYS_ioprio_set, 1, 0, 0), "none at all");
}

/* Two names exchange what they stand for. */
static void exchange_names(void)
{
    const char *file = "/tmp/corners.x/file", *folder = "/tmp/corners.x/folder";
    struct stat s, t;

    mkdir("/tmp/corners.x", 0777);
    mkdir(folder, 0777);
    mkdir("/tmp/corners.x/folder/in", 0777);
    close(open(file, O_CREAT | O_RDWR, 0600));
    stat(file, &s);
    check(!renameat2(AT_FDCWD, file, AT_FDCWD, folder, RENAME_EXCHANGE), "a file and a folder");
    check(!stat(folder, &t) && t.st_ino == s.st_ino && !stat("/tmp/corners.x/file/in", &t),
          "each is where the other was");
    check(!stat("/tmp/corners.x", &t) && t.st_nlink == 3, "one folder is in theirs");
    check(renameat2(AT_FDCWD, "/tmp/corners.x/file/in", AT_FDCWD, folder, RENAME_EXCHANGE) == 0 &&
              !stat("/tmp/corners.x/file/in", &t) && t.st_ino == s.st_ino,
          "from folder to folder");
    check(renameat2(AT_FDCWD, "/tmp/corners.x/file", AT_FDCWD, "/tmp/corners.x/file/in",
                    RENAME_EXCHANGE) == -1 &&
              errno == EINVAL,
          "not with what is in it");
    check(renameat2(AT_FDCWD, file, AT_FDCWD, "/tmp/corners.x/none", RENAME_EXCHANGE) == -1 &&
              errno == ENOENT,
          "both must be there");
    check(renameat2(AT_FDCWD, file, AT_FDCWD, folder, RENAME_EXCHANGE | RENAME_NOREPLACE) == -1 &&
              errno == EINVAL,
          "not with NOREPLACE");
    unlink("/tmp/corners.x/file/in");
    check(!rmdir(file) && !rmdir(folder) && !rmdir("/tmp/corners.x"), "all is removed");
}

static unsigned long long status_mask(const char *name)
{
    unsigned long long mask = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, name, strlen(name)))
            mask = strtoull(line + strlen(name), NULL, 16);
    if (f)
        fclose(f);
    return mask;
}

static void handle_nothing(int number)
{
    (void)number;
}

static void look_at_masks(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGHUP, handle_nothing);
    check((status_mask("SigBlk:") & 1 << (SIGUSR1 - 1)) &&
              (status_mask("SigIgn:") & 1 << (SIGUSR2 - 1)) &&
              (status_mask("SigCgt:") & 1 << (SIGHUP - 1)) &&
              !(status_mask("SigIgn:") & 1 << (SIGHUP - 1)),
          "/proc/self/status has the masks of signals");
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    signal(SIGUSR2, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

int main(int argc, char **argv)
{
    struct statfs s;

    if (argc > 1 && !strcmp(argv[1], "started"))
        return STARTED;
    setvbuf(stdout, NULL, _IOLBF, 0);
    look_at_masks();
    lock_parts_of_pages();
    send();
    map_new_file();
    count_locked();
    limit_files();
    order_errors();
    start_open();
    hand_down_group();
    exchange_names();
    set_io_priority();
    check(!statfs("/", &s) && s.f_blocks && s.f_bfree <= s.f_blocks && s.f_bavail <= s.f_bfree,
          "/ has blocks");
    check(s.f_files && s.f_ffree <= s.f_files, "... and files");
    check(!statfs("/proc", &s) && !s.f_blocks && !s.f_files, "/proc has none");
    check(open("/proc/self/exe", O_WRONLY) == -1 && errno == ETXTBSY, "what runs is not written");
    be_root();
    give_files();
    open_few();
    printf("1..%u\n", count);
    return failed != 0;
}
