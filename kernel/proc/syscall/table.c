/* The table of system calls, made from the list in syscall.h; boot argument proc.calls. */
#include "kernel/core/printf.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"

static const struct {
    const char *name;
    handler *handle;
} calls[SYS_COUNT] = {
#define ROW(number, name, handle) [number] = {name, handle},
    SYSTEM_CALLS(ROW)
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

/* Prints a call that has returned. */
static void print_call(const struct process *p, const char *name, uint64_t number,
                       const uint64_t a[6], int64_t result)
{
    kprintf("process: event=call name=%s number=%llu result=%lld pid=%u app=%s tid=%u: arguments "
            "%#llx %#llx %#llx %#llx %#llx %#llx\n",
            name, (unsigned long long)number, (long long)result, p->pid, p->name,
            thread_current()->tid, (unsigned long long)a[0], (unsigned long long)a[1],
            (unsigned long long)a[2], (unsigned long long)a[3], (unsigned long long)a[4],
            (unsigned long long)a[5]);
}

int64_t syscall_dispatch(uint64_t number, const uint64_t args[6])
{
    struct process *p = thread_current()->process;
    bool known = number < SYS_COUNT && calls[number].handle;
    int64_t result = known ? calls[number].handle(p, args) : -ENOSYS;

    if (proc_calls == PRINT_ALL || (proc_calls == PRINT_REFUSED && result < 0))
        print_call(p, known ? calls[number].name : "unknown", number, args, result);
    return result;
}
