/*
 * Reads a file of numbered pages: each 32-bit word has its own number.
 *
 *   pages FILE PATTERN HOW [ROUNDS [MB]]
 *
 * PATTERN: loop, the file from its beginning to its end, ROUNDS times; random, as many pages,
 * drawn; points, a loop with as many reads of the file's first 16th in between; write: ends with 0
 * if it may not be written. HOW: read or map. MB: of the file, which may be longer. The last line
 * says how many pages had wrong words, how many pages the disks read meanwhile in how many
 * requests, by /proc/diskstats, how long it took, and how much of files is in memory then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / 4 };

static int file;
static uint64_t pages, wrong, drawn = 1;
static const volatile uint32_t *map;

static uint64_t below(uint64_t n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (drawn >> 33) % n;
}

/* What all disks have read so far. */
struct disk_reads {
    uint64_t requests, sectors;
};

static struct disk_reads disk_reads(void)
{
    FILE *f = fopen("/proc/diskstats", "r");
    char line[256];
    struct disk_reads sum = {0}, one;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%*u %*u %*s %lu %*u %lu", &one.requests, &one.sectors) == 2) {
            sum.requests += one.requests;
            sum.sectors += one.sectors;
        }
    if (f)
        fclose(f);
    return sum;
}

/* KB of the files' pages that can be evicted, or 0: not known. */
static uint64_t cached_kb(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    char line[256];
    uint64_t sum = 0, kb;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Active(file): %lu", &kb) == 1 ||
            sscanf(line, "Inactive(file): %lu", &kb) == 1)
            sum += kb;
    if (f)
        fclose(f);
    return sum;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void use(uint64_t page)
{
    static uint32_t words[WORDS];
    uint32_t first, last;

    if (map) {
        first = map[page * WORDS];
        last = map[page * WORDS + WORDS - 1];
    } else {
        if (pread(file, words, PAGE, (off_t)(page * PAGE)) != PAGE)
            perror("pages: pread"), exit(2);
        first = words[0];
        last = words[WORDS - 1];
    }
    wrong += first != (uint32_t)(page * WORDS) || last != (uint32_t)(page * WORDS + WORDS - 1);
}

int main(int argc, char **argv)
{
    if (argc < 4 || (file = open(argv[1], O_RDONLY)) < 0) {
        fprintf(stderr, "usage: pages FILE loop|random|points read|map [ROUNDS [MB]]\n");
        return 2;
    }
    unsigned rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 3;
    bool random = !strcmp(argv[2], "random"), points = !strcmp(argv[2], "points");
    uint64_t bytes = (uint64_t)lseek(file, 0, SEEK_END);
    if (argc > 5 && bytes > (uint64_t)atoi(argv[5]) << 20)
        bytes = (uint64_t)atoi(argv[5]) << 20;
    pages = bytes / PAGE;
    struct stat s;
    uint64_t told = 0;
    if (fstat(file, &s) ||
        (S_ISBLK(s.st_mode) && (ioctl(file, BLKGETSIZE64, &told) || told != bytes)))
        return fprintf(stderr, "pages: %s: a size of %lu, or %lu\n", argv[1], bytes, told), 2;
    if (!strcmp(argv[2], "write"))
        return open(argv[1], O_RDWR) < 0 && errno == EROFS ? 0 : 1;
    if (!strcmp(argv[3], "map")) {
        map = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, file, 0);
        if (map == MAP_FAILED)
            return perror("pages: mmap"), 2;
    }
    struct disk_reads before = disk_reads();
    uint64_t since = now_ns();
    for (uint64_t i = 0; i < rounds * pages; i++) {
        use(random ? below(pages) : i % pages);
        if (points)
            use(below(pages / 16));
    }
    uint64_t took = now_ns() - since;
    struct disk_reads after = disk_reads();
    printf("RESULT app=pages pattern=%s how=%s pages=%lu rounds=%u wrong=%lu read=%lu requests=%lu "
           "ns=%lu cached_kb=%lu\n",
           argv[2], argv[3], pages, rounds, wrong, (after.sectors - before.sectors) * 512 / PAGE,
           after.requests - before.requests, took, cached_kb());
    return wrong != 0;
}
