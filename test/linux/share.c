/*
 * A folder of the host at /share: what is there is found, and nothing of it can be changed if it is
 * read-only; else files are made, written, renamed and removed. Prints TAP; the same under Linux.
 *
 *   share ro | share rw | share waits | share much
 *
 * waits: until the host has changed /share/file. much: stores to a mapping of /share/much.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BIG = 300000, MANY = 300, LINES = 3000, LINE = 11, PAGE = 4096 };

static unsigned count, failed;
static char big[BIG], again[BIG];

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    if (!right)
        printf("# errno %d\n", errno);
    failed += !right;
}

static bool has(const char *path, const char *text)
{
    char is[100] = "";
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, is, sizeof is - 1);

    close(fd);
    return n == (ssize_t)strlen(text) && !strcmp(is, text);
}

static bool fails(int result, int with)
{
    return result == -1 && errno == with;
}

static unsigned entries(const char *path)
{
    unsigned n = 0;
    DIR *d = opendir(path);

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void look(void)
{
    struct statfs fs;
    struct stat s;
    char target[20] = "", path[100];

    check(has("/share/file", "hello\n"), "a file is read");
    check(has("/share/link", "hello\n"), "... and by a link");
    check(readlink("/share/link", target, sizeof target) == 4 && !strcmp(target, "file"),
          "a link has its target");
    check(!stat("/share/sub", &s) && S_ISDIR(s.st_mode), "a folder is one");
    check(!stat("/share/file", &s) && s.st_size == 6 && S_ISREG(s.st_mode) && s.st_nlink == 1 &&
              s.st_mtime == 1000000000,
          "a file has its size, links and time");
    check(fails(stat("/share/none", &s), ENOENT), "a name that there is not");
    check(fails(stat("/share/file/x", &s), ENOTDIR), "a path through a file");
    check(entries("/share/many") == MANY + 2, "a large folder is listed, each name once");
    check(!statfs("/share", &fs) && fs.f_type == 0x01021997 && fs.f_blocks && fs.f_bavail,
          "statfs tells its kind and size");
    check(!chdir("/share/sub/deep") && getcwd(path, sizeof path) &&
              !strcmp(path, "/share/sub/deep") && has("../../file", "hello\n"),
          "the working directory is there");
    check(!chdir("/") && has("/share/../share/./sub/deep/../../file", "hello\n"),
          "paths with dots");
    int fd = open("/share/big", O_RDONLY);
    check(read(fd, big, BIG) == BIG && !read(fd, again, 1), "a large file is read at once");
    check(pread(fd, again, 5000, 200001) == 5000 && !memcmp(again, big + 200001, 5000),
          "... and from amid it");
    check(lseek(fd, -7, SEEK_END) == BIG - 7 && read(fd, again, 100) == 7, "... and its end");
    char *mine = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0),
         *all = mmap(NULL, 5000, PROT_READ, MAP_SHARED, fd, 8192);
    check(mine != MAP_FAILED && !memcmp(mine, big, BIG), "it is mapped");
    check(all != MAP_FAILED && !memcmp(all, big + 8192, 5000), "... a part of it by all, to read");
    mine[0] ^= 1;
    check(pread(fd, again, 1, 0) == 1 && again[0] == big[0], "what is stored there stays there");
    close(fd);
    fd = open("/share/sub", O_RDONLY);
    check(fails((int)read(fd, again, 1), EISDIR), "a folder cannot be read");
    check(!fstatat(fd, "deep", &s, 0) && S_ISDIR(s.st_mode), "... but walked from");
    close(fd);
}

static void refuse(void)
{
    check(fails(open("/share/file", O_WRONLY), EROFS), "no file is opened for writing");
    check(fails(open("/share/new", O_CREAT | O_RDWR, 0600), EROFS), "none is made");
    check(fails(mkdir("/share/new", 0700), EROFS), "no folder is made");
    check(fails(unlink("/share/file"), EROFS), "nothing is removed");
    check(fails(rename("/share/file", "/share/new"), EROFS), "nothing is renamed");
    check(fails(chmod("/share/file", 0600), EROFS), "no rights are changed");
    check(fails(access("/share/file", W_OK), EROFS), "access tells it");
}

static void change(void)
{
    struct stat s;

    int fd = open("/share/new", O_CREAT | O_EXCL | O_RDWR, 0640);
    check(fd >= 0 && write(fd, "first", 5) == 5 && has("/share/new", "first"),
          "a file is made and written");
    check(fails(open("/share/new", O_CREAT | O_EXCL | O_RDWR, 0640), EEXIST), "... once");
    check(!fstat(fd, &s) && s.st_size == 5 && (s.st_mode & 07777) == 0640,
          "... with its rights and size");
    memset(again, 'x', BIG);
    check(pwrite(fd, again, BIG, 100) == BIG && !fstat(fd, &s) && s.st_size == BIG + 100,
          "a large part is written at once");
    check(!fsync(fd) && !fdatasync(fd), "it is brought to the disk");
    check(!ftruncate(fd, 3) && has("/share/new", "fir"), "it is cut");
    close(fd);
    fd = open("/share/new", O_WRONLY | O_APPEND);
    check(write(fd, "st", 2) == 2 && has("/share/new", "first"), "it is written at its end");
    close(fd);
    check(!chmod("/share/new", 0600) && !stat("/share/new", &s) && (s.st_mode & 07777) == 0600,
          "its rights are changed");
    fd = open("/share/new", O_WRONLY | O_TRUNC);
    check(!fstat(fd, &s) && !s.st_size, "it is emptied when it is opened");
    close(fd);
    check(!mkdir("/share/made", 0755) && fails(mkdir("/share/made", 0755), EEXIST),
          "a folder is made");
    check(!rename("/share/new", "/share/made/moved") && fails(stat("/share/new", &s), ENOENT) &&
              !stat("/share/made/moved", &s),
          "a file is renamed into it");
    check(fails(rmdir("/share/made"), ENOTEMPTY), "a folder with a file stays");
    check(!symlink("moved", "/share/made/to") && !lstat("/share/made/to", &s) && S_ISLNK(s.st_mode),
          "a link is made");
    check(fails(mknod("/share/made/pipe", S_IFIFO | 0600, 0), EPERM) || errno == ENOSYS ||
              !unlink("/share/made/pipe"),
          "a pipe is made or refused");
    check(!unlink("/share/made/to") && !unlink("/share/made/moved") && !rmdir("/share/made"),
          "all is removed");
    fd = open("/share/kept", O_CREAT | O_WRONLY, 0644);
    check(write(fd, "from the guest\n", 15) == 15 && !close(fd), "a file is left behind");
}

static void put_lines(char *at, unsigned from, unsigned to)
{
    char line[LINE + 1];

    for (unsigned i = from; i < to; i++) {
        snprintf(line, sizeof line, "line %05u\n", i);
        memcpy(at + i * LINE, line, LINE);
    }
}

/* Stores lines to a shared mapping, by two processes and by write(2), which the host finds. */
static void map_and_store(void)
{
    static char all[LINES * LINE], is[LINES * LINE];
    int status, fd = open("/share/mapped", O_CREAT | O_RDWR, 0644), other;

    put_lines(all, 0, LINES);
    check(!ftruncate(fd, sizeof all), "a file is made longer");
    char *m = mmap(NULL, sizeof all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(m != MAP_FAILED && !m[0] && !m[sizeof all - 1], "it is mapped, all zeros");
    put_lines(m, 0, 1000);
    pid_t child = fork();
    if (!child) {
        put_lines(m, 1000, 2000);
        _exit(memcmp(m, all, 1000 * LINE) != 0);
    }
    check(waitpid(child, &status, 0) == child && !status,
          "a child has what was stored, and stores");
    check(!memcmp(m, all, 2000 * LINE), "... which its parent has, too");
    other = open("/share/mapped", O_RDWR);
    check(pread(other, is, sizeof is, 0) == (ssize_t)sizeof is && !memcmp(is, all, 2000 * LINE),
          "... and who reads the file");
    ssize_t rest = (LINES - 2000) * LINE;
    check(pwrite(other, all + 2000 * LINE, rest, 2000 * LINE) == rest &&
              !memcmp(m, all, sizeof all),
          "what is written is in the mapping");
    check(!msync(m, sizeof all, MS_SYNC), "it is brought to the host");
    memset(m, '?', LINE);
    check(!fsync(fd), "... by fsync, too");
    put_lines(m, 0, 1);
    check(!close(fd) && !munmap(m, sizeof all), "what was stored last is not waited for");
    check(pread(other, is, sizeof is, 0) == (ssize_t)sizeof is && !memcmp(is, all, sizeof all),
          "... but read");
    close(other);
    other = open("/share/mapped", O_RDONLY);
    check(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED &&
              errno == EACCES,
          "who may only read it cannot store to it");
    close(other);
}

/* The host changes the file when it reads the line. */
static void wait_for_the_host(void)
{
    int fd = open("/share/file", O_RDONLY), log = open("/share/growing", O_RDONLY);
    char *m = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    bool is = false;

    check(m != MAP_FAILED && !memcmp(m, "hello\n", 7), "a file is mapped");
    check(read(log, again, 100) == 4 && !read(log, again, 100), "another one is read to its end");
    printf("# the host's turn\n");
    fflush(stdout);
    for (unsigned i = 0; i < 300 && !is; i++, usleep(100000))
        is = has("/share/file", "changed by the host\n");
    check(is, "what the host changes is seen by who opens the file");
    check(!strcmp(m, "changed by the host\n"), "... and by who has mapped it");
    check(read(log, again, 100) == 4 && !memcmp(again, "two\n", 4),
          "what a file grows by is read by who has it open");
    check(has("/share/growing", "one\ntwo\n"), "... and all of it");
}

/* The host compares the file when it reads the line, and answers. */
static void sync_all(void)
{
    int fd = open("/share/synced", O_CREAT | O_RDWR, 0644);
    bool is = false;

    check(!ftruncate(fd, LINES * LINE), "a file is made");
    char *m = mmap(NULL, LINES * LINE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(m != MAP_FAILED, "... and mapped");
    put_lines(m, 0, LINES);
    sync();
    printf("# the host's turn\n");
    fflush(stdout);
    for (unsigned i = 0; i < 300 && !is; i++, usleep(100000))
        is = has("/share/answer", "same\n");
    check(is, "after sync the host has what was stored to the mapping, which goes on");
    close(fd);
}

/* Adds 1 to the first byte of each page, and writes the second one of every third. */
static void store_much(void)
{
    struct stat s;
    int fd = open("/share/much", O_RDWR);
    bool right = true;
    char byte = 'w';

    check(!fstat(fd, &s) && s.st_size >= PAGE, "there is a large file");
    char *m = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (off_t at = 0; m != MAP_FAILED && at < s.st_size; at += PAGE) {
        m[at]++;
        right &= at / PAGE % 3 || pwrite(fd, &byte, 1, at + 1) == 1;
    }
    check(m != MAP_FAILED && right, "all pages are stored to, and some are written");
    for (off_t at = 0; right && at < s.st_size; at += PAGE)
        right =
            pread(fd, again, 2, at) == 2 && again[0] == m[at] && (at / PAGE % 3 || again[1] == 'w');
    check(right, "they are read as they were stored");
    close(fd);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "ro";

    if (!strcmp(what, "waits")) {
        wait_for_the_host();
    } else if (!strcmp(what, "sync")) {
        sync_all();
    } else if (!strcmp(what, "much")) {
        store_much();
    } else if (!strcmp(what, "rw")) {
        look();
        change();
        map_and_store();
    } else {
        look();
        refuse();
    }
    printf("1..%u\n", count);
    return failed != 0;
}
