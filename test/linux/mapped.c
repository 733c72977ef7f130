/*
 * Files that are mapped: each line says what a process sees of a file in memory, by mappings,
 * read and write, in one process and in several.
 *
 *   mapped FOLDER
 *
 * The folder can be written to. The last line says how many of the checks hold.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16 };

static const char *folder;
static unsigned checks, held;
static sigjmp_buf faulted;
static volatile int fault_code;

static void check(bool holds, const char *what)
{
    checks++;
    held += holds;
    if (!holds)
        printf("mapped check=%u holds=0: %s (errno %d)\n", checks, what, errno);
    errno = 0;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    fault_code = signal == SIGBUS ? info->si_code : -signal;
    siglongjmp(faulted, 1);
}

/* Returns 0 if the byte can be read, BUS_ADRERR, or -SIGSEGV. */
static int code_of_read(const volatile char *at)
{
    fault_code = 0;
    if (!sigsetjmp(faulted, 1))
        (void)*at;
    return fault_code;
}

static int code_of_write(volatile char *at)
{
    fault_code = 0;
    if (!sigsetjmp(faulted, 1))
        *at = *at;
    return fault_code;
}

static const char *path_to(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int open_file(const char *name, int flags)
{
    return open(path_to(name), flags, 0600);
}

static void remove_file(const char *name)
{
    unlink(path_to(name));
}

static char *map(int f, int prot, int flags, unsigned pages, unsigned first)
{
    char *p = mmap(NULL, pages * PAGE, prot, flags, f, (off_t)first * PAGE);

    return p == MAP_FAILED ? NULL : p;
}

static int make(const char *name, unsigned pages)
{
    int f = open_file(name, O_RDWR | O_CREAT | O_TRUNC);

    for (unsigned i = 0; i < pages; i++) {
        char page[PAGE];
        memset(page, 'a' + (int)i % 26, sizeof(page));
        if (write(f, page, sizeof(page)) != sizeof(page))
            perror(name);
    }
    return f;
}

/* Returns whether /proc/self/maps says that at `at` that part of the file is mapped, with those
 * rights. */
static bool maps_say(const void *at, const char *rights, unsigned first, int f, const char *path)
{
    char line[512], is[8], name[256];
    unsigned long start, end, offset, inode;
    struct stat s;
    FILE *maps = fopen("/proc/self/maps", "r");
    bool right = false;

    while (maps && !right && fgets(line, sizeof line, maps))
        right = sscanf(line, "%lx-%lx %4s %lx %*x:%*x %lu %255[^\n]", &start, &end, is, &offset,
                       &inode, name) == 6 &&
                start == (unsigned long)at && !strcmp(is, rights) && offset == first * PAGE &&
                (f < 0 || (!fstat(f, &s) && inode == s.st_ino)) && !strcmp(name, path);
    if (maps)
        fclose(maps);
    return right;
}

static void contents_are_one(void)
{
    int f = make("one", PAGES);
    char *a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, PAGES, 0),
         *b = map(f, PROT_READ, MAP_SHARED, PAGES - 3, 3), back[8];

    check(a && b, "a file can be mapped shared, twice");
    check(maps_say(a, "rw-s", 0, f, path_to("one")) && maps_say(b, "r--s", 3, f, path_to("one")),
          "/proc/self/maps says so");
    check(a[0] == 'a' && a[5 * PAGE] == 'f' && b[0] == 'd', "mappings have what was written");
    a[4 * PAGE + 1] = 'X';
    check(b[PAGE + 1] == 'X', "one mapping has what is stored to another");
    check(pread(f, back, 1, 4 * PAGE + 1) == 1 && back[0] == 'X', "so has a read");
    check(pwrite(f, "hello", 5, 7 * PAGE - 2) == 5, "a write into a mapped file");
    check(!memcmp(a + 7 * PAGE - 2, "hello", 5), "... is seen in a mapping");
    check(!memcmp(b + 4 * PAGE - 2, "hello", 5), "... and in the other");
    check(!msync(a, PAGES * PAGE, MS_SYNC), "msync");
    char *c = map(f, PROT_READ | PROT_WRITE, MAP_PRIVATE, PAGES, 0);
    check(c && c[4 * PAGE + 1] == 'X', "a private mapping has the same");
    c[4 * PAGE + 1] = 'P';
    check(a[4 * PAGE + 1] == 'X' && c[4 * PAGE + 1] == 'P', "... until it is stored to");
    munmap(a + 4 * PAGE, PAGE);
    check(code_of_read(a + 4 * PAGE) == -SIGSEGV && a[5 * PAGE] == 'f' && b[PAGE + 1] == 'X',
          "a page of one mapping is unmapped");
    close(f);
    remove_file("one");
    check(b[PAGE + 1] == 'X' && a[6 * PAGE] == 'g', "mappings outlive the file's name");
    munmap(a, PAGES * PAGE);
    munmap(b, (PAGES - 3) * PAGE);
    munmap(c, PAGES * PAGE);
}

