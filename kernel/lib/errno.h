/* Error numbers: Linux's. The kernel returns them negated. */
#pragma once
#if __STDC_HOSTED__
#include <errno.h>
#else
#include <asm/errno.h>
#define ENOTSUP EOPNOTSUPP
#endif
