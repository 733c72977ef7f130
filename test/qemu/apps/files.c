/* Linux's calls on files: what the tree has, descriptors, pipes, waiting for them, and what is
 * refused. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/syscall.h"
#include "test/qemu/apps/tap.h"

/* Linux's numbers and constants; the same on each instruction set but for two. */
enum {
#define CALL(number, name, handle) NR_##name = number,
#define REFUSED(number, name)
#include "linux_calls.h"
#undef CALL
#undef REFUSED
};
enum {
    AT_CWD = -100,
    WRITE_ONLY = 1,
    READ_WRITE = 2,
    CREATE = 0100,
    NONBLOCK = 04000,
    CLOSE_AT_EXEC = 02000000,
#ifdef __aarch64__
    FOLDER = 040000,
    NO_FOLLOW = 0100000,
#else
    FOLDER = 0200000,
    NO_FOLLOW = 0400000,
#endif
    POLL_IN = 1,
    POLL_OUT = 4,
    POLL_HUP = 16,
    POLL_INVALID = 32
};
enum {
    NOT_PERMITTED = 1,
    NO_ENTRY = 2,
    BAD_FD = 9,
    AGAIN = 11,
    NO_ACCESS = 13,
    FAULT = 14,
    EXISTS = 17,
    OTHER_DEVICE = 18,
    NOT_FOLDER = 20,
    IS_FOLDER = 21,
    INVALID = 22,
    TOO_MANY = 24,
    NOT_TTY = 25,
    NO_SPACE = 28,
    IS_STREAM = 29,
    READ_ONLY = 30,
    BROKEN_PIPE = 32,
    OUT_OF_RANGE = 34,
    TOO_LONG = 36,
    NOT_EMPTY = 39,
    LINKS = 40
};

static char buffer[8192];

#define call(name, ...) call_raw(NR_##name, (uint64_t[6]){__VA_ARGS__})
#define P(p)            ((uint64_t)(uintptr_t)(p))