static void sizes_change(void)
{
    int f = make("size", 4);
    char *a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 8, 0), back[PAGE];

    check(a && a[3 * PAGE] == 'd', "a mapping longer than its file");
    check(code_of_read(a + 4 * PAGE) == BUS_ADRERR, "... is SIGBUS behind the end");
    check(code_of_write(a + 5 * PAGE) == BUS_ADRERR, "... also for stores");
    check(!ftruncate(f, 6 * PAGE) && a[5 * PAGE] == 0, "a file that grows brings zeros");
    a[5 * PAGE] = 'z';
    check(pread(f, back, 2, 5 * PAGE) == 2 && back[0] == 'z' && !back[1], "... that are its own");
    check(!ftruncate(f, PAGE + 100) && a[PAGE + 99] == 'b', "a file that shrinks keeps its rest");
    check(a[PAGE + 100] == 0 && a[2 * PAGE - 1] == 0, "... and zeros up to the page's end");
    check(code_of_read(a + 2 * PAGE) == BUS_ADRERR && code_of_write(a + 3 * PAGE) == BUS_ADRERR,
          "... and what was mapped behind it is gone");
    check(!ftruncate(f, 4 * PAGE) && a[2 * PAGE] == 0 && a[3 * PAGE] == 0 && a[PAGE + 99] == 'b',
          "what comes back is zeros");
    struct stat s;
    check(!fstat(f, &s) && s.st_size == 4 * PAGE, "its size is what was set");
    char *c = map(f, PROT_READ | PROT_WRITE, MAP_PRIVATE, 4, 0);
    c[3 * PAGE] = 'p';
    check(!ftruncate(f, PAGE) && code_of_read(c + 3 * PAGE) == BUS_ADRERR,
          "a private mapping loses its copies behind the end, too");
    munmap(c, 4 * PAGE);
    munmap(a, 8 * PAGE);
    close(f);
    f = open_file("size", O_RDWR | O_TRUNC);
    a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 1, 0);
    check(a && code_of_read(a) == BUS_ADRERR, "an empty file can be mapped, and not used");
    check(pwrite(f, "x", 1, 10) == 1 && a[10] == 'x' && !a[9], "until it is written to");
    munmap(a, PAGE);
    close(f);
    remove_file("size");
}

