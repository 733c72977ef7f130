/* The tables of system calls, made from the lists in syscall.h and calls.def; boot argument
 * proc.calls. */
#include "kernel/core/printf.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"

#define LINUX_MAX 512 /* above the numbers of Linux's calls */

struct row {
    const char *name;
    handler *handle;
};

/* A call that is known and that there is not. */
static int64_t refuse_call(UNUSED const struct call *c)
{
    return -ENOSYS;
}

static const struct row linux_calls[LINUX_MAX] = {
#define CALL(number, name, handle) [number] = {#name, handle},
#define REFUSED(number, name)      [number] = {#name, refuse_call},
#include "linux_calls.h"
#undef REFUSED
#undef CALL
};

static const struct row vigil_calls[SYS_COUNT - SYS_FIRST] = {
#define ROW(number, name, handle) [(number)-SYS_FIRST] = {name, handle},
    VIGIL_CALLS(ROW)
#undef ROW
};

enum { PRINT_NONE, PRINT_REFUSED, PRINT_ALL };
static uint64_t proc_calls = PRINT_NONE;
static const char *const print_choices[] = {
    [PRINT_NONE] = "none", [PRINT_REFUSED] = "refused", [PRINT_ALL] = "all", NULL};

const struct arg syscall_args[] = {
    {"proc.calls", ARG_CHOICE, &proc_calls, 0, 0, print_choices, ARG_BOOT,
     "system calls to print: none, those that return an error, or all that return"},
    {0},
};

/* Returns the row of a call, or NULL if the number is unknown. */
static const struct row *find_call(uint64_t number)
{
    const struct row *row = number < LINUX_MAX ? &linux_calls[number]
                            : number >= SYS_FIRST && number < SYS_COUNT
                                ? &vigil_calls[number - SYS_FIRST]
                                : NULL;

    return row && row->handle ? row : NULL;
}

/* Prints a call that has returned. */
static void print_call(const struct call *c, const char *name, uint64_t number, int64_t result)
{
    kprintf("process: event=call name=%s number=%llu result=%lld pid=%u app=%s tid=%u "
            "arguments=%#llx,%#llx,%#llx,%#llx,%#llx,%#llx\n",
            name, (unsigned long long)number, (long long)result, c->p->pid, c->p->name, c->t->tid,
            (unsigned long long)c->a[0], (unsigned long long)c->a[1], (unsigned long long)c->a[2],
            (unsigned long long)c->a[3], (unsigned long long)c->a[4], (unsigned long long)c->a[5]);
}

/* Says that a program makes a call that there is not, once a process. */
static void report_unknown(struct process *p, uint64_t number)
{
    if (!__atomic_exchange_n(&p->told_call, true, __ATOMIC_RELAXED))
        kprintf("process: event=unknown_call number=%llu pid=%u app=%s: there is no such system "
                "call; it gets ENOSYS\n",
                (unsigned long long)number, p->pid, p->name);
}

int64_t syscall_dispatch(uint64_t number, const uint64_t args[6], struct arch_frame *frame)
{
    struct thread *t = thread_current();
    struct call c = {.p = t->process, .t = t, .frame = frame, .a = args};
    const struct row *row = find_call(number);

    if (!row)
        report_unknown(c.p, number);
    int64_t result = row ? row->handle(&c) : -ENOSYS;
    if (result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK && row &&
        row->handle != sys_rt_sigreturn)
        signals_call_ends(number, args[0], result);
    if (proc_calls == PRINT_ALL || (proc_calls == PRINT_REFUSED && result < 0))
        print_call(&c, row ? row->name : "unknown", number, result);
    return result;
}
