/*
 * What a program can tell Vigil and ask of it, with any C library (glibc, musl, newlib): groups of
 * threads, marks, counts. On another kernel all of it does nothing: the calls' numbers are none of
 * Linux's, and the first ENOSYS is remembered. Safe in all threads.
 *
 *     vigil_group(team);                      threads that share data state the same group
 *     vigil_mark("solve");                    a mark in the ground truth of a simulated machine
 *     int s = vigil_open("cycles,l3-misses", NULL, 0);
 *     ...
 *     uint64_t counts[2];
 *     vigil_read(s, VIGIL_PROCESS, counts, 2);
 *     vigil_close(s);
 *
 * Functions that return int give a negative error number where they fail; -ENOSYS: not on Vigil.
 */
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include "kernel/proc/abi.h"

#ifdef __cplusplus
#include <unistd.h>
#else
extern long syscall(long number, ...);
#endif

enum { VIGIL_THREAD = SYS_SCOPE_THREAD, VIGIL_PROCESS = SYS_SCOPE_PROCESS };
#define VIGIL_VALUES_MAX 16 /* counts that vigil_read() returns at most */

/* 1: the kernel is not Vigil; atomic. */
static int vigil_missing __attribute__((unused));

static inline int vigil_call(long number, const void *a, void *b, size_t c)
{
    if (__atomic_load_n(&vigil_missing, __ATOMIC_RELAXED))
        return -ENOSYS;
    const int before = errno;
    long result = syscall(number, a, b, c);
    if (result < 0) {
        result = -errno;
        if (result == -ENOSYS)
            __atomic_store_n(&vigil_missing, 1, __ATOMIC_RELAXED);
        errno = before;
    }
    return (int)result;
}

/* Returns 1 on Vigil, else 0. */
static inline int vigil_is_here(void)
{
    return vigil_call(SYS_HPM_CLOSE, NULL, NULL, 0) != -ENOSYS; /* 0 is no counting session */
}

/* States the calling thread's sharing group, 0 to 65535, for sched.policy=hand. */
static inline void vigil_group(unsigned group)
{
    vigil_call(SYS_GROUP, (const void *)(uintptr_t)group, NULL, 0);
}

/* Sets a mark, of up to 63 characters, in the ground truth of a simulated machine. */
static inline void vigil_mark(const char *label)
{
    vigil_call(SYS_MARK, label, NULL, 0);
}

/* Opens a session that counts these events and metrics, separated by commas, from now on. Returns
 * its number. If it fails, `why` gets a sentence, cut to `size` bytes. */
static inline int vigil_open(const char *names, char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return vigil_call(SYS_HPM_OPEN, names, why, size);
}

/* Reads a session's counts of the calling thread or the process, as many as there are and `room`
 * takes; a metric in millionths of its unit. Returns the number of values that the session has. */
static inline int vigil_read(int session, int scope, uint64_t *counts, unsigned room)
{
    struct sys_hpm_value v[VIGIL_VALUES_MAX];
    struct sys_hpm_read what = {0, 0, 0, 0, 0, 0};

    what.session = (uint32_t)session;
    what.scope = (uint32_t)scope;
    int n = vigil_call(SYS_HPM_VALUES, &what, v, sizeof v);
    for (int i = 0; i < n && i < VIGIL_VALUES_MAX && (unsigned)i < room; i++)
        counts[i] = v[i].kind == SYS_VALUE_COUNT ? v[i].count : (uint64_t)v[i].millionths;
    return n;
}

static inline void vigil_close(int session)
{
    vigil_call(SYS_HPM_CLOSE, (const void *)(uintptr_t)session, NULL, 0);
}
