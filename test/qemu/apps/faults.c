/*
 * One thing a program must not do, chosen by the argument.  The kernel has to end it with status 139 and one line that
 * says what happened; a program that comes back from its misdeed ends with status 1.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/syscall.h"

static volatile uint64_t sink;
static volatile uintptr_t near_null = 8;           /* unknown to the compiler, as is ... */
static volatile unsigned depth_max = (unsigned)-1; /* ... that this is never reached     */
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
#if defined(__x86_64__)
    data_code[0] = 0xc3c3c3c3; /* ret */
#else
    data_code[0] = 0xd65f03c0;
#endif
    call((uint64_t)(uintptr_t)data_code);
}

static void stack_exec(void)
{
    volatile uint32_t code[4] = {0xc3c3c3c3};
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
    struct sys_thread args = {.entry = 0x700000000000, .stack_top = 0x700000010000};

    if (syscall1(SYS_THREAD_CREATE, &args) > 0)
        syscall1(SYS_SLEEP, (uint64_t)10 * 1000000000);
}

static void unmapped_use(void)
{
    int64_t at = syscall3(SYS_MMAP, 4096, SYS_PROT_READ | SYS_PROT_WRITE, "gone");

    *(volatile char *)at = 1;
    syscall2(SYS_MUNMAP, at, 4096);
    *(volatile char *)at = 2;
}

static void no_access(void)
{
    int64_t at = syscall3(SYS_MMAP, 4096, SYS_PROT_READ | SYS_PROT_WRITE, "closed");

    *(volatile char *)at = 1;
    syscall3(SYS_MPROTECT, at, 4096, 0);
    sink = *(volatile uint64_t *)at;
}

#if defined(__x86_64__)
static void privileged(void)
{
    __asm__ volatile("cli");
}
static void halt(void)
{
    __asm__ volatile("hlt");
}
static void port(void)
{
    __asm__ volatile("outb %%al, $0xf4" : : "a"(0));
}
static void control_register(void)
{
    __asm__ volatile("mov %0, %%cr3" : : "r"((uint64_t)0));
}
/* 32-bit code, if there were a segment for it, could make system calls of another kind. */
static void compat_syscall(void)
{
    __asm__ volatile("pushq $0x1b\n\t"
                     "pushq $1f\n\t"
                     "lretq\n"
                     "1:\tsyscall");
}
static void illegal(void)
{
    __asm__ volatile("ud2");
}
static void divide(void)
{
    __asm__ volatile("xor %%ecx, %%ecx; mov $1, %%eax; xor %%edx, %%edx; div %%ecx"
                     :
                     :
                     : "eax", "ecx", "edx");
}
static void breakpoint(void)
{
    __asm__ volatile("int3");
}
#else
static void privileged(void)
{
    __asm__ volatile("msr daifset, #2");
}
static void halt(void)
{
    __asm__ volatile("hlt #1");
}
static void control_register(void)
{
    __asm__ volatile("msr ttbr0_el1, xzr");
}
static void illegal(void)
{
    __asm__ volatile(".word 0");
}
static void breakpoint(void)
{
    __asm__ volatile("brk #0");
}
#endif

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
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
    {"privileged", privileged},
    {"halt", halt},
#if defined(__x86_64__)
    {"port", port},
    {"compat-syscall", compat_syscall},
    {"divide", divide},
#endif
    {"control-register", control_register},
    {"illegal", illegal},
    {"breakpoint", breakpoint},
};

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (argc < 2)
            printf("faults %s\n", modes[i].name);
        else if (strcmp(argv[1], modes[i].name) == 0) {
            printf("faults: %s\n", modes[i].name);
            modes[i].run();
            printf("faults: %s was allowed\n", modes[i].name);
            return 1;
        }
    }
    if (argc < 2)
        return 0;
    printf("faults: no mode %s\n", argv[1]);
    return 2;
}
