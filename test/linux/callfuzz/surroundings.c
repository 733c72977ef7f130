/* What calls find: memory, files, a handler of signals. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* A fault ends the process: the same instruction would only fault again. */
void handle_signal(int number, siginfo_t *info, void *context)
{
    bool faults = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;

    (void)context;
    if (faults && info->si_code > 0)
        RAW(SYS_exit_group, 9);
}

static void map_at(uint64_t at, uint64_t pages, uint64_t prot)
{
    RAW(SYS_mmap, at, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1, 0);
}

void map_arena(void)
{
    RAW(SYS_munmap, ARENA, (ARENA_PAGES + 64) * PAGE);
    map_at(ARENA, 16, PROT_READ | PROT_WRITE);
    map_at(ARENA + 16 * PAGE, 4, PROT_READ);
    map_at(ARENA + 20 * PAGE, 4, PROT_NONE);
    map_at(ARENA + 24 * PAGE, 4, PROT_READ | PROT_WRITE);
    for (unsigned i = 0; i < THREADS; i++)
        map_at(SAFE + 2 * i * SAFE_PAGES * PAGE, SAFE_PAGES, PROT_READ | PROT_WRITE);
}

static void open_at(uint64_t fd, const char *path, uint64_t open_flags)
{
    int64_t is = RAW(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)path,
                     open_flags | O_NONBLOCK, 0600);

    if (is >= 0 && (uint64_t)is != fd) {
        RAW(SYS_dup3, (uint64_t)is, fd, 0);
        RAW(SYS_close, (uint64_t)is);
    }
}

void open_files(const char *folder)
{
    int ends[2] = {-1, -1};

    RAW(SYS_close_range, FILES_FIRST, UINT32_MAX, 0);
    RAW(SYS_mkdirat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)folder, 0700);
    RAW(SYS_chdir, (uint64_t)(uintptr_t)folder);
    open_at(3, "a", O_RDWR | O_CREAT);
    open_at(4, "a", O_RDONLY);
    open_at(5, ".", O_RDONLY | O_DIRECTORY);
    RAW(SYS_pipe2, (uint64_t)(uintptr_t)ends, O_NONBLOCK);
    RAW(SYS_eventfd2, 3, O_NONBLOCK);
    open_at(9, "/dev/null", O_RDWR);
    open_at(10, "/dev/zero", O_RDWR);
    open_at(11, "a", O_PATH);
    open_at(12, "b", O_WRONLY | O_CREAT | O_APPEND);
    open_at(13, "/", O_RDONLY | O_DIRECTORY);
    RAW(SYS_mkdirat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t) "c", 0700);
    RAW(SYS_symlinkat, (uint64_t)(uintptr_t) "a", (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t) "link");
    RAW(SYS_symlinkat, (uint64_t)(uintptr_t) "loop", (uint64_t)AT_FDCWD,
        (uint64_t)(uintptr_t) "loop");
}
