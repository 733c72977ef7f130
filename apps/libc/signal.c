/*
 * Signals of a process to itself: signal, raise, kill. The kernel sends none, and no other process
 * can.
 *
 * Handlers belong to the process and stay installed, as with BSD's signal(). A handler is not
 * interrupted by its own signal in the same thread; that signal is delivered when the handler
 * returns. This replaces newlib's handlers, which belong to a thread each.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include "apps/libc/libc.h"

static _sig_func_ptr handlers[NSIG];             /* atomic; NULL is SIG_DFL */
static _Thread_local uint32_t handling, waiting; /* bit n: signal n */
_Static_assert(NSIG <= 32 && SIG_DFL == NULL, "a word has a bit for each signal");

/* Signals are numbered from 1. */
static bool is_signal(int signal)
{
    return signal > 0 && signal < NSIG;
}

static bool ignored_by_default(int signal)
{
    return signal == SIGCHLD || signal == SIGURG || signal == SIGCONT || signal == SIGWINCH;
}

static bool stops(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static bool has_handler(int signal)
{
    return signal != SIGKILL && signal != SIGSTOP;
}

/* Takes the action of a signal without a handler. Returns 0 or an error: a stopped process could
 * never be continued. */
static int act_by_default(int signal)
{
    if (ignored_by_default(signal))
        return 0;
    if (stops(signal))
        return ENOSYS;
    _exit(128 + signal);
}

static void handle(int signal, _sig_func_ptr handler)
{
    const uint32_t bit = 1u << signal;

    waiting |= bit;
    if (handling & bit)
        return;
    handling |= bit;
    for (; waiting & bit; handler(signal))
        waiting &= ~bit;
    handling &= ~bit;
}

/* Delivers a signal to the caller. Returns 0 or an error. */
static int deliver_signal(int signal)
{
    _sig_func_ptr handler =
        is_signal(signal) ? __atomic_load_n(&handlers[signal], __ATOMIC_ACQUIRE) : NULL;

    if (!is_signal(signal))
        return signal ? EINVAL : 0;
    if (handler == SIG_DFL)
        return act_by_default(signal);
    if (handler != SIG_IGN)
        handle(signal, handler);
    return 0;
}

static int result_of(int error)
{
    if (!error)
        return 0;
    errno = error;
    return -1;
}

_sig_func_ptr signal(int number, _sig_func_ptr handler)
{
    if (is_signal(number) && has_handler(number) && handler != SIG_ERR)
        return __atomic_exchange_n(&handlers[number], handler, __ATOMIC_ACQ_REL);
    errno = EINVAL;
    return SIG_ERR;
}

int raise(int number)
{
    return result_of(deliver_signal(number));
}

/* Refuses a signal to another process: EPERM if there is one, ESRCH if not. */
static int kill_other(int pid, int number)
{
    if (number < 0 || number >= NSIG)
        return EINVAL;
    bool is = pid > 0 && (int64_t)syscall3(SYS_THREADS, pid, 0, 0) > 0;
    return is ? EPERM : ESRCH;
}

/* 0, -1 and other negative pids name groups, in which the caller's process is alone. */
POSIX int kill(int pid, int number)
{
    int own = (int)syscall0(SYS_GETPID);

    return result_of(pid == own || pid == 0 || pid == -1 || pid == -own ? deliver_signal(number)
                                                                        : kill_other(pid, number));
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
