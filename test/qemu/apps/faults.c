/*
 * One thing a program must not do, chosen by the argument. The kernel has to end it by a signal and
 * with one line that says what happened; a program that comes back from its misdeed ends with
 * status 1.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"
#include "test/qemu/apps/misdeeds.h"

static volatile uint64_t sink;
static volatile uintptr_t near_null = 8;           /* unknown to the compiler, as is ... */
static volatile unsigned depth_max = (unsigned)-1; /* ... that this is never reached */
static uint32_t data_code[4];

static void call(uint64_t address)
{
    ((void (*)(void))address)();
}

static void null_jump(void)
{
    call(0);
}

static void null_read(void)
{
    sink = *(volatile uint64_t *)near_null;
}

static void wild_write(void)
{
    *(volatile uint64_t *)0x700000000000 = 1;
}

static void no_address(void)
{
    sink = *(volatile uint64_t *)0x8000deadbeef0000;
}

static void kernel_read(void)
{
    sink = *(volatile uint64_t *)0xffff800000100000;
}

static void kernel_write(void)
{
    *(volatile uint64_t *)0xffffffff80200000 = 1;
}

static void kernel_jump(void)
{
    call(0xffffffff80200000);
}

static void code_write(void)
{
    *(volatile uint8_t *)(uintptr_t)&null_jump = 0;
}

static void constant_write(void)
{
    *(volatile char *)(uintptr_t) "constant" = 0;
}

static void data_exec(void)
{
    data_code[0] = isa_return;
    call((uint64_t)(uintptr_t)data_code);
}

static void stack_exec(void)
{
    volatile uint32_t code[4] = {isa_return};
    call((uint64_t)(uintptr_t)code);
}

static int __attribute__((noinline)) recurse(unsigned depth)
{
    volatile char frame[512];

    if (depth == depth_max)
        return 0;
    memset((char *)frame, (int)depth, sizeof frame);
    return recurse(depth + 1) + frame[depth % sizeof frame];
}

static void stack_overflow(void)
{
    sink = (uint64_t)recurse(0);
}

static void *overflow_thread(void *arg)
{
    (void)arg;
    stack_overflow();
    return NULL;
}

static void thread_overflow(void)
{
    pthread_t t;

    if (!pthread_create(&t, NULL, overflow_thread, NULL))
        pthread_join(t, NULL);
}

static void wild_thread(void)
{
    static uint32_t tid;

    if (clone_thread(LINUX_CLONE_VM | LINUX_CLONE_FS | LINUX_CLONE_FILES | LINUX_CLONE_SIGHAND |
                         LINUX_CLONE_THREAD | LINUX_CLONE_SETTLS,
                     (void *)0x700000010000, &tid, 0x700000020000, SYS_clone) > 0)
        sleep_ns((uint64_t)10 * 1000000000);
}

static void unmapped_use(void)
{
    int64_t at = (int64_t)memory_map("gone", 4096);

    *(volatile char *)at = 1;
    syscall2(SYS_munmap, at, 4096);
    *(volatile char *)at = 2;
}

static void no_access(void)
{
    int64_t at = (int64_t)memory_map("closed", 4096);

    *(volatile char *)at = 1;
    syscall3(SYS_mprotect, at, 4096, 0);
    sink = *(volatile uint64_t *)at;
}

static const struct misdeed misdeeds[] = {
    {"null-jump", null_jump},
    {"null-read", null_read},
    {"wild-write", wild_write},
    {"no-address", no_address},
    {"kernel-read", kernel_read},
    {"kernel-write", kernel_write},
    {"kernel-jump", kernel_jump},
    {"code-write", code_write},
    {"constant-write", constant_write},
    {"data-exec", data_exec},
    {"stack-exec", stack_exec},
    {"stack-overflow", stack_overflow},
    {"thread-overflow", thread_overflow},
    {"wild-thread", wild_thread},
    {"unmapped-use", unmapped_use},
    {"no-access", no_access},
    {NULL, NULL},
};

static const struct misdeed *const all[] = {misdeeds, isa_misdeeds};
#define ALL (sizeof all / sizeof all[0])

static void list(void)
{
    for (unsigned i = 0; i < ALL; i++)
        for (const struct misdeed *m = all[i]; m->name; m++)
            printf("faults %s\n", m->name);
}

static const struct misdeed *find(const char *name)
{
    for (unsigned i = 0; i < ALL; i++)
        for (const struct misdeed *m = all[i]; m->name; m++)
            if (strcmp(name, m->name) == 0)
                return m;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        list();
        return 0;
    }
    const struct misdeed *m = find(argv[1]);
    if (!m) {
        printf("faults: no misdeed %s\n", argv[1]);
        return 2;
    }
    printf("faults: %s\n", m->name);
    m->run();
    printf("faults: %s was allowed\n", m->name);
    return 1;
}
