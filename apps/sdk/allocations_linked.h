/* What stands before a function of the C or C++ library that a static program calls by name. */
#pragma once
#include "apps/libc/allocation_log.h"

#define SITE ((uint64_t)__builtin_return_address(0))
#define WRAPPED(name, bytes, types, given)                        \
    void *__real_##name types;                                    \
    void *__wrap_##name types;                                    \
    void *__wrap_##name types                                     \
    {                                                             \
        return allocation_note(__real_##name given, bytes, SITE); \
    }
