/* The same as allocations_linked.c for new and new[] of C++, only in programs that use them. */
#include "apps/sdk/allocations_linked.h"

WRAPPED(_Znwm, n, (size_t n), (n))
WRAPPED(_Znam, n, (size_t n), (n))
WRAPPED(_ZnwmRKSt9nothrow_t, n, (size_t n, const void *tag), (n, tag))
WRAPPED(_ZnamRKSt9nothrow_t, n, (size_t n, const void *tag), (n, tag))
WRAPPED(_ZnwmSt11align_val_t, n, (size_t n, size_t align), (n, align))
WRAPPED(_ZnamSt11align_val_t, n, (size_t n, size_t align), (n, align))
WRAPPED(_ZnwmSt11align_val_tRKSt9nothrow_t, n, (size_t n, size_t align, const void *tag),
        (n, align, tag))
WRAPPED(_ZnamSt11align_val_tRKSt9nothrow_t, n, (size_t n, size_t align, const void *tag),
        (n, align, tag))
