/*
 * Signals, as a program of Linux's has them: handlers, alternate stacks, faults, calls that are
 * made again. Prints TAP; the same under Linux. An argument makes it do one thing that ends it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static volatile sig_atomic_t taken[65], depth, deepest;
static siginfo_t last;
static bool on_stack;
static char stack[65536];

static void note(int n, siginfo_t *info, void *context)
{
    char here;

    (void)context;
    taken[n]++;
    last = *info;
    on_stack = &here >= stack && &here < stack + sizeof stack;
}

static void handle(int n, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};

    sigaction(n, &action, NULL);
}

static sigset_t set_of(int n)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, n);
    return set;
}

static void test_handlers(void)
{
    sigset_t set = set_of(SIGUSR1), pending;

    handle(SIGUSR1, note, 0);
    check(!raise(SIGUSR1) && taken[SIGUSR1] == 1, "a handler runs, and returns");
    check(last.si_signo == SIGUSR1 && last.si_code == SI_TKILL && last.si_pid == getpid(),
          "... and is told who has sent the signal");
    kill(getpid(), SIGUSR1);
    check(taken[SIGUSR1] == 2 && last.si_code == SI_USER, "kill to oneself");
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    raise(SIGUSR1);
    sigpending(&pending);
    check(taken[SIGUSR1] == 2 && sigismember(&pending, SIGUSR1), "a blocked signal waits");
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    check(taken[SIGUSR1] == 3, "... and comes once when it is unblocked");
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    check(taken[SIGUSR1] == 3, "an ignored signal does nothing");
    handle(SIGUSR1, note, SA_RESETHAND);
    raise(SIGUSR1);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    check(taken[SIGUSR1] == 4 && now.sa_handler == SIG_DFL, "SA_RESETHAND");
    check(!raise(SIGCHLD) && !raise(SIGWINCH), "signals that do nothing by default");
    check(kill(getpid(), 0) == 0 && kill(999999, 0) == -1 && errno == ESRCH, "signal 0 looks");
    check(kill(getpid(), 65) == -1 && errno == EINVAL, "there is no signal 65");
    struct sigaction kills = {.sa_handler = SIG_IGN};
    check(sigaction(SIGKILL, &kills, NULL) == -1 && errno == EINVAL, "SIGKILL is not ignored");
}

static void nest(int n, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    taken[n]++;
    if (++depth > deepest)
        deepest = depth;
    if (n == SIGUSR1)
        raise(SIGUSR2);
    depth--;
}

static void test_nesting(void)
{
    memset((void *)taken, 0, sizeof taken);
    handle(SIGUSR1, nest, 0);
    handle(SIGUSR2, nest, 0);
    raise(SIGUSR1);
    check(taken[SIGUSR1] == 1 && taken[SIGUSR2] == 1 && deepest == 2, "a handler within a handler");
    struct sigaction action = {.sa_sigaction = nest, .sa_flags = SA_SIGINFO};
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    deepest = 0;
    raise(SIGUSR1);
    check(taken[SIGUSR2] == 2 && deepest == 1, "sa_mask holds the other signal back");
}

static void queue_note(int n, siginfo_t *info, void *context)
{
    static int expected = 1;

    (void)n, (void)context;
    taken[SIGRTMIN] += info->si_value.sival_int == expected++;
}

static void test_queue(void)
{
    sigset_t set = set_of(SIGRTMIN);

    handle(SIGRTMIN, queue_note, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 1; i <= 5; i++)
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    check(taken[SIGRTMIN] == 5, "real-time signals come as often as sent, in order");
    siginfo_t info;
    struct timespec soon = {0, 1000000};
    set = set_of(SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    check(sigtimedwait(&set, &info, &soon) == -1 && errno == EAGAIN, "sigtimedwait ends in time");
    raise(SIGUSR1);
    check(sigtimedwait(&set, &info, &soon) == SIGUSR1 && info.si_signo == SIGUSR1,
          "... and takes a signal that waits");
    sigset_t none;
    sigemptyset(&none);
    handle(SIGUSR1, note, 0);
    memset((void *)taken, 0, sizeof taken);
    raise(SIGUSR1);
    check(sigsuspend(&none) == -1 && errno == EINTR && taken[SIGUSR1] == 1, "sigsuspend");
    sigprocmask(SIG_BLOCK, NULL, &none);
    check(sigismember(&none, SIGUSR1), "... gives the mask back");
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void test_stack(void)
{
    stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack}, old;

    check(!sigaltstack(&alt, NULL) && !sigaltstack(NULL, &old) && old.ss_sp == stack,
          "an alternate stack");
    handle(SIGUSR2, note, SA_ONSTACK);
    raise(SIGUSR2);
    check(on_stack, "... is used with SA_ONSTACK");
    handle(SIGUSR2, note, 0);
    raise(SIGUSR2);
    check(!on_stack, "... and not without");
    alt.ss_size = 100;
    check(sigaltstack(&alt, NULL) == -1 && errno == ENOMEM, "a stack that is too small");
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static sigjmp_buf back;

static void jump(int n, siginfo_t *info, void *context)
{
    (void)context;
    last = *info;
    siglongjmp(back, n);
}

static char *page;

static void mend(int n, siginfo_t *info, void *context)
{
    (void)context;
    last = *info;
    taken[n]++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void overflow(int n)
{
    volatile char space[4096];

    space[0] = (char)n;
    if (n)
        overflow(n + 1);
    space[1] = space[0];
}

static void test_faults(void)
{
    volatile int *nowhere = (int *)16;

    handle(SIGSEGV, jump, 0);
    if (!sigsetjmp(back, 1))
        *nowhere = 1;
    check(last.si_signo == SIGSEGV && last.si_code == SEGV_MAPERR && last.si_addr == (void *)16,
          "a wild store: SIGSEGV with its address");
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle(SIGSEGV, mend, 0);
    page[7] = 5;
    check(taken[SIGSEGV] == 1 && last.si_code == SEGV_ACCERR && last.si_addr == page + 7 &&
              page[7] == 5,
          "a handler mends what was wrong, and the store is done");
    handle(SIGSEGV, jump, SA_ONSTACK);
    if (!sigsetjmp(back, 1))
        overflow(1);
    check(last.si_signo == SIGSEGV, "an overflow of the stack is taken on the alternate one");
    handle(SIGILL, jump, 0);
    if (!sigsetjmp(back, 1)) {
#ifdef __x86_64__
        __asm__ volatile("ud2");
#else
        __asm__ volatile("udf #0");
#endif
    }
    check(last.si_signo == SIGILL && (last.si_code == ILL_ILLOPN || last.si_code == ILL_ILLOPC),
          "an illegal instruction");
    handle(SIGTRAP, jump, 0);
    if (!sigsetjmp(back, 1)) {
#ifdef __x86_64__
        __asm__ volatile("int3");
#else
        __asm__ volatile("brk #0");
#endif
    }
    check(last.si_signo == SIGTRAP, "a breakpoint");
#ifdef __x86_64__
    handle(SIGFPE, jump, 0);
    volatile int zero = 0, one = 1;
    if (!sigsetjmp(back, 1))
        one = one / zero;
    check(last.si_signo == SIGFPE && last.si_code == FPE_INTDIV, "a division by zero");
#endif
    signal(SIGSEGV, SIG_DFL); /* any more end the test */
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static pthread_t first;
static int pipe_ends[2];

