/* Files in memory: holes and fallocate(2), lseek(2) for data, seals of memfd_create(2), O_TMPFILE,
 * openat2(2). Prints TAP; the same under Linux, on a tmpfs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER "/dev/shm/holes"

enum { PAGES = 100 };

static unsigned count, failed;
static long page;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static bool fails(long result, int error)
{
    return result == -1 && errno == error;
}

/* Returns a memory file of PAGES pages of 'x'. */
static int make_full(unsigned flags)
{
    int fd = memfd_create("holes", flags);
    char *text = malloc((size_t)(PAGES * page));

    memset(text, 'x', (size_t)(PAGES * page));
    if (write(fd, text, (size_t)(PAGES * page)) != PAGES * page)
        exit(2);
    free(text);
    return fd;
}

static int byte_at(int fd, off_t at)
{
    unsigned char c;

    return pread(fd, &c, 1, at) == 1 ? c : -1;
}

/* ---- Holes ----------------------------------------------------------------------------------- */

static void test_find(void)
{
    int fd = memfd_create("sparse", 0);

    check(fails(lseek(fd, 0, SEEK_DATA), ENXIO), "an empty file has no data");
    ftruncate(fd, 50 * page);
    check(lseek(fd, 0, SEEK_HOLE) == 0, "a file that grew begins with a hole");
    check(fails(lseek(fd, 0, SEEK_DATA), ENXIO), "and has no data");
    pwrite(fd, "a", 1, 40 * page + 5);
    check(lseek(fd, 3, SEEK_DATA) == 40 * page, "data is found");
    check(lseek(fd, 40 * page + 9, SEEK_DATA) == 40 * page + 9, "also from its middle");
    check(lseek(fd, 40 * page, SEEK_HOLE) == 41 * page, "the hole behind it is found");
    check(lseek(fd, 0, SEEK_CUR) == 41 * page, "the position is there");
    check(fails(lseek(fd, 50 * page, SEEK_HOLE), ENXIO), "nothing is behind the end");
    check(fails(lseek(fd, -1, SEEK_DATA), ENXIO), "nor in front of the start");
    pwrite(fd, "b", 1, 49 * page);
    check(lseek(fd, 49 * page + 1, SEEK_HOLE) == 50 * page, "behind the end there is a hole");
    close(fd);
}

static void test_find_far(void)
{
    int fd = memfd_create("far", 0);
    off_t far = (off_t)1 << 33;

    ftruncate(fd, far + page);
    pwrite(fd, "a", 1, far);
    check(lseek(fd, 0, SEEK_DATA) == far, "data is found 8 GB behind");
    close(fd);
}

static void test_punch(void)
{
    const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    int fd = make_full(0);
    volatile char *mapped =
        mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    check(mapped[3 * page] == 'x' && mapped[5 * page] == 'x', "a mapping has the contents");
    check(fallocate(fd, mode, 2 * page + 7, 3 * page) == 0, "a hole is punched");
    check(byte_at(fd, 2 * page + 6) == 'x' && byte_at(fd, 2 * page + 7) == 0, "it begins there");
    check(byte_at(fd, 5 * page + 6) == 0 && byte_at(fd, 5 * page + 7) == 'x', "and ends there");
    check(mapped[3 * page] == 0 && mapped[4 * page + 1] == 0 && mapped[5 * page + 7] == 'x',
          "a mapping sees it");
    mapped[4 * page] = 'm';
    check(byte_at(fd, 4 * page) == 'm', "what is stored there is in the file");
    check(fallocate(fd, mode, 10 * page, 20 * page) == 0 &&
              lseek(fd, 6 * page, SEEK_HOLE) == 10 * page &&
              lseek(fd, 10 * page, SEEK_DATA) == 30 * page,
          "it is a hole");
    check(fallocate(fd, mode, 90 * page + 1, 1000 * page) == 0 && byte_at(fd, 91 * page) == 0 &&
              lseek(fd, 0, SEEK_END) == PAGES * page,
          "one over the end leaves the size");
    check(fallocate(fd, mode, 1000 * page, page) == 0, "one behind the end is none");
    check(fallocate(fd, mode, 50 * page + 1, 1) == 0 && byte_at(fd, 50 * page) == 'x' &&
              byte_at(fd, 50 * page + 1) == 0 && byte_at(fd, 50 * page + 2) == 'x',
          "one byte is punched");
    munmap((void *)mapped, (size_t)(PAGES * page));
    close(fd);
}