static int64_t call_raw(uint64_t number, const uint64_t a[6])
{
    return syscall_raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int64_t open_at(const char *path, unsigned flags)
{
    return call(openat, (uint64_t)AT_CWD, P(path), flags, 0644);
}

static void gives(int64_t result, int64_t wanted, const char *what)
{
    tap_check(result == wanted, "%s: %lld", what, (long long)result);
}

/* ---- The tree -------------------------------------------------------------------------------- */

static void programs_are_files(void)
{
    int64_t fd = open_at("/bin/files", 0);
    uint8_t x[256];

    tap_check(fd >= 3, "a program of the bundle is opened");
    gives(call(read, fd, P(buffer), 4), 4, "... and read");
    tap_check(!memcmp(buffer, "\177ELF", 4), "... an ELF file");
    gives(call(pread64, fd, P(buffer), 3, 1), 3, "... at any place");
    tap_check(!memcmp(buffer, "ELF", 3), "... which that call names");
    gives(call(lseek, fd, 0, 1), 4, "the position is behind what was read");
    gives(call(statx, fd, P(""), 0x1000, 0x7ff, P(x)), 0, "its size is known");
    uint64_t size;
    memcpy(&size, x + 0x28, sizeof(size));
    gives(call(lseek, fd, 0, 2), (int64_t)size, "... which is where it ends");
    gives(call(read, fd, P(buffer), 100), 0, "... and nothing is read from there");
    gives(call(lseek, fd, -1ull, 0), -INVALID, "no position is negative");
    gives(call(write, fd, P(buffer), 1), -BAD_FD, "it is not open for writing");
    gives(call(close, fd), 0, "it is closed");
    gives(call(close, fd), -BAD_FD, "... once");
    gives(call(read, fd, P(buffer), 1), -BAD_FD, "... and cannot be read");
}

static void files_are_mapped(void)
{
    int64_t fd = open_at("/bin/files", 0), at = call(mmap, 0, 8192, 1, 2, fd, 0);

    gives(call(read, fd, P(buffer), 8192), 8192, "a file is read");
    tap_check(at > 0 && !memcmp((void *)at, buffer, 8192), "... and mapped, the same bytes");
    call(munmap, at, 8192);
    at = call(mmap, 0, 4096, 3, 2, fd, 4096);
    tap_check(at > 0 && !memcmp((void *)at, buffer + 4096, 4096), "... from a page on");
    *(char *)at = (char)~buffer[4096];
    gives(call(pread64, fd, P(buffer), 1, 4096), 1, "a store to a private mapping");
    tap_check(*(char *)at == (char)~buffer[0], "... does not change the file");
    call(munmap, at, 4096);
    gives(call(mmap, 0, 4096, 3, 1, fd, 0), -NO_ACCESS, "it is not shared for writing");
    gives(call(mmap, 0, 4096, 1, 2, 999, 0), -BAD_FD, "a closed descriptor cannot be mapped");
    call(close, fd);
}

/* Reads a whole file as text. */
static const char *text_of(const char *path)
{
    int64_t fd = open_at(path, 0), n = 0, got;

    while (fd >= 0 && (got = call(read, fd, P(buffer + n), sizeof(buffer) - 1 - n)) > 0)
        n += got;
    call(close, fd);
    buffer[n] = '\0';
    return buffer;
}

#define CACHE "/sys/devices/system/cpu/cpu0/cache/index"

static uint64_t number_of(const char *path)
{
    return strtoull(text_of(path), NULL, 10);
}

/* QEMU's processors have caches for data and for code. */
static void caches_are_described(void)
{
    uint64_t bytes = number_of(CACHE "0/size") << 10;

    tap_check(number_of(CACHE "0/level") == 1 && !strcmp(text_of(CACHE "0/type"), "Data\n"),
              "the first cache is for data");
    tap_check(bytes >= 4096 && bytes == number_of(CACHE "0/number_of_sets") *
                                            number_of(CACHE "0/ways_of_associativity") *
                                            number_of(CACHE "0/coherency_line_size"),
              "... of %llu bytes", (unsigned long long)bytes);
    tap_check(!strcmp(text_of(CACHE "0/shared_cpu_list"), "0\n") &&
                  number_of(CACHE "0/shared_cpu_map") == 1,
              "... and of CPU 0");
    tap_check(!strcmp(text_of(CACHE "1/type"), "Instruction\n"), "the second is for code");
    gives(open_at(CACHE "9/level", 0), -NO_ENTRY, "there are no ten");
}

static void the_machine_is_described(void)
{
    tap_check(strstr(text_of("/proc/cpuinfo"), "processor\t: 0\n") != NULL, "cpuinfo has a CPU");
    tap_check(strstr(buffer, "address sizes\t: ") || strstr(buffer, "CPU implementer\t: "),
              "... and says more of it");
    tap_check(strstr(text_of("/proc/meminfo"), "MemTotal:") != NULL, "meminfo has memory");
    tap_check(text_of("/sys/devices/system/cpu/online")[0] == '0', "CPU 0 is online");
    tap_check(!strcmp(text_of("/sys/devices/system/cpu/cpu0/topology/core_id"), "0\n"),
              "it is core 0");
    const char *total = strstr(text_of("/sys/devices/system/node/node0/meminfo"), "MemTotal:");
    tap_check(total && strtoull(total + 9, NULL, 10) > 16384, "its node has memory");
    gives(open_at("/sys/devices/system/cpu/cpu99", 0), -NO_ENTRY, "there is no CPU 99");
    gives(open_at("/sys/devices/system/cpu/cpu00", 0), -NO_ENTRY, "... and none of two zeros");
    caches_are_described();
    tap_check(strstr(text_of("/proc/mounts"), "proc /proc proc rw") != NULL, "/proc is mounted");
}

static void the_process_is_described(void)
{
    tap_check(!strcmp(text_of("/proc/self/comm"), "files\n"), "it has its name");
    tap_check(!memcmp(text_of("/proc/self/cmdline"), "files\0one", 10), "... and its arguments");
    tap_check(strstr(text_of("/proc/self/maps"), "[stack]") != NULL, "... and a stack");
    tap_check(strstr(text_of("/proc/self/status"), "Threads:\t1\n") != NULL, "... and a thread");
    gives(call(readlinkat, (uint64_t)AT_CWD, P("/proc/self/exe"), P(buffer), 100), 10,
          "... and a file");
    tap_check(!memcmp(buffer, "/bin/files", 10), "... that it is of");
    int64_t fd = open_at("/proc/self/exe", 0);
    gives(call(read, fd, P(buffer), 4), 4, "... which can be read by that link");
    tap_check(!memcmp(buffer, "\177ELF", 4), "... to the program");
    call(close, fd);
    gives(call(readlinkat, (uint64_t)AT_CWD, P("/dev/stdout"), P(buffer), 100), 15,
          "its output is a link");
    fd = open_at("/dev/stdout", WRITE_ONLY);
    gives(call(write, fd, P("by a link\n"), 10), 10, "... that can be written");
    call(close, fd);
    gives(open_at("/proc/99999", 0), -NO_ENTRY, "there is no process 99999");
}

static int64_t make_at(const char *path, const char *text)
{
    int64_t fd = open_at(path, READ_WRITE | CREATE);

    call(write, fd, P(text), strlen(text));
    return fd;
}

static void temporary_files_are_written(void)
{
    int64_t fd = make_at("/tmp/f", "hello");

    tap_check(fd > 2, "a file is made in /tmp");
    gives(call(pread64, fd, P(buffer), 100, 0), 5, "... and read");
    gives(call(pwrite64, fd, P("x"), 1, 10000), 1, "a byte is written far behind");
    gives(call(lseek, fd, 0, 2), 10001, "... which makes it long");
    gives(call(pread64, fd, P(buffer), 8000, 4000), 6001, "... with zeros in between");
    tap_check(!buffer[0] && buffer[6000] == 'x', "... up to the byte");
    gives(call(ftruncate, fd, 3), 0, "it is cut");
    gives(call(ftruncate, fd, 9), 0, "... and made longer");
    gives(call(pread64, fd, P(buffer), 100, 0), 9, "... to its length");
    tap_check(!memcmp(buffer, "hel\0\0\0\0\0\0", 9), "... with zeros behind the cut");
    gives(call(unlinkat, (uint64_t)AT_CWD, P("/tmp/f"), 0), 0, "its name is removed");
    gives(open_at("/tmp/f", 0), -NO_ENTRY, "... and is gone");
    gives(call(write, fd, P("y"), 1), 1, "... but the open file is there");
    call(close, fd);
}

static void what_came_along_is_written(void)
{
    int64_t old = open_at("/bin/clocks", 0), fd = open_at("/bin/clocks", READ_WRITE), again, made;
    char was, is = 0;

    tap_check(fd > old && old > 2, "a file that came along is opened for writing");
    gives(call(lseek, fd, 0, 2), call(lseek, old, 0, 2), "... with its contents");
    call(pread64, fd, P(&was), 1, 5000);
    was ^= 1;
    gives(call(pwrite64, fd, P(&was), 1, 5000), 1, "... and written");
    again = open_at("/bin/clocks", 0);
    call(pread64, again, P(&is), 1, 5000);
    tap_check(is == was, "... which others read");
    gives(call(truncate, P("/bin/asks"), 10), 0, "another is cut");
    call(close, again);
    call(close, old);
    old = open_at("/bin/asks", 0);
    gives(call(pread64, old, P(buffer), 100, 0), 10, "... to its length");
    gives(call(unlinkat, (uint64_t)AT_CWD, P("/bin/gone"), 0), -NO_ENTRY, "one that is not there");
    made = make_at("/new", "text");
    gives(call(pread64, made, P(buffer), 100, 0), 4, "a file is made in the root");
    gives(call(unlinkat, (uint64_t)AT_CWD, P("/new"), 0), 0, "... and removed");
    call(close, made);
    call(close, fd);
    call(close, old);
}

static void names_are_made_and_moved(void)
{
    uint64_t cwd = (uint64_t)AT_CWD;

    gives(call(mkdirat, cwd, P("/tmp/d"), 0755), 0, "a folder is made");
    gives(call(mkdirat, cwd, P("/tmp/d"), 0755), -EXISTS, "... once");
    call(close, make_at("/tmp/d/f", "one"));
    gives(call(unlinkat, cwd, P("/tmp/d"), 0x200), -NOT_EMPTY, "... not removed with a file in it");
    gives(call(symlinkat, P("d/f"), cwd, P("/tmp/l")), 0, "a link is made");
    tap_check(!strcmp(text_of("/tmp/l"), "one"), "... and followed");
    call(close, make_at("/tmp/g", "two"));
    gives(call(renameat2, cwd, P("/tmp/g"), cwd, P("/tmp/d/f"), 0), 0, "a file replaces another");
    tap_check(!strcmp(text_of("/tmp/l"), "two"), "... by its name");
    gives(call(renameat2, cwd, P("/tmp/d"), cwd, P("/tmp/d/e"), 0), -INVALID,
          "no folder moves into itself");
    gives(call(renameat2, cwd, P("/tmp/l"), cwd, P("/dev/shm/l"), 0), -OTHER_DEVICE,
          "... nor a file elsewhere");
    gives(call(mkdirat, cwd, P("/dev/new"), 0755), -READ_ONLY, "no folder is made in /dev");
    gives(call(mkdirat, cwd, P("/dev/shm"), 0755), -EXISTS,
          "... but that there is one comes first");
    gives(call(unlinkat, cwd, P("/dev/null"), 0), -READ_ONLY, "nor is a device removed");
    call(unlinkat, cwd, P("/tmp/d/f"), 0);
    call(unlinkat, cwd, P("/tmp/l"), 0);
    gives(call(unlinkat, cwd, P("/tmp/d"), 0x200), 0, "the folder is removed");
}

static void what_cannot_be_opened(void)
{
    static char deep[5000];

    memset(deep, 'a', sizeof(deep) - 1);
    gives(open_at("/proc/version", WRITE_ONLY), -NO_ACCESS, "what describes cannot be written");
    gives(open_at("/dev/new", WRITE_ONLY | CREATE), -READ_ONLY, "... nor is a file made there");
    gives(open_at("/none", 0), -NO_ENTRY, "a name that is not there");
    gives(open_at("", 0), -NO_ENTRY, "an empty path");
    gives(open_at("/bin/files/x", 0), -NOT_FOLDER, "a path through a file");
    gives(open_at("/bin/files/", 0), -NOT_FOLDER, "a file as a folder");
    gives(open_at("/bin/files", FOLDER), -NOT_FOLDER, "... and so by a flag");
    gives(open_at("/bin", WRITE_ONLY), -IS_FOLDER, "a folder for writing");
    gives(open_at("/dev/fd", NO_FOLLOW), -LINKS, "a link that is not to be followed");
    gives(open_at(deep, 0), -TOO_LONG, "a path of 4,999 bytes");
    deep[300] = '\0';
    gives(open_at(deep, 0), -TOO_LONG, "a name of 300 bytes");
    gives(open_at((const char *)8, 0), -FAULT, "a wild pointer");
}

static void folders_are_listed(void)
{
    int64_t fd = open_at("/dev", FOLDER), n;
    unsigned found = 0;

    tap_check(fd >= 0, "/dev is opened");
    gives(call(read, fd, P(buffer), 10), -IS_FOLDER, "a folder is not read");
    while ((n = call(getdents64, fd, P(buffer), 64)) > 0)
        for (int64_t at = 0; at < n; at += *(uint16_t *)(buffer + at + 16)) {
            const char *name = buffer + at + 19;
            found += !strcmp(name, ".") + !strcmp(name, "..") + !strcmp(name, "null") +
                     !strcmp(name, "console");
        }
    gives(n, 0, "... and listed to its end, in pieces");
    gives(found, 4, "... with what is in it");
    gives(call(getdents64, fd, P(buffer), 10), 0, "... and no more");
    call(lseek, fd, 0, 0);
    gives(call(getdents64, fd, P(buffer), 10), -INVALID, "ten bytes are no room for an entry");
    call(close, fd);
}

static void the_working_directory_moves(void)
{
    gives(call(getcwd, P(buffer), sizeof(buffer)), 2, "a program begins in the root");
    gives(call(chdir, P("/bin/../dev/shm")), 0, "it goes elsewhere");
    gives(call(getcwd, P(buffer), sizeof(buffer)), 9, "... which has a path");
    tap_check(!strcmp(buffer, "/dev/shm"), "... without what was taken back");
    gives(call(getcwd, P(buffer), 8), -OUT_OF_RANGE, "... that needs its room");
    int64_t fd = open_at("../null", 0);
    tap_check(fd >= 0, "paths begin there");
    gives(call(fchdir, fd), -NOT_FOLDER, "a device is no working directory");
    call(close, fd);
    gives(call(chdir, P("/")), 0, "it goes back");
}

static void devices_do_what_they_should(void)
{
    int64_t null = open_at("/dev/null", READ_WRITE), zero = open_at("/dev/zero", 0),
            full = open_at("/dev/full", READ_WRITE), random = open_at("/dev/urandom", 0);
    static char other[5000];

    gives(call(write, null, P(buffer), 5000), 5000, "null takes everything");
    gives(call(read, null, P(buffer), 10), 0, "... and has nothing");
    memset(buffer, 1, 6000);
    gives(call(read, zero, P(buffer), 6000), 6000, "zero has zeros");
    tap_check(!buffer[0] && !buffer[5999], "... only");
    gives(call(write, full, P(buffer), 1), -NO_SPACE, "full has no room");
    gives(call(read, random, P(buffer), 5000), 5000, "urandom has bytes");
    gives(call(read, random, P(other), 5000), 5000, "... without an end");
    tap_check(memcmp(buffer, other, 5000) != 0, "... and not the same ones");
    for (int64_t fd = null; fd <= random; fd++)
        call(close, fd);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void descriptors_are_the_lowest(void)
{
    int64_t first = open_at("/dev/zero", CLOSE_AT_EXEC), second = call(dup, first);

    tap_check(second == first + 1, "a copy has the next number");
    gives(call(fcntl, first, 1), 1, "exec would close the first");
    gives(call(fcntl, second, 1), 0, "... but not the copy");
    gives(call(dup3, first, 500, CLOSE_AT_EXEC), 500, "a number is chosen");
    gives(call(fcntl, 500, 1), 1, "... with its mark");
    gives(call(dup3, first, 1024, 0), -BAD_FD, "... but none beyond the limit");
    gives(call(dup3, first, first, 0), -INVALID, "... nor its own");
    gives(call(fcntl, first, 0, 100), 100, "... or the lowest from one on");
    gives(call(close_range, second, -1ull, 0), 0, "several are closed");
    gives(call(close, 500), -BAD_FD, "... to the last");
    gives(call(fcntl, first, 3) & 3, 0, "the first remains");
    int64_t fd, last = 0;
    while ((fd = call(dup, first)) >= 0)
        last = fd;
    gives(fd, -TOO_MANY, "there is a limit");
    gives(last, 1023, "... of 1,024");
    call(close_range, first, -1ull, 0);
}

static void the_console_is_a_terminal(void)
{
    uint32_t settings[16];

    gives(call(ioctl, 1, 0x5401, P(settings)), 0, "the console has a terminal's settings");
    gives(call(lseek, 1, 0, 1), -IS_STREAM, "... and no position");
    int64_t fd = open_at("/bin/files", 0);
    gives(call(ioctl, fd, 0x5401, P(settings)), -NOT_TTY, "a file has none");
    call(close, fd);
    struct {
        const void *base;
        uint64_t bytes;
    } parts[3] = {{"one ", 4}, {"", 0}, {"line\n", 5}};
    gives(call(writev, 1, P(parts), 3), 9, "parts are written together");
    gives(call(writev, 1, P(parts), 1025), -INVALID, "... but not too many");
    gives(call(write, 1, 8, 1), -FAULT, "... nor from nowhere");
}

/* ---- Pipes and waiting ----------------------------------------------------------------------- */

static void pipes_carry_bytes(void)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    gives(call(pipe2, P(ends), NONBLOCK), 0, "a pipe is made");
    gives(call(read, ends[0], P(buffer), 10), -AGAIN, "... empty");
    gives(call(write, ends[1], P("hello"), 5), 5, "it is written");
    struct {
        int fd;
        int16_t events, found;
    } fds[3] = {{ends[0], POLL_IN, 0}, {ends[1], POLL_OUT, 0}, {999, POLL_IN, 0}};
    gives(call(ppoll, P(fds), 3, 0, 0), 3, "both ends are ready, and a third is none");
    tap_check(fds[0].found == POLL_IN && fds[1].found == POLL_OUT && fds[2].found == POLL_INVALID,
              "... which is told apart");
    gives(call(read, ends[0], P(buffer), 10), 5, "it is read");
    int64_t sum = 0, n;
    while ((n = call(write, ends[1], P(buffer), 4096)) > 0)
        sum += n;
    gives(n, -AGAIN, "it fills up");
    gives(sum, 65536, "... with 64 KB");
    int64_t short_time[2] = {0, 2000000};
    gives(call(ppoll, P(&fds[1]), 1, P(short_time), 0), 0, "a wait for room ends by time");
    call(close, ends[1]);
    sum = 0;
    while ((n = call(read, ends[0], P(buffer), sizeof(buffer))) > 0)
        sum += n;
    gives(sum, 65536, "what is in it is read to the end");
    gives(n, 0, "... which the other end has made");
    call(ppoll, P(fds), 1, P(short_time), 0);
    tap_check(fds[0].found & POLL_HUP, "... and poll says so");
    call(close, ends[0]);
    call(pipe2, P(ends), 0);
    call(close, ends[0]);
    gives(call(write, ends[1], P("x"), 1), -BROKEN_PIPE, "without a reader nothing is written");
    call(close, ends[1]);
}

static void counters_count(void)
{
    uint64_t value = 5, bits = 0;
    int64_t fd = call(eventfd2, 3, NONBLOCK), short_time[2] = {0, 0};

    gives(call(write, fd, P(&value), 8), 8, "a counter is added to");
    gives(call(read, fd, P(&value), 8), 8, "... and read");
    gives((int64_t)value, 8, "... as a sum");
    gives(call(read, fd, P(&value), 8), -AGAIN, "... once");
    bits = 1ull << fd;
    gives(call(pselect6, fd + 1, 0, P(&bits), 0, P(short_time), 0), 1, "select finds room in it");
    gives(call(pselect6, fd + 1, P(&bits), 0, 0, P(short_time), 0), 0, "... and no sum");
    gives((int64_t)bits, 0, "... so clears its bit");
    call(close, fd);
}

int main(void)
{
    programs_are_files();
    files_are_mapped();
    temporary_files_are_written();
    what_came_along_is_written();
    names_are_made_and_moved();
    the_machine_is_described();
    the_process_is_described();
    what_cannot_be_opened();
    folders_are_listed();
    the_working_directory_moves();
    devices_do_what_they_should();
    descriptors_are_the_lowest();
    the_console_is_a_terminal();
    pipes_carry_bytes();
    counters_count();
    return tap_done();
}
