/* What the kernel shows of the machine's state: CPUs, threads, sharing, boot arguments. */
#pragma once
#include <stddef.h>
#include "apps/libc/names.h"
#include "kernel/proc/abi.h"

/* Lists the CPUs by number, up to `room`. Returns their number, or -EACCES. */
int state_cpus(struct sys_cpu *out, size_t room) VIGIL(state_cpus);

/* Lists the threads of process `pid`, of all processes if 0, with where they run, up to `room`.
 * Returns the number of threads, or -ESRCH. */
int state_threads(int pid, struct sys_thread_state *out, size_t room) VIGIL(state_threads);

/* Reads which threads of process `pid` share lines. Returns 0, or -ESRCH: there is no such process,
 * or its threads are not watched (sched.policy=cluster watches). */
int state_sharing(int pid, struct sys_sharing *out) VIGIL(state_sharing);

/* Lists decisions of the sharing detector from number `from` on, up to `room`. Returns the number
 * listed. A gap in their numbers: those were lost. */
int state_decisions(uint64_t from, struct sys_decision *out, size_t room) VIGIL(state_decisions);

/* Describes the next boot argument, and advances `cursor`, which is 0 at first. Returns 0, or
 * -ENOENT: no more. */
int knob_list(uint32_t *cursor, struct sys_knob *out) VIGIL(knob_list);

/* Sets a boot argument, NAME=VALUE, while programs run. Returns 0; -EINVAL with the reason in
 * `why`; -EACCES. */
int knob_set(const char *assign, char *why, size_t size) VIGIL(knob_set);

/* Writes the name of the instruction set, as uname(2) gives it. */
enum { STATE_ARCH_MAX = 65 };
void state_arch(char out[STATE_ARCH_MAX]) VIGIL(state_arch);