static void private_pages_follow_until_they_are_stored_to(void)
{
    int f = make("private", 8), status;
    char *a = map(f, PROT_READ, MAP_PRIVATE, 8, 0), *to;

    check(a && a[0] == 'a' && a[PAGE] == 'b' && a[2 * PAGE] == 'c' && a[7 * PAGE] == 'h',
          "a file is mapped privately");
    check(pwrite(f, "B", 1, PAGE) == 1 && a[PAGE] == 'B', "... and shows what is written later");
    check(!mprotect(a, 8 * PAGE, PROT_READ | PROT_WRITE) && !code_of_write(a + PAGE),
          "... is made writable when its pages are there");
    a[PAGE] = 'P';
    check(pwrite(f, "xB", 2, PAGE) == 2 && a[PAGE] == 'P' && a[PAGE + 1] == 'b',
          "a page that was stored to no longer shows it");
    check(pwrite(f, "C", 1, 2 * PAGE) == 1 && a[2 * PAGE] == 'C', "... the others do");
    pid_t child = fork();
    if (!child) {
        bool same = a[PAGE] == 'P' && a[2 * PAGE] == 'C' && a[3 * PAGE] == 'd';
        a[PAGE] = a[2 * PAGE] = a[4 * PAGE] = '1';
        _exit(!same || a[PAGE] != '1' || a[2 * PAGE] != '1' || a[4 * PAGE] != '1');
    }
    waitpid(child, &status, 0);
    check(!status && a[PAGE] == 'P' && a[2 * PAGE] == 'C' && a[4 * PAGE] == 'e',
          "a forked process has the same, and its own copies");
    to = map(-1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 8, 0);
    a = mremap(a, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    check(a == to && a[PAGE] == 'P' && a[2 * PAGE] == 'C' && a[7 * PAGE] == 'h',
          "both kinds of pages move");
    check(pwrite(f, "D", 1, 3 * PAGE) == 1 && a[3 * PAGE] == 'D', "... and are what they were");
    a[3 * PAGE] = 'Q';
    check(a[3 * PAGE] == 'Q' && pread(f, &status, 1, 3 * PAGE) == 1 && (char)status == 'D',
          "... also when they are stored to");
    check(!madvise(a, 8 * PAGE, MADV_DONTNEED) && a[PAGE] == 'x' && a[3 * PAGE] == 'D',
          "what is dropped comes back from the file");
    munmap(a, 8 * PAGE);
    close(f);
    remove_file("private");
}

enum { MAPPINGS = 66000 };

static void one_page_is_mapped_very_often(void)
{
    static char *at[MAPPINGS];
    int f = make("often", 1);
    unsigned n = 0, right = 0;

    while (n < MAPPINGS && (at[n] = map(f, PROT_READ | PROT_WRITE, MAP_PRIVATE, 1, 0)))
        n++;
    for (unsigned i = 0; i < n; i++)
        right += *(volatile char *)at[i] == 'a';
    check(n > 60000 && right == n, "one page is mapped 60,000 times");
    *at[0] = 'b';
    *at[n - 1] = 'c';
    check(*at[0] == 'b' && *at[1] == 'a' && *at[n - 1] == 'c', "... and stored to");
    for (unsigned i = 0; i < n; i++)
        munmap(at[i], PAGE);
    close(f);
    remove_file("often");
}

/* A function that depends on nothing, and its end. */
__attribute__((noinline, section(".text.a"))) static int answer(void)
{
    return 42;
}

static void a_file_is_executed(void)
{
    int f = open_file("code", O_RDWR | O_CREAT | O_TRUNC);

    check(write(f, (const void *)answer, 64) == 64, "code is written to a file");
    char *a = map(f, PROT_READ | PROT_EXEC, MAP_SHARED, 1, 0),
         *b = map(f, PROT_READ | PROT_EXEC, MAP_PRIVATE, 1, 0);
    __builtin___clear_cache(a, a + 64);
    check(a && ((int (*)(void))a)() == 42, "... which is executed where it is mapped shared");
    check(b && ((int (*)(void))b)() == 42, "... and privately");
    munmap(a, PAGE);
    munmap(b, PAGE);
    close(f);
    remove_file("code");
}

static void rights_are_checked(void)
{
    int f = make("rights", 2), reads = open_file("rights", O_RDONLY),
        writes = open_file("rights", O_WRONLY);

    check(!map(reads, PROT_READ | PROT_WRITE, MAP_SHARED, 1, 0) && errno == EACCES,
          "a file opened for reading is not mapped for writing");
    check(!map(writes, PROT_READ, MAP_SHARED, 1, 0) && errno == EACCES,
          "one opened for writing is not mapped at all");
    char *a = map(reads, PROT_READ, MAP_SHARED, 2, 0);
    check(a && a[PAGE] == 'b', "... for reading it is");
    check(mprotect(a, 2 * PAGE, PROT_READ | PROT_WRITE) && errno == EACCES,
          "... and does not become writable");
    check(code_of_write(a) == -SIGSEGV, "... nor is it");
    char *c = map(reads, PROT_READ | PROT_WRITE, MAP_PRIVATE, 2, 0);
    check(c && !code_of_write(c), "a private copy is");
    char *b = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 2, 0);
    b[0] = '1';
    check(a[0] == '1' && !mprotect(b, PAGE, PROT_READ) && code_of_write(b) == -SIGSEGV &&
              b[0] == '1',
          "a mapping that may not be written to any more");
    check(!mprotect(b, PAGE, PROT_READ | PROT_WRITE) && !code_of_write(b), "... and may again");
    check(!mprotect(b, PAGE, PROT_NONE) && code_of_read(b) == -SIGSEGV, "... and not be used");
    munmap(a, 2 * PAGE);
    munmap(b, 2 * PAGE);
    munmap(c, 2 * PAGE);
    close(f);
    close(reads);
    close(writes);
    remove_file("rights");
}

