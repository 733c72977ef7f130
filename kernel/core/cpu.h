/*
 * Per-CPU data: one array for the whole machine; this_cpu() is the caller's entry. A subsystem's
 * part is a pointer that it owns or a small struct that it embeds; only its own files use it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"

struct thread;

struct cpu {
    struct arch_cpu arch; /* first: kernel/arch finds struct cpu from its register */
    /* Fields that interrupts and context switches need are together. */
    struct thread *current;   /* running thread; written by the scheduler, interrupts off */
    struct hpm_cpu *hpm;      /* hpm/account.c */
    struct path_cpu *pages;   /* hpm/path/path.c */
    struct runqueue *rq;      /* sched/runqueue.c */
    struct arch_space *space; /* loaded address space, NULL: the kernel's alone */
    struct thread *idle;      /* its idle thread */
    unsigned index;           /* 0 to cpu_count() - 1 */
    uint16_t spin_depth;      /* spinlocks held; must be 0 when sleeping */
    /* What arch_timer_arm() was told, UINT64_MAX: never. Used by this CPU only, interrupts off. */
    uint64_t deadline_ns;
    /* Bit c: CPU c is sent IPI_RESCHED when spin_depth reaches 0. Used by this CPU only, interrupts
     * off. */
    uint64_t kicks;
    /* Name of the gate that the running thread entered last and still holds (sched/gate.c); NULL:
     * none. */
    const char *gate;
    bool interrupted; /* it handles an interrupt; written by kernel/handlers.c, on the CPU */
    bool online;      /* has reached its idle loop */
    bool resched;     /* run sched_point() before the next return to user mode */
    uint64_t hwid;    /* APIC id, MPIDR affinity */
    struct cpu_place place;
    void *boot_stack_top;
    /* Since boot: switches from one thread to another; threads that came from another CPU; page
     * faults of processes, and those that waited for a disk. */
    uint64_t switches, arrivals, faults, major_faults;
} ALIGNED(CACHE_LINE);

extern struct cpu cpus[CPU_MAX];

unsigned cpu_count(void);       /* number of running CPUs: 1 until all are started, then constant */
void cpu_count_set(unsigned n); /* called once, by main, when all CPUs are started */

static inline struct cpu *this_cpu(void)
{
    return arch_this_cpu();
}

#define cpu_for_each(c) for (struct cpu *c = cpus; c < cpus + cpu_count(); c++)
