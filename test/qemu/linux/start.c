/*
 * What a program of Linux finds at its start: arguments, environment, auxiliary vector,
 * constructors, thread-local storage, a stack that grows, a heap; and how its status comes back.
 *   start status N                        ends with status N
 *   start script /test/script status N    the same, as a script's interpreter
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "test/qemu/apps/tap.h"

extern char **environ;

static __thread volatile int tls_set = 42;
static __thread volatile char tls_zero[5000];
static int constructed;

static void __attribute__((constructor)) construct(void)
{
    constructed++;
}

static bool has_segment(uint32_t type)
{
    const ElfW(Phdr) *headers = (const void *)getauxval(AT_PHDR);

    for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
        if (headers[i].p_type == type)
            return true;
    return false;
}

/* Uses `kb` KB of stack, and returns a sum of it. */
static __attribute__((noinline)) unsigned use_stack(unsigned kb)
{
    volatile unsigned char block[1024];

    for (unsigned i = 0; i < sizeof block; i++)
        block[i] = (unsigned char)kb;
    return block[kb % sizeof block] + (kb ? use_stack(kb - 1) : 0);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "status"))
        return atoi(argv[2]);
    if (argc == 5 && !strcmp(argv[1], "script"))
        return strcmp(argv[2], "/test/script") ? 1 : atoi(argv[4]);
    tap_check(argc == 3 && !strcmp(argv[1], "one") && !strcmp(argv[2], "two words") && !argv[3],
              "arguments come as they were given");
    tap_check(argv[0][0] == '/', "the first is the path");
    const char *value = getenv("VIGIL_TEST");
    tap_check(value && !strcmp(value, "yes = 1"), "the environment is that of /etc/environment");
    tap_check(environ[0] && environ[1] && !environ[2], "... whole, without its comment");
    tap_check(getauxval(AT_PAGESZ) == 4096 && getauxval(AT_ENTRY), "page size and entry are told");
    tap_check(getauxval(AT_PHENT) == sizeof(ElfW(Phdr)) && has_segment(PT_LOAD) &&
                  has_segment(PT_TLS),
              "the program headers are where it is said");
    tap_check(!strcmp((const char *)getauxval(AT_EXECFN), argv[0]), "so is the file's path");
    const uint64_t *chance = (const uint64_t *)getauxval(AT_RANDOM);
    tap_check(chance && chance[0] != chance[1] && chance[0], "16 bytes are random");
    tap_check(!getauxval(AT_SECURE) && getauxval(AT_CLKTCK) == 100, "nothing is secure, 100 ticks");
    tap_check(constructed == 1, "constructors have run once");
    bool zero = true;
    for (unsigned i = 0; i < sizeof tls_zero; i++)
        zero &= !tls_zero[i];
    tap_check(tls_set == 42 && zero, "thread-local storage has its first values");
    tap_check(use_stack(6 * 1024) > 0, "the stack grows to 6 MB");
    char *old = sbrk(0), *at = sbrk(1 << 20);
    tap_check(at == old && sbrk(0) == old + (1 << 20), "the heap grows");
    memset(at, 1, 1 << 20);
    tap_check(sbrk(-(1 << 20)) == old + (1 << 20) && sbrk(0) == old, "... and shrinks");
    bool right = true;
    for (size_t bytes = 1; bytes <= 64 << 20; bytes *= 4) {
        unsigned char *block = malloc(bytes);
        right &= block != NULL;
        if (block)
            memset(block, 0x5a, bytes);
        free(block);
    }
    tap_check(right, "malloc gives 1 byte to 64 MB");
    return tap_done();
}
