/*
 * Calls whose chains are known. Compiled with frame pointers.
 *
 *   nested ROUNDS [DEPTH]   main > outer > left > work three quarters of the time, and
 *   main > outer > right > again (DEPTH times, 3 if not given) > work the rest; work is a loop that
 *   calls nothing
 *   nested wild ROUNDS      the same with frame pointers that lead nowhere, in circles, and to the
 *   kernel's memory
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 8000, DEPTH = 3 };
static volatile uint64_t sink;

/* Assembly keeps it from being unrolled or left out; that it asks for the address of its
 * frame gives it one. */
__attribute__((noinline)) void work(uint64_t n)
{
    uint64_t x = n;

    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
    while (n--) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    sink = x;
}

__attribute__((noinline)) void again(unsigned depth, uint64_t n)
{
    if (depth > 1)
        again(depth - 1, n);
    else
        work(n);
    __asm__ volatile(""); /* a call, not a jump */
}

__attribute__((noinline)) void left(uint64_t n)
{
    work(3 * n);
    __asm__ volatile("");
}

__attribute__((noinline)) void right(unsigned depth, uint64_t n)
{
    again(depth, n);
    __asm__ volatile("");
}

__attribute__((noinline)) void outer(unsigned long rounds, unsigned depth)
{
    uint32_t random = 1;

    /* Rounds differ in length by chance, as those of ratio do. */
    for (unsigned long i = 0; i < rounds; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t n = PART / 2 + random / 65536 % PART;
        left(n);
        right(depth, n);
    }
}

/* Works with a frame pointer of this value, which no code below uses. */
static void work_with(uint64_t link, uint64_t n)
{
    for (uint64_t x = n; x; x--) {
#if defined(__x86_64__)
        __asm__ volatile("mov %%rbp, %%rax\n\tmov %0, %%rbp\n\tmov $100, %%ecx\n"
                         "1:\tdec %%ecx\n\tjnz 1b\n\tmov %%rax, %%rbp"
                         :
                         : "r"(link)
                         : "rax", "rcx", "cc");
#else
        __asm__ volatile("mov x9, x29\n\tmov x29, %0\n\tmov w10, #100\n"
                         "1:\tsubs w10, w10, #1\n\tb.ne 1b\n\tmov x29, x9"
                         :
                         : "r"(link)
                         : "x9", "x10", "cc");
#endif
    }
}

static void work_wildly(uint64_t n)
{
    static uint64_t circle[2], fence[2];

    circle[0] = (uintptr_t)circle;
    circle[1] = (uintptr_t)work_wildly;
    fence[0] = 0xffff800000100000; /* the kernel's memory */
    fence[1] = (uintptr_t)work_wildly;
    const uint64_t link[] = {0,
                             1,
                             8,
                             (uintptr_t)circle,
                             (uintptr_t)circle + 4,
                             (uintptr_t)fence,
                             0xffff800000100000,
                             0xffffffff80200000,
                             0x7fffffbeeff8,
                             0x500000000000,
                             UINT64_MAX - 7,
                             UINT64_MAX};

    for (unsigned i = 0; i < sizeof link / sizeof link[0]; i++)
        work_with(link[i], n);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "wild")) {
        work_wildly(strtoul(argv[2], NULL, 10));
        return 0;
    }
    outer(argc > 1 ? strtoul(argv[1], NULL, 10) : 1,
          argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : DEPTH);
    return 0;
}