static void test_allocate(void)
{
    int fd = memfd_create("allocate", 0), ends[2];

    check(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 9 * page) == 0 && lseek(fd, 0, SEEK_END) == 0,
          "KEEP_SIZE leaves the size");
    check(fallocate(fd, 0, page, page) == 0 && lseek(fd, 0, SEEK_END) == 2 * page,
          "without it, the file grows");
    check(fails(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, page), EOPNOTSUPP),
          "a hole wants KEEP_SIZE");
    check(fails(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_KEEP_SIZE, 0, page), EINVAL),
          "flags that do not go together: EINVAL");
    check(fails(fallocate(fd, 0, 0, 0), EINVAL), "no bytes: EINVAL");
    check(fails(fallocate(fd, 0, -1, 1), EINVAL), "a negative offset: EINVAL");
    check(fails(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, page), EOPNOTSUPP), "no collapsing");
    pipe(ends);
    check(fails(fallocate(ends[1], 0, 0, 1), ESPIPE), "a pipe: ESPIPE");
    close(fd);
}

/* Another process changes pages of a mapping while holes are punched in it. */
static void test_punch_busy(void)
{
    int fd = make_full(0), status;
    volatile char *mapped =
        mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int pid = fork();

    for (int round = 0; !pid && round < 200; round++)
        for (int i = 0; i < PAGES; i++) {
            char c = mapped[i * page];
            if (c && c != 'x' && c != 'y')
                _exit(1);
            mapped[i * page] = 'y';
        }
    if (!pid)
        _exit(0);
    for (int round = 0; round < 100; round++)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, round % 50 * page, 50 * page);
    waitpid(pid, &status, 0);
    check(status == 0, "holes are punched while another process stores there");
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGES * page);
    check(fails(lseek(fd, 0, SEEK_DATA), ENXIO), "in the end nothing is left");
    munmap((void *)mapped, (size_t)(PAGES * page));
    close(fd);
}

/* ---- Seals ----------------------------------------------------------------------------------- */

static void test_seals(void)
{
    int fd = make_full(0);

    check(fcntl(fd, F_GET_SEALS) == F_SEAL_SEAL, "without MFD_ALLOW_SEALING it has SEAL");
    check(fails(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), EPERM), "and gets no other");
    close(fd);
    fd = make_full(MFD_ALLOW_SEALING);
    check(fcntl(fd, F_GET_SEALS) == 0, "with it, it has none");
    check(fails(fcntl(fd, F_ADD_SEALS, 0x1000), EINVAL), "an unknown seal: EINVAL");
    check(!fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) && fcntl(fd, F_GET_SEALS) == F_SEAL_GROW,
          "it gets GROW");
    check(fails(ftruncate(fd, (PAGES + 1) * page), EPERM), "so it does not grow");
    check(fails(pwrite(fd, "a", 1, PAGES * page), EPERM), "nor by a write");
    check(fails(fallocate(fd, 0, 0, (PAGES + 1) * page), EPERM), "nor by fallocate");
    check(pwrite(fd, "a", 1, 0) == 1 && !ftruncate(fd, page), "but it is written and shortened");
    check(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) && fails(ftruncate(fd, 0), EPERM),
          "with SHRINK it is not shortened");
    check(fcntl(fd, F_GET_SEALS) == (F_SEAL_GROW | F_SEAL_SHRINK), "it has both");
    check(!fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL) &&
              fails(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EPERM),
          "with SEAL it gets no more");
    close(fd);
}

