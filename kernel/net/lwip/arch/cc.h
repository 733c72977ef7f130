/* What lwIP needs of where it runs: the kernel, or a test of the host. */
#pragma once
#include "kernel/lib/base.h"
#if __STDC_HOSTED__
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#else
#define LWIP_NO_CTYPE_H    1
#define LWIP_NO_LIMITS_H   1
#define LWIP_NO_UNISTD_H   1
#define LWIP_NO_INTTYPES_H 1
#define INT_MAX            __INT_MAX__
#define SSIZE_MAX          INT64_MAX
typedef int64_t ssize_t;
#define X8_F               "02x"
#define U16_F              "u"
#define S16_F              "d"
#define X16_F              "x"
#define U32_F              "u"
#define S32_F              "d"
#define X32_F              "x"
#define SZT_F              "zu"
#endif

#define LWIP_PLATFORM_DIAG(x) ((void)0)
#ifdef DEBUG
void lwip_failed(const char *what, const char *file, int line);
#define LWIP_PLATFORM_ASSERT(x) lwip_failed(x, __FILE__, __LINE__)
#else
/* Packets reach assertions, and must not end the kernel. */
#define LWIP_NOASSERT           1
#define LWIP_PLATFORM_ASSERT(x) ((void)0)
#endif

/* memory.c: memory of the instance whose lock is held. */
void *lwip_malloc(size_t bytes);
void *lwip_calloc(size_t n, size_t bytes);
void lwip_free(void *p);
bool lwip_is_short(void); /* no connection may begin */
uint32_t lwip_random(void);
#define LWIP_RAND() lwip_random()
