/* Shared by the string functions of both widths and by string.c, which chooses among them. */
#pragma once
#include <stddef.h>

/* The size from which the repeated instructions (REP MOVSB, STOSB) are used; SIZE_MAX: never. */
extern size_t string_rep_min VIGIL(string_rep_min);

/* Expands DO(result, name, arguments) for each function. */
#define STRING_FUNCTIONS(DO)                               \
    DO(void *, memmove, (void *, const void *, size_t))    \
    DO(void *, memset, (void *, int, size_t))              \
    DO(int, memcmp, (const void *, const void *, size_t))  \
    DO(void *, memchr, (const void *, int, size_t))        \
    DO(size_t, strlen, (const char *))                     \
    DO(size_t, strnlen, (const char *, size_t))            \
    DO(int, strcmp, (const char *, const char *))          \
    DO(int, strncmp, (const char *, const char *, size_t)) \
    DO(char *, strchr, (const char *, int))                \
    DO(char *, strchrnul, (const char *, int))             \
    DO(char *, strrchr, (const char *, int))               \
    DO(char *, strcpy, (char *, const char *))             \
    DO(char *, strcat, (char *, const char *))             \
    DO(char *, strncpy, (char *, const char *, size_t))

#define STRING_DECLARE(result, name, arguments) \
    result __vigil_##name##_sse2 arguments;     \
    result __vigil_##name##_avx2 arguments;
STRING_FUNCTIONS(STRING_DECLARE)