/* As glibc does for a library that asks for it: from the page given down to the stack's end. */
static void stacks_become_executable(void)
{
#ifdef __x86_64__
    static const uint8_t seven[] = {0xb8, 7, 0, 0, 0, 0xc3};
#else
    static const uint8_t seven[] = {0xe0, 0x00, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#endif
    char lower[16 * PAGE];
    char *page = (char *)((uintptr_t)(lower + sizeof lower) & -(uintptr_t)PAGE);
    const int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
    char *other = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(lower, seven, sizeof seven);
    __builtin___clear_cache(lower, lower + sizeof seven);
    check(mprotect(page, PAGE, PROT_READ | PROT_GROWSUP) && errno == EINVAL,
          "no stack grows upwards");
    check(mprotect(other, PAGE, PROT_READ | PROT_GROWSDOWN) && errno == EINVAL,
          "other memory than a stack does not grow");
    check(!mprotect(page, PAGE, rights | PROT_GROWSDOWN) &&
              ((int (*)(void))(uintptr_t)lower)() == 7,
          "a stack becomes executable below the page given, too");
    check(!mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_GROWSDOWN), "... and no longer");
    munmap(other, PAGE);
}

static void mappings_move(void)
{
    int f = make("move", 8);
    char *a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 2);

    a[PAGE] = 'M';
    a = mremap(a, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
    check(a != MAP_FAILED && a[0] == 'c' && a[PAGE] == 'M' && a[5 * PAGE] == 'h',
          "a mapping that grows shows more of the file");
    char *to = map(-1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 6, 0);
    a = mremap(a, 6 * PAGE, 6 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    check(a == to && a[PAGE] == 'M' && a[5 * PAGE] == 'h', "one that moves shows the same");
    a[2 * PAGE] = 'N';
    char back;
    check(pread(f, &back, 1, 4 * PAGE) == 1 && back == 'N', "... and is the file's");
    check(!madvise(a, 6 * PAGE, MADV_DONTNEED) && a[2 * PAGE] == 'N' && a[PAGE] == 'M',
          "what is dropped from a shared mapping comes back");
    munmap(a, 6 * PAGE);
    close(f);
    remove_file("move");
}

static void wait_word(uint32_t *word, uint32_t is)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == is)
        syscall(SYS_futex, word, FUTEX_WAIT, is, NULL, NULL, 0);
}

static void set_word(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static int in_child(const char *name)
{
    int f = open_file(name, O_RDWR);
    char *gap = map(-1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 3, 0),
         *b = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 1);

    (void)gap; /* so that the mapping is elsewhere than the parent's */
    uint32_t *word = (uint32_t *)(b + PAGE);
    wait_word(word, 0);
    int ok = b[0] == 'Q' && *word == 1;
    b[2 * PAGE] = 'R';
    set_word(word, 2);
    return ok ? 0 : 1;
}

static void processes_share(void)
{
    int f = make("share", 4), status;

    if (pwrite(f, "\0\0\0\0", 4, 2 * PAGE) != 4)
        perror("share");
    char *a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    pid_t child = fork();
    if (!child)
        _exit(in_child("share"));
    a[PAGE] = 'Q';
    set_word((uint32_t *)(a + 2 * PAGE), 1);
    wait_word((uint32_t *)(a + 2 * PAGE), 1);
    check(a[3 * PAGE] == 'R', "two processes map a file at two addresses, and one futex is both's");
    check(waitpid(child, &status, 0) == child && !status, "... and the other saw the same");
    a[0] = '0';
    child = fork();
    if (!child) {
        a[0]++;
        a[PAGE]++;
        _exit(0);
    }
    waitpid(child, &status, 0);
    check(a[0] == '1' && a[PAGE] == 'R', "a forked process stores to the file");
    munmap(a, 4 * PAGE);
    close(f);
    remove_file("share");
}

static void files_have_holes(void)
{
    int f = open_file("hole", O_RDWR | O_CREAT | O_TRUNC);
    off_t far = (off_t)3 << 30;
    char back[2] = {1, 1};

    check(pwrite(f, "x", 1, far) == 1, "a byte is written far behind the beginning");
    check(pread(f, back, 2, far - 1) == 2 && !back[0] && back[1] == 'x', "... behind zeros");
    char *a = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, far);
    check(a != MAP_FAILED && a[0] == 'x', "... and can be mapped");
    char *b = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, far / 2);
    check(b != MAP_FAILED && !b[5], "so can the hole");
    b[5] = 'h';
    check(pread(f, back, 1, far / 2 + 5) == 1 && back[0] == 'h', "... which is filled");
    munmap(a, PAGE);
    munmap(b, PAGE);
    close(f);
    remove_file("hole");
}