static void *disturb(void *arg)
{
    struct timespec a_while = {0, 20000000};

    nanosleep(&a_while, NULL);
    pthread_kill(first, SIGUSR1);
    nanosleep(&a_while, NULL);
    if (arg)
        (void)!write(pipe_ends[1], "x", 1);
    return NULL;
}

static void disturbed(bool writes, int flags, pthread_t *thread)
{
    memset((void *)taken, 0, sizeof taken);
    first = pthread_self();
    handle(SIGUSR1, note, flags);
    pthread_create(thread, NULL, disturb, writes ? pipe_ends : NULL);
}

static void test_calls(void)
{
    struct timespec second = {1, 0}, rest = {0};
    pthread_t thread;
    char byte = 0;

    (void)!pipe(pipe_ends);
    disturbed(false, SA_RESTART, &thread);
    check(nanosleep(&second, &rest) == -1 && errno == EINTR && rest.tv_nsec > 500000000 &&
              taken[SIGUSR1] == 1,
          "nanosleep ends with EINTR, and says what was left");
    pthread_join(thread, NULL);
    disturbed(true, SA_RESTART, &thread);
    check(read(pipe_ends[0], &byte, 1) == 1 && byte == 'x' && taken[SIGUSR1] == 1,
          "read is made again with SA_RESTART");
    pthread_join(thread, NULL);
    disturbed(true, 0, &thread);
    check(read(pipe_ends[0], &byte, 1) == -1 && errno == EINTR && taken[SIGUSR1] == 1,
          "... and ends with EINTR without");
    pthread_join(thread, NULL);
    (void)!read(pipe_ends[0], &byte, 1);
    disturbed(false, SA_RESTART, &thread);
    check(pause() == -1 && errno == EINTR, "pause");
    pthread_join(thread, NULL);
    disturbed(false, SA_RESTART, &thread);
    struct pollfd fd = {.fd = pipe_ends[0], .events = POLLIN};
    check(poll(&fd, 1, 5000) == -1 && errno == EINTR && taken[SIGUSR1] == 1, "poll");
    pthread_join(thread, NULL);
}

/* ---- Registers ------------------------------------------------------------------------------- */

