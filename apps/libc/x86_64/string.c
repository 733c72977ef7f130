/*
 * Chooses the string functions for the processor, once, before anything else runs (IFUNC, applied
 * by start.c), in place of newlib's, which go byte by byte where alignments differ, or bypass the
 * caches.
 */
#include <cpuid.h>
#include <stdint.h>
#include <string.h>
#include "apps/libc/names.h"
#include "apps/libc/x86_64/string_width.h"

#define REP_MIN 2048     /* below it, a repeated instruction costs more than it gains */
#define ERMS    (1 << 9) /* CPUID 7.0, EBX: repeated byte instructions are fast */

size_t string_rep_min = SIZE_MAX;

static int has_avx2(void)
{
    static int known, has;
    unsigned a, b, c, d;

    if (known)
        return has;
    __builtin_cpu_init();
    has = __builtin_cpu_supports("avx2");
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b & ERMS)
        string_rep_min = REP_MIN;
    known = 1;
    return has;
}

#define PICK(result, name, arguments)                                      \
    static result(*pick_##name(void)) arguments                            \
    {                                                                      \
        return has_avx2() ? __vigil_##name##_avx2 : __vigil_##name##_sse2; \
    }
STRING_FUNCTIONS(PICK)

#define PICKED(result, name, arguments) result name arguments __attribute__((ifunc("pick_" #name)));
STRING_FUNCTIONS(PICKED)
void *memcpy(void *, const void *, size_t) __attribute__((ifunc("pick_memmove")));

POSIX void *rawmemchr(const void *s, int byte)
{
    return memchr(s, byte, PTRDIFF_MAX);
}

POSIX char *stpcpy(char *restrict d, const char *restrict s)
{
    size_t n = strlen(s);

    return (char *)memcpy(d, s, n + 1) + n;
}