static void memory_has_names(void)
{
    int f = (int)syscall(SYS_memfd_create, "named", 1u /* MFD_CLOEXEC */), status;

    check(f >= 0 && !ftruncate(f, 3 * PAGE), "memfd_create");
    char *a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0), path[64], to[64] = "";
    check(a && !a[2 * PAGE], "... is memory that can be mapped");
    pid_t child = fork();
    if (!child) {
        a[2 * PAGE] = 'c';
        _exit(0);
    }
    waitpid(child, &status, 0);
    check(a && a[2 * PAGE] == 'c', "... and shared");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", f);
    check(readlink(path, to, sizeof(to) - 1) > 0 && !strncmp(to, "/memfd:named", 12),
          "... and has its name");
    munmap(a, 3 * PAGE);
    close(f);
    f = shm_open("/vigil-mapped", O_RDWR | O_CREAT | O_EXCL, 0600);
    check(f >= 0 && !ftruncate(f, PAGE), "shm_open");
    a = map(f, PROT_READ | PROT_WRITE, MAP_SHARED, 1, 0);
    check(a && !shm_unlink("/vigil-mapped"), "... is mapped and unlinked");
    a[0] = 's';
    check(a[0] == 's', "... and still there");
    munmap(a, PAGE);
    close(f);
}

int main(int argc, char **argv);

static unsigned long attached(int id)
{
    struct shmid_ds state;

    return shmctl(id, IPC_STAT, &state) ? 99 : state.shm_nattch;
}

static void segments_are_shared(void)
{
    int id = shmget(IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600), status;
    char *a = shmat(id, NULL, 0);

    check(id >= 0 && a != (void *)-1 && !a[2 * PAGE], "a segment of shared memory");
    check(attached(id) == 1, "... is attached once");
    pid_t child = fork();
    if (!child) {
        a[PAGE]++;
        shmdt(a);
        char *b = shmat(id, NULL, SHM_RDONLY);
        _exit(b[PAGE] == 1 && code_of_write(b) == -SIGSEGV ? 0 : 1);
    }
    waitpid(child, &status, 0);
    check(!status && a[PAGE] == 1, "... is shared with a child, which can attach it itself");
    check(!shmctl(id, IPC_RMID, NULL) && a[PAGE] == 1,
          "... is removed, and stays as long as it is used");
    char *c = shmat(id, NULL, 0);
    check(c != (void *)-1 && c != a && c[PAGE] == 1, "... and can be attached again until then");
    check(!shmdt(a) && !shmdt(c) && shmat(id, NULL, 0) == (void *)-1 && errno == EINVAL,
          "... and is gone when it is detached");
    const key_t key = 0x5649474c;
    id = shmget(key, PAGE, IPC_CREAT | IPC_EXCL | 0600);
    check(id >= 0 && shmget(key, 0, 0) == id, "a segment is found by its key");
    check(shmget(key, PAGE, IPC_CREAT | IPC_EXCL) == -1 && errno == EEXIST,
          "... is not made twice");
    check(shmget(key, 2 * PAGE, 0) == -1 && errno == EINVAL, "... and is not larger than it is");
    check(shmdt((void *)main) == -1 && errno == EINVAL, "nothing else is detached");
    check(!shmctl(id, IPC_RMID, NULL) && shmget(key, 0, 0) == -1 && errno == ENOENT,
          "a removed segment has no key");
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (argc != 2) {
        fprintf(stderr, "usage: mapped FOLDER\n");
        return 2;
    }
    folder = argv[1];
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    contents_are_one();
    sizes_change();
    private_pages_follow_until_they_are_stored_to();
    one_page_is_mapped_very_often();
    a_file_is_executed();
    rights_are_checked();
    stacks_become_executable();
    mappings_move();
    processes_share();
    files_have_holes();
    memory_has_names();
    segments_are_shared();
    printf("RESULT app=mapped checks=%u held=%u\n", checks, held);
    return held == checks ? 0 : 1;
}
