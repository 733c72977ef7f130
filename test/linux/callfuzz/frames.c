/* A process that returns from signals to frames that it has broken. What lands where it should has
 * no more rights than a program has. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORGED_PAGES 8
#define TEMPLATE     8192

static struct random random_of;
static uint64_t left, done;
static int pid, tid;
static char counted[64];
static uint8_t template[TEMPLATE] __attribute__((aligned(64)));
static size_t template_bytes;
static uint8_t fault_stack[65536];
static uint8_t *forged; /* FORGED_PAGES, then a hole */

static void tell(void)
{
    int64_t fd =
        RAW(SYS_openat, (uint64_t)AT_FDCWD, (uint64_t)(uintptr_t)counted, O_WRONLY | O_CREAT, 0600);

    if (fd >= 0) {
        RAW(SYS_pwrite64, (uint64_t)fd, (uint64_t)(uintptr_t)&done, 8, 0);
        RAW(SYS_close, (uint64_t)fd);
    }
}

/* Breaks a frame: some bytes, a word, something half-right. Most frames still lead back. */
static void break_frame(void *context)
{
    struct random *r = &random_of;
    size_t n = frame_bytes(context);
    uint8_t *bytes = context;
    unsigned how = (unsigned)random_below(r, 8), times = 1 + (unsigned)random_below(r, 4);

    if (how == 0)
        for (unsigned i = 0; i < times; i++)
            bytes[random_below(r, n)] = (uint8_t)random_next(r);
    if (how == 1) {
        uint64_t word = random_next(r);
        memcpy(bytes + random_below(r, n / 8) * 8, &word, 8);
    }
    if (how != 1 && how != 0) {
        frame_mend(context);
        for (unsigned i = 0; i < times; i++)
            frame_half_right(context, r);
    } else if (!random_one_in(r, 4)) {
        frame_mend(context);
    }
    if (random_one_in(r, 400)) /* all of it */
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)random_next(r);
}

static void broken(int n, siginfo_t *info, void *context)
{
    (void)n, (void)info;
    break_frame(context);
}

/* What a broken frame led to has faulted: on to the next. */
static void faulted(int n, siginfo_t *info, void *context)
{
    (void)n, (void)info;
    frame_calm(context);
}

static void take_template(int n, siginfo_t *info, void *context)
{
    (void)n, (void)info;
    template_bytes = frame_bytes(context);
    if (template_bytes <= TEMPLATE)
        frame_copy(context, template);
}

/* Where a forged frame lies: well, at the end of what is mapped, at any alignment. */
static uint8_t *forged_place(void)
{
    struct random *r = &random_of;
    uint8_t *end = forged + FORGED_PAGES * PAGE;

    switch (random_below(r, 8)) {
    case 0:
        return end - template_bytes;
    case 1:
        return end - (random_below(r, template_bytes) & ~15ul);
    case 2:
        return forged + PAGE + random_below(r, 64);
    default:
        return forged + PAGE;
    }
}

static void return_to_forged(void)
{
    static uint8_t copy[TEMPLATE + 4096] __attribute__((aligned(64)));
    uint8_t *at = forged_place(), *end = forged + FORGED_PAGES * PAGE;
    uint64_t sp = frame_copy(template, copy);
    size_t fits = (size_t)(end - at) < template_bytes ? (size_t)(end - at) : template_bytes;

    frame_mend(copy);
    if (!random_one_in(&random_of, 4))
        break_frame(copy);
    memcpy(at, copy, fits);
    sp = sp - (uint64_t)(uintptr_t)copy + (uint64_t)(uintptr_t)at;
    if (random_one_in(&random_of, 64)) /* nowhere */
        sp = random_one_in(&random_of, 2) ? random_next(&random_of) : 0xffffffff80000000ull;
    frame_return(sp);
}

/* The loop: each frame leads back here. */
void frame_landed(void)
{
    static const uint64_t none;
    const char *wrong = privileges_wrong();

    if (wrong) {
        RAW(SYS_write, 1, (uint64_t)(uintptr_t) "not ok - frame: ", 16);
        RAW(SYS_write, 1, (uint64_t)(uintptr_t)wrong, strlen(wrong));
        RAW(SYS_write, 1, (uint64_t)(uintptr_t) "\n", 1);
        RAW(SYS_exit_group, 1);
    }
    RAW(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t)(uintptr_t)&none, 0, 8);
    const stack_t none_yet = {.ss_flags = SS_DISABLE};
    const stack_t stack = {.ss_sp = fault_stack, .ss_size = sizeof fault_stack};
    RAW(SYS_sigaltstack, (uint64_t)(uintptr_t)&none_yet, 0);
    RAW(SYS_sigaltstack, (uint64_t)(uintptr_t)&stack, 0);
    while (left) {
        left--;
        done++;
        if (done % 256 == 0)
            tell();
        if (random_one_in(&random_of, 2))
            return_to_forged();
        RAW(SYS_tgkill, (uint64_t)pid, (uint64_t)tid, SIGUSR1);
    }
    tell();
    RAW(SYS_exit_group, 0);
}

int frames_child(const struct options *o)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    struct sigaction action = {.sa_sigaction = take_template, .sa_flags = SA_SIGINFO};

    random_of.state = o->seed;
    left = o->frames;
    pid = getpid();
    tid = (int)syscall(SYS_gettid);
    snprintf(counted, sizeof counted, "/tmp/counts/%llu", (unsigned long long)o->seed);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    action.sa_sigaction = broken;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_sigaction = faulted;
    action.sa_flags |= SA_ONSTACK | SA_NODEFER;
    for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &action, NULL);
    forged = mmap(NULL, (FORGED_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (forged == MAP_FAILED || template_bytes > TEMPLATE)
        return 3;
    munmap(forged + FORGED_PAGES * PAGE, PAGE);
    tell();
    frame_landing();
    return 4;
}
