/* See allocations.h. */
#include "apps/tools/measuring/allocations.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/allocation_log.h"

static struct allocations_record *records;
static uint64_t count, left_out;

bool allocations_begin(uint64_t capacity)
{
    uint64_t blocks = (capacity + ALLOCATIONS_BLOCK - 1) / ALLOCATIONS_BLOCK;
    const struct allocations_head head = {.magic = ALLOCATIONS_MAGIC,
                                          .capacity = blocks * ALLOCATIONS_BLOCK};
    const struct allocations_record last = {0};
    int file = open(ALLOCATIONS_PATH, O_RDWR | O_CREAT | O_TRUNC, 0600);

    if (file < 0)
        return false;
    bool made = write(file, &head, sizeof head) == (int)sizeof head &&
                lseek(file, (off_t)((head.capacity - 1) * sizeof last), SEEK_CUR) >= 0 &&
                write(file, &last, sizeof last) == (int)sizeof last;
    int why = errno;
    close(file);
    errno = why;
    return made;
}

/* Reads n bytes. Returns whether they are there. */
static bool read_all(int file, void *to, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t part = read(file, (char *)to + at, n - at);
        if (part <= 0)
            return false;
        at += (size_t)part;
    }
    return true;
}

static int by_time(const void *x, const void *y)
{
    const struct allocations_record *a = x, *b = y;

    return (a->time > b->time) - (a->time < b->time);
}

/* Leaves the records that are written, in the order of time. */
static void settle(void)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < count; i++)
        if (records[i].whole)
            records[kept++] = records[i];
    count = kept;
    qsort(records, count, sizeof *records, by_time);
}

bool allocations_read(void)
{
    struct allocations_head head;
    int file = open(ALLOCATIONS_PATH, O_RDONLY, 0);

    if (file < 0)
        return false;
    unlink(ALLOCATIONS_PATH);
    /* The program may have written what it liked. */
    bool is = read_all(file, &head, sizeof head) && head.magic == ALLOCATIONS_MAGIC &&
              head.capacity <= SIZE_MAX / sizeof *records;
    if (is) {
        for (unsigned i = 0; i < ALLOCATIONS_GROUPS; i++)
            left_out += head.left_out[i][0];
        count = head.given < head.capacity ? head.given : head.capacity;
        records = count ? malloc(count * sizeof *records) : NULL;
        is = !count || (records && read_all(file, records, count * sizeof *records));
        count = is ? count : 0;
        settle();
    }
    close(file);
    return is;
}

/* Takes out those of n that share memory with `with`. Returns how many are left. */
static size_t drop(struct allocation *list, size_t n, const struct allocation *with)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (list[i].start >= with->start + with->bytes ||
            with->start >= list[i].start + list[i].bytes)
            list[kept++] = list[i];
    return kept;
}

size_t allocations_in(uint32_t pid, uint64_t start, uint64_t end, struct allocation *out,
                      size_t room)
{
    size_t n = 0;

    for (uint64_t i = 0; i < count; i++) {
        const struct allocations_record *r = &records[i];
        struct allocation a = {r->start, r->bytes ? r->bytes : 1, r->site};
        if (r->pid != pid || a.start >= end || a.start + a.bytes <= start)
            continue;
        n = drop(out, n, &a);
        size_t at = n < room ? n : room;
        while (at && out[at - 1].start > a.start)
            at--;
        if (at == room)
            continue; /* behind all that there is room for */
        n += n < room;
        memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof *out);
        out[at] = a;
    }
    return n;
}

uint64_t allocations_count(void)
{
    return count + left_out;
}

uint64_t allocations_left_out(void)
{
    return left_out;
}

void allocations_end(void)
{
    free(records);
    records = NULL;
    count = left_out = 0;
}
