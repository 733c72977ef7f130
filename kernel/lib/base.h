/*
 * What every file may use: fixed-width types, types for addresses and cycles, a few macros, ASSERT,
 * and the memory functions. Policy files include this and their own header, nothing else, and
 * compile unchanged for the kernel and for the host.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#include "kernel/lib/errno.h"

typedef uint64_t paddr_t;  /* physical address */
typedef uint64_t vaddr_t;  /* virtual address */
typedef uint64_t cycles_t; /* processor cycles; model cycles when simulated */

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

#define NS_PER_US ((uint64_t)1000)
#define NS_PER_MS ((uint64_t)1000000)
#define NS_PER_S  ((uint64_t)1000000000)

/* The value of a macro as a string. */
#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

#define PAGE_SHIFT 12
#define PAGE_SIZE  ((uint64_t)1 << PAGE_SHIFT)
#define PAGE_MASK  (PAGE_SIZE - 1)

/* The size of a cache line that per-CPU data is padded to: the largest of all supported
 * machines. */
#define CACHE_LINE 128

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)                          \
    ({                                     \
        __typeof__(a) min_a_ = (a);        \
        __typeof__(b) min_b_ = (b);        \
        min_a_ < min_b_ ? min_a_ : min_b_; \
    })
#define MAX(a, b)                          \
    ({                                     \
        __typeof__(a) max_a_ = (a);        \
        __typeof__(b) max_b_ = (b);        \
        max_a_ > max_b_ ? max_a_ : max_b_; \
    })
/* `a` is a power of two. */
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a)-1))
#define ALIGN_UP(x, a)   ALIGN_DOWN((x) + ((__typeof__(x))(a)-1), a)
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a)-1)) == 0)

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN          __attribute__((noreturn))
#define ALWAYS_INLINE     inline __attribute__((always_inline))
/* keeps the function's frame off its caller's */
#define NOINLINE   __attribute__((noinline))
#define PACKED     __attribute__((packed))
#define ALIGNED(n) __attribute__((aligned(n)))
#define UNUSED     __attribute__((unused))
/* For data that every interrupt reads and hardly anything writes: linked together, in few cache
 * lines (linker.ld). */
#define HOT __attribute__((section(".data.hot")))
/* the same for per-CPU data, linked behind it */
#define HOT_CPUS __attribute__((section(".data.hot.cpus")))
/* For code that runs at each end of a counters' slice: linked together, in few pages, because each
 * page takes a TLB entry from the interrupted program (linker.ld). */
#define HOT_CODE __attribute__((section(".text.HOT")))

/* Prints the message, the registers and a symbolised backtrace, stops every CPU, and ends the run
 * with a failure. */
NORETURN void panic(const char *fmt, ...) PRINTF(1, 2);

/* Panics if an invariant of the kernel is broken. Never used for input of a user, an application or
 * a device. */
#define ASSERT(cond)                                                         \
    do {                                                                     \
        if (__builtin_expect(!(cond), 0))                                    \
            panic("%s:%d: broken invariant: %s", __FILE__, __LINE__, #cond); \
    } while (0)

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static inline bool is_pow2(uint64_t x)
{
    return x && !(x & (x - 1));
}

/* Returns floor(log2(x)); `x` must not be 0. */
static inline unsigned log2_floor(uint64_t x)
{
    return 63 - (unsigned)__builtin_clzll(x);
}
