/*
 * signal, raise, kill. Handlers stay installed, and calls that they interrupt go on, as with BSD's
 * signal(). newlib's numbers differ from Linux's. This replaces newlib's handlers, which belong to
 * a thread each.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include "apps/libc/libc.h"

static const uint8_t of_linux[] = {
#include "linux_signals.h"
};
#define NUMBERS (sizeof of_linux / sizeof of_linux[0])

/* rt_sigaction(2)'s structure. */
struct action {
    void (*handler)(int signal);
    uint64_t flags;
    void (*restore)(void);
    uint64_t mask;
};

static _sig_func_ptr handlers[NSIG]; /* atomic; NULL is SIG_DFL */

/* Returns Linux's number of a signal; what is none of newlib's, as it is; -1: there is none on
 * Linux. */
static int to_linux(int signal)
{
    if (signal <= 0 || signal >= NSIG)
        return signal;
    for (unsigned i = 1; i < NUMBERS; i++)
        if (of_linux[i] == signal)
            return (int)i;
    return -1;
}

static void handle(int number)
{
    int signal = of_linux[number];
    _sig_func_ptr handler = __atomic_load_n(&handlers[signal], __ATOMIC_ACQUIRE);

    if (handler != SIG_DFL && handler != SIG_IGN)
        handler(signal);
}

_sig_func_ptr signal(int number, _sig_func_ptr handler)
{
    const bool own = handler != SIG_DFL && handler != SIG_IGN;
    const struct action action = {.handler = own ? handle : handler,
                                  .flags = LINUX_SA_RESTART | LINUX_SA_RESTORER,
                                  .restore = restore_signal};

    if (number <= 0 || number >= NSIG || handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    _sig_func_ptr before = __atomic_exchange_n(&handlers[number], handler, __ATOMIC_ACQ_REL);
    if (!posix_result(syscall4(SYS_rt_sigaction, to_linux(number), &action, 0, sizeof action.mask)))
        return before;
    __atomic_store_n(&handlers[number], before, __ATOMIC_RELEASE);
    return SIG_ERR;
}

int raise(int number)
{
    return posix_result(
        syscall3(SYS_tgkill, syscall0(SYS_getpid), syscall0(SYS_gettid), to_linux(number)));
}

POSIX int kill(int pid, int number)
{
    return posix_result(syscall2(SYS_kill, pid, to_linux(number)));
}
ALSO_UNDERSCORED(kill);

/* newlib's own names of the same functions. */
_sig_func_ptr _signal_r(struct _reent *r, int number, _sig_func_ptr handler)
{
    (void)r;
    return signal(number, handler);
}

int _raise_r(struct _reent *r, int number)
{
    (void)r;
    return raise(number);
}
