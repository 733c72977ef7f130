/*
 * What /proc counts of a program and of the machine: faults, switches, times. Prints TAP; the same
 * under Linux.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

/* Reads a file of /proc. */
static const char *text_of(const char *path)
{
    static char text[16384];
    int file = open(path, O_RDONLY);
    ssize_t n = file < 0 ? 0 : read(file, text, sizeof(text) - 1);

    close(file);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Returns the number behind a word at the beginning of a line; -1: there is none. */
static long long number_of(const char *path, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text_of(path); *at; at++) {
        if (!strncmp(at, word, n) && at[n] == ' ')
            return atoll(at + n);
        at = strchr(at, '\n');
        if (!at)
            break;
    }
    return -1;
}

/* Returns field n of /proc/self/stat, from the state on, which is 3. */
static long long field(unsigned n)
{
    const char *at = strrchr(text_of("/proc/self/stat"), ')') + 1;

    for (; n > 3; n--)
        at = strchr(at + 1, ' ');
    return atoll(at);
}

/* Returns whether /proc/self/mountinfo has a mount there, whose device is that of stat(). */
static bool is_mounted(const char *path)
{
    unsigned id, parent, major_number, minor_number;
    char root[256], at[256];
    struct stat is;

    for (const char *line = text_of("/proc/self/mountinfo"); line && *line;
         line = strchr(line, '\n'), line += line != NULL)
        if (sscanf(line, "%u %u %u:%u %255s %255s ", &id, &parent, &major_number, &minor_number,
                   root, at) == 6 &&
            !strcmp(at, path) && !stat(path, &is) && major(is.st_dev) == major_number &&
            minor(is.st_dev) == minor_number)
            return true;
    return false;
}

int main(void)
{
    enum { PAGES = 300, MINOR = 10, MAJOR = 12, USER = 14, SYSTEM };
    long long faults = number_of("/proc/vmstat", "pgfault"), own = field(MINOR) + field(MAJOR);
    long long switches = number_of("/proc/stat", "ctxt");
    char *memory =
        mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rusage r;
    struct sysinfo machine;
    float load[3];

    madvise(memory, PAGES * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++)
        memory[i * 4096] = 1;
    check(field(MINOR) + field(MAJOR) >= own + PAGES, "a program's faults are counted");
    check(number_of("/proc/vmstat", "pgfault") >= faults + PAGES, "... and the machine's");
    check(number_of("/proc/vmstat", "pgmajfault") >= 0, "... and those that wait");
    for (int i = 0; i < 50; i++)
        usleep(100);
    check(number_of("/proc/stat", "ctxt") >= switches + 50, "switches are counted");
    do
        getrusage(RUSAGE_SELF, &r);
    while (!r.ru_utime.tv_sec && r.ru_utime.tv_usec < 50000);
    check(field(USER) >= 4, "a program's time is told");
    long long system = field(SYSTEM);
    getrusage(RUSAGE_SELF, &r);
    check(system >= 0 && system <= r.ru_stime.tv_sec * 100 + r.ru_stime.tv_usec / 10000,
          "... and what of it is the kernel's");
    check(sscanf(text_of("/proc/loadavg"), "%f %f %f", &load[0], &load[1], &load[2]) == 3 &&
              !sysinfo(&machine),
          "there are averages of load");
    check(load[0] < 4096 && machine.loads[0] < 4096ul << SI_LOAD_SHIFT, "... of a sound size");
    check(is_mounted("/proc"), "/proc/self/mountinfo has what is mounted");
    printf("1..%u\n", count);
    return failed != 0;
}
