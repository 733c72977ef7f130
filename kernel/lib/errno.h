/* Error numbers: Linux's. The kernel returns them negated. */
#pragma once
#if __STDC_HOSTED__
#include <errno.h>
#else
#include <asm/errno.h>
#define ENOTSUP EOPNOTSUPP
#endif

/* A call that a signal has interrupted: what programs get in place of these is decided before user
 * mode is entered (kernel/proc/signal.h). */
#define ERESTARTSYS           512 /* made again, if the handler has SA_RESTART; else EINTR */
#define ERESTARTNOINTR        513 /* made again */
#define ERESTARTNOHAND        514 /* made again if no handler runs; else EINTR */
#define ERESTART_RESTARTBLOCK 516 /* the same; it keeps its deadline */