static void spoil(int n, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    taken[n]++;
#ifdef __x86_64__
    __asm__ volatile("pxor %%xmm7, %%xmm7\n\tfldz\n\tfstp %%st(0)" : : : "xmm7");
#else
    __asm__ volatile("movi v9.2d, #0" : : : "v9");
#endif
}

static void test_registers(void)
{
    uint64_t in[2] = {0x0123456789abcdef, 0xfedcba9876543210}, out[2] = {0}, kept = 0;

    handle(SIGUSR2, spoil, 0);
    memset((void *)taken, 0, sizeof taken);
    long pid = getpid(), tid = gettid();
#ifdef __x86_64__
    register long r10 __asm__("r10") = 0x77;
    long result;
    __asm__ volatile("movdqu %[in], %%xmm7\n\tmovq $0x1234567, %%rbx\n\tsyscall\n\t"
                     "movdqu %%xmm7, %[out]\n\tmovq %%rbx, %[kept]"
                     : "=a"(result), [out] "=m"(out), [kept] "=r"(kept), "+r"(r10)
                     : "a"(SYS_tgkill), "D"(pid), "S"(tid), "d"(SIGUSR2), [in] "m"(in)
                     : "rbx", "rcx", "r11", "xmm7", "memory");
    check(kept == 0x1234567 && !result && r10 == 0x77, "registers are kept over a handler");
#else
    register long x0 __asm__("x0") = pid;
    register long x1 __asm__("x1") = tid;
    register long x2 __asm__("x2") = SIGUSR2;
    register long x8 __asm__("x8") = SYS_tgkill;
    __asm__ volatile(
        "ldr q9, %[in]\n\tmov x20, #0x4567\n\tsvc #0\n\tstr q9, %[out]\n\tmov %[kept], x20"
        : "+r"(x0), [out] "=Q"(out), [kept] "=&r"(kept)
        : "r"(x1), "r"(x2), "r"(x8), [in] "Q"(in)
        : "x20", "v9", "memory");
    check(kept == 0x4567 && !x0, "registers are kept over a handler");
#endif
    check(taken[SIGUSR2] == 1 && !memcmp(in, out, sizeof in), "... and those of vectors");
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void bad_frame(int n, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    (void)n, (void)info;
#ifdef __x86_64__
    uc->uc_mcontext.gregs[REG_RIP] = (long long)0x8000000000000000;
#else
    uc->uc_mcontext.pc = 0xffff800000000000;
#endif
}

/* ---- Unwinding, all processes ---------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile int entered;

static void enter_and_sleep(void)
{
    entered = 1;
    sleep(10);
}

static void enter_again(void)
{
    entered = 2;
}

static void *be_cancelled(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_once(&once, enter_and_sleep);
    return unused;
}

/* A cancelled thread is unwound through the signal's frame, and pthread_once cleans up. */
static void test_unwinding(void)
{
    const struct timespec moment = {0, 20000000};
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, be_cancelled, NULL);
    while (!entered)
        nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check(result == PTHREAD_CANCELED, "a thread that sleeps is cancelled");
    pthread_once(&once, enter_again);
    check(entered == 2, "... and unwound through the frame of the signal");
}

static void test_all_processes(void)
{
    handle(SIGURG, note, SA_SIGINFO);
    kill(-1, SIGURG);
    if (getpgrp() == 1) /* for it -1 is that group */
        check(taken[SIGURG] == 1, "a signal to the group goes to its sender");
    else
        check(!taken[SIGURG], "a signal to all processes does not go to its sender");
}

static void bad_state(int n, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    (void)n, (void)info;
#ifdef __x86_64__
    uc->uc_mcontext.fpregs->mxcsr = 0xffffffff;
#else
    memset(uc->uc_mcontext.__reserved, 0xff, 16);
#endif
}

/* Flags and modes that a program must not get. */
static void rich_frame(int n, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    (void)n, (void)info;
#ifdef __x86_64__
    uc->uc_mcontext.gregs[REG_EFL] |= 0x3000; /* I/O */
    uc->uc_mcontext.gregs[REG_CSGSFS] = 0x10;
#else
    uc->uc_mcontext.pstate |= 5; /* EL1 */
#endif
}

static int end(const char *how)
{
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "segv"))
        *(volatile int *)8 = 1;
    else if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    else if (!strcmp(how, "frame"))
        handle(SIGUSR1, bad_frame, 0), raise(SIGUSR1);
    else if (!strcmp(how, "state"))
        handle(SIGUSR1, bad_state, 0), raise(SIGUSR1);
    else if (!strcmp(how, "rich"))
        handle(SIGUSR1, rich_frame, 0), raise(SIGUSR1);
    return 3;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1)
        return end(argv[1]);
    test_handlers();
    test_nesting();
    test_queue();
    test_stack();
    test_faults();
    test_calls();
    test_registers();
    test_unwinding();
    test_all_processes();
    printf("1..%u\n", count);
    return failed != 0;
}