static void test_seal_write(void)
{
    int fd = make_full(MFD_ALLOW_SEALING);
    char path[40];
    size_t n = (size_t)page;
    void *mapped = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    check(fails(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EBUSY), "a mapping that writes: EBUSY");
    check(fcntl(fd, F_GET_SEALS) == 0 && pwrite(fd, "a", 1, 0) == 1, "and it is not sealed");
    munmap(mapped, n);
    void *own = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    check(!fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), "a private one does not matter");
    munmap(own, n);
    check(fails(pwrite(fd, "b", 1, 0), EPERM) && byte_at(fd, 0) == 'a', "it is not written");
    check(fails(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, page), EPERM),
          "no hole is punched");
    check(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EPERM,
          "it is not mapped for writing");
    mapped = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    check(mapped != MAP_FAILED && *(char *)mapped == 'a', "but for reading");
    check(fails(mprotect(mapped, n, PROT_READ | PROT_WRITE), EACCES), "and stays so");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY);
    check(fails(fcntl(again, F_ADD_SEALS, F_SEAL_GROW), EPERM), "who only reads it adds no seal");
    close(again);
    close(fd);
}

static void test_seal_future(void)
{
    int fd = make_full(MFD_ALLOW_SEALING);
    size_t n = (size_t)page;
    volatile char *mapped = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    check(!fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), "FUTURE_WRITE with a mapping that writes");
    *mapped = 'q';
    check(byte_at(fd, 0) == 'q', "which still writes");
    check(fails(pwrite(fd, "b", 1, 0), EPERM), "but nothing else does");
    check(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EPERM,
          "nor a new mapping");
    munmap((void *)mapped, n);
    close(fd);
}

static void test_seal_others(void)
{
    int ends[2];

    pipe(ends);
    check(fails(fcntl(ends[0], F_GET_SEALS), EINVAL), "a pipe has no seals");
    int folder = open("/", O_RDONLY);
    check(fails(fcntl(folder, F_GET_SEALS), EINVAL), "nor has a folder");
    close(folder);
}
/* ---- Opening --------------------------------------------------------------------------------- */

static void test_nameless(void)
{
    char path[40];
    struct stat s;
    int fd = open(FOLDER, O_TMPFILE | O_RDWR, 0600);

    check(fd >= 0 && fstat(fd, &s) == 0 && s.st_nlink == 0 && s.st_mode == (S_IFREG | 0600),
          "O_TMPFILE makes a file without a name");
    check(write(fd, "text", 4) == 4 && byte_at(fd, 3) == 't', "which is written and read");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    check(!linkat(AT_FDCWD, path, AT_FDCWD, FOLDER "/named", AT_SYMLINK_FOLLOW), "it gets a name");
    check(!stat(FOLDER "/named", &s) && s.st_size == 4 && s.st_nlink == 1, "and is there");
    check(!unlink(FOLDER "/named") && !fstat(fd, &s) && s.st_nlink == 0, "and loses it");
    check(fails(linkat(AT_FDCWD, path, AT_FDCWD, FOLDER "/named", AT_SYMLINK_FOLLOW), ENOENT),
          "then it gets none");
    close(fd);
    fd = open(FOLDER, O_TMPFILE | O_RDWR | O_EXCL, 0600);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    check(fails(linkat(AT_FDCWD, path, AT_FDCWD, FOLDER "/named", AT_SYMLINK_FOLLOW), ENOENT),
          "nor does one that was made with O_EXCL");
    close(fd);
    check(fails(open(FOLDER, O_TMPFILE | O_RDONLY, 0600), EINVAL), "one to read only: EINVAL");
    check(fails(open(FOLDER "/none", O_TMPFILE | O_RDWR, 0600), ENOENT), "no folder: ENOENT");
}

/* Opens a path of FOLDER to read. */
static int open2(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags, .resolve = resolve};

    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

static bool opens(int folder, const char *path, uint64_t resolve)
{
    int fd = open2(folder, path, O_RDONLY, resolve);

    close(fd);
    return fd >= 0;
}

