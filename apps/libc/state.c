/* The machine's state: wrappers of the calls (state.h). */
#include "apps/libc/state.h"
#include <string.h>
#include "apps/libc/syscall.h"

int state_cpus(struct sys_cpu *out, size_t room)
{
    return (int)syscall2(SYS_CPUS, out, room * sizeof *out);
}

int state_threads(int pid, struct sys_thread_state *out, size_t room)
{
    return (int)syscall3(SYS_THREAD_STATES, pid, out, room * sizeof *out);
}

int state_sharing(int pid, struct sys_sharing *out)
{
    return (int)syscall3(SYS_SHARING, pid, out, sizeof *out);
}

int state_decisions(uint64_t from, struct sys_decision *out, size_t room)
{
    return (int)syscall3(SYS_DECISIONS, from, out, room * sizeof *out);
}

int knob_list(uint32_t *cursor, struct sys_knob *out)
{
    return (int)syscall3(SYS_KNOB_LIST, cursor, out, sizeof *out);
}

int knob_set(const char *assign, char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return (int)syscall3(SYS_KNOB_SET, assign, why, size);
}

void state_arch(char out[STATE_ARCH_MAX])
{
    char name[6][STATE_ARCH_MAX] = {{0}}; /* Linux's struct new_utsname */

    syscall1(SYS_uname, name);
    memcpy(out, name[4], STATE_ARCH_MAX);
}
