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
#include <sys/vfs.h>
#include <unistd.h>

enum { PAGE = 4096, FEW = 10, NO_PID = 0x3ffffff0 };

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

int main(void)
{
    struct statfs s;

    setvbuf(stdout, NULL, _IOLBF, 0);
    lock_parts_of_pages();
    send();
    map_new_file();
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
