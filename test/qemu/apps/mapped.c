/*
 * A disk's contents as memory: word i of the disk is i, as the test has made it.
 *   mapped [disk=NAME] [other=NAME]   other: the one that is swapped to
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/tap.h"

#define PAGE  4096u
#define WORDS (PAGE / sizeof(uint32_t))

static const char *disk = "vda", *other;

static size_t wrong_words(const uint32_t *at, size_t words, uint32_t first)
{
    size_t wrong = 0;

    for (size_t i = 0; i < words; i++)
        wrong += at[i] != first + i;
    return wrong;
}

static int64_t map(const char *name, uint64_t offset, uint64_t len, unsigned prot)
{
    return syscall5(SYS_MMAP_DISK, name, offset, len, prot, 0);
}

static void whole_disk(void)
{
    size_t bytes = 0;
    const uint32_t *at = memory_map_disk(disk, &bytes);

    if (!tap_check(at && bytes, "a disk is mapped"))
        return;
    printf("# %zu pages\n", bytes / PAGE);
    for (unsigned pass = 0; pass < 2; pass++)
        tap_check(!wrong_words(at, bytes / 4, 0), "every page holds what the disk has");
    memory_unmap((void *)at, bytes);
}

/* Pages of its own, and a hole among them. */
static void copies(void)
{
    const uint64_t pages = 600, first = 7;
    int64_t at = map(disk, first * PAGE, pages * PAGE, LINUX_PROT_READ | LINUX_PROT_WRITE);
    size_t wrong = 0, kept = 0;

    if (!tap_check(at > 0, "a part is mapped to be written"))
        return;
    uint32_t *words = (uint32_t *)at;
    for (uint64_t p = 0; p < pages; p += 3)
        words[p * WORDS] = 0xabcdef;
    syscall2(SYS_munmap, at + 100 * PAGE, PAGE);
    syscall3(SYS_mprotect, at + 200 * PAGE, 100 * PAGE, LINUX_PROT_READ);
    for (uint64_t p = 0; p < pages; p++) {
        if (p == 100)
            continue;
        wrong += wrong_words(words + p * WORDS + 1, WORDS - 1, (uint32_t)((first + p) * WORDS + 1));
        kept += words[p * WORDS] == (p % 3 ? (first + p) * WORDS : 0xabcdef);
    }
    tap_check(!wrong && kept == pages - 1, "what is written stays, and the rest is the disk's");
    const uint32_t *same = (const uint32_t *)map(disk, first * PAGE, pages * PAGE, LINUX_PROT_READ);
    tap_check(!wrong_words(same, pages * WORDS, (uint32_t)(first * WORDS)),
              "... and the disk has not changed");
}

static void refused(void)
{
    tap_check(map("vdz", 0, 0, LINUX_PROT_READ) == -ENOENT, "a disk that is not there");
    tap_check(map("", 0, 0, LINUX_PROT_READ) == -ENOENT, "... or has no name");
    tap_check(map(disk, 100, 0, LINUX_PROT_READ) == -EINVAL, "no whole page");
    tap_check(map(disk, 0, 100, LINUX_PROT_READ) == -EINVAL, "... to its end");
    tap_check(map(disk, (uint64_t)1 << 40, PAGE, LINUX_PROT_READ) == -EINVAL, "beyond the disk");
    tap_check(map(disk, 0, (uint64_t)1 << 40, LINUX_PROT_READ) == -EINVAL, "... and to beyond it");
    tap_check(map(disk, 0, PAGE, LINUX_PROT_WRITE | LINUX_PROT_EXEC) == -EACCES,
              "to be written and executed");
    tap_check(syscall5(SYS_MMAP_DISK, disk, 0, 0, LINUX_PROT_READ, 8) == -EFAULT,
              "a length to nowhere");
    if (other)
        tap_check(map(other, 0, 0, LINUX_PROT_READ) == -EBUSY, "the disk that is swapped to");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "disk=", 5))
            disk = argv[i] + 5;
        if (!strncmp(argv[i], "other=", 6))
            other = argv[i] + 6;
    }
    whole_disk();
    copies();
    refused();
    return tap_done();
}