static void test_rules(int folder)
{
    check(opens(folder, "in/file", 0) && opens(folder, "to_file", 0), "a file, and by a link");
    check(opens(folder, "in/file", RESOLVE_NO_SYMLINKS), "NO_SYMLINKS: a file");
    check(fails(open2(folder, "to_file", 0, RESOLVE_NO_SYMLINKS), ELOOP), "but by no link");
    check(fails(open2(folder, "magic", 0, RESOLVE_NO_MAGICLINKS), ELOOP), "NO_MAGICLINKS");
    check(opens(folder, "to_file", RESOLVE_NO_MAGICLINKS), "lets other links be followed");
    check(fails(open2(folder, "/proc/self", 0, RESOLVE_NO_XDEV), EXDEV), "NO_XDEV: not into /proc");
    check(opens(folder, "in/../in/file", RESOLVE_NO_XDEV), "but in the file system");
    check(opens(folder, "in/../in/file", RESOLVE_BENEATH), "BENEATH: up and down");
    check(fails(open2(folder, "in/../..", 0, RESOLVE_BENEATH), EXDEV), "but not out");
    check(fails(open2(folder, FOLDER, 0, RESOLVE_BENEATH), EXDEV), "nor from the root");
    check(fails(open2(folder, "to_root", 0, RESOLVE_BENEATH), EXDEV), "nor by a link to it");
    check(opens(folder, "/in/file", RESOLVE_IN_ROOT), "IN_ROOT: from the folder as root");
    check(opens(folder, "/../../in/file", RESOLVE_IN_ROOT), "whose parent it is itself");
    check(opens(folder, "to_in", RESOLVE_IN_ROOT), "also for a link");
}

static void test_open_how(int folder)
{
    struct open_how how = {.flags = O_RDONLY};
    struct {
        struct open_how how;
        uint64_t more;
    } larger = {.how = {.flags = O_RDONLY}};

    check(fails(syscall(SYS_openat2, folder, "in", &how, sizeof(how) - 1), EINVAL), "a short size");
    int fd = (int)syscall(SYS_openat2, folder, "in", &larger, sizeof(larger));
    check(fd >= 0, "a longer structure with zeros");
    close(fd);
    larger.more = 1;
    check(fails(syscall(SYS_openat2, folder, "in", &larger, sizeof(larger)), E2BIG), "with more");
    check(fails(open2(folder, "in", 1ull << 40, 0), EINVAL), "an unknown flag: EINVAL");
    check(fails(open2(folder, "in", 0, 1 << 20), EINVAL), "an unknown rule: EINVAL");
    how.mode = 0600;
    check(fails(syscall(SYS_openat2, folder, "in", &how, sizeof(how)), EINVAL),
          "a mode for nothing");
    how.flags = O_CREAT | O_RDWR;
    fd = (int)syscall(SYS_openat2, folder, "in/made", &how, sizeof(how));
    check(fd >= 0, "a file is made");
    close(fd);
}

static void test_openat2(void)
{
    mkdir(FOLDER "/in", 0777);
    close(open(FOLDER "/in/file", O_CREAT | O_RDWR, 0600));
    symlink("in/file", FOLDER "/to_file");
    symlink("/", FOLDER "/to_root");
    symlink("/in/file", FOLDER "/to_in");
    symlink("/proc/self/fd/0", FOLDER "/magic");
    int folder = open(FOLDER, O_RDONLY | O_DIRECTORY);
    test_rules(folder);
    test_open_how(folder);
    close(folder);
    static const char *const made[] = {"in/file", "in/made", "to_file",
                                       "to_root", "to_in",   "magic"};
    for (unsigned i = 0; i < sizeof(made) / sizeof(*made); i++) {
        char path[64];
        snprintf(path, sizeof(path), FOLDER "/%s", made[i]);
        unlink(path);
    }
    check(!rmdir(FOLDER "/in") && !rmdir(FOLDER), "nothing else was made");
}

int main(void)
{
    page = sysconf(_SC_PAGESIZE);
    mkdir(FOLDER, 0777);
    test_find();
    test_find_far();
    test_punch();
    test_allocate();
    test_punch_busy();
    test_seals();
    test_seal_write();
    test_seal_future();
    test_seal_others();
    test_nameless();
    test_openat2();
    printf("1..%u\n", count);
    return failed != 0;
}
