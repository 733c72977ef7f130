/*
 * Error numbers. The kernel returns them negated. They have the values of newlib's errno.h, so
 * nothing is translated at the system-call boundary.
 */
#pragma once
#if __STDC_HOSTED__
#include <errno.h>
#else
#define EPERM        1
#define ENOENT       2
#define ESRCH        3
#define EINTR        4
#define EIO          5
#define E2BIG        7
#define ENOEXEC      8
#define EBADF        9
#define ECHILD       10
#define EAGAIN       11
#define ENOMEM       12
#define EACCES       13
#define EFAULT       14
#define EBUSY        16
#define EEXIST       17
#define ENODEV       19
#define ENOTDIR      20
#define EISDIR       21
#define EINVAL       22
#define ENOTTY       25
#define ENOSPC       28
#define EROFS        30
#define ERANGE       34
#define EDEADLK      45
#define ENOSYS       88
#define ENAMETOOLONG 91
#define ELOOP        92
#define ETIMEDOUT    116
#define EALREADY     120
#define EDQUOT       132
#define ENOTSUP      134
#define EOVERFLOW    139
#endif
