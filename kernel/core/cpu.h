/*
 * Per-CPU data. One array for the whole machine; this_cpu() is the caller's entry. A subsystem's
 * part is a pointer it owns or a small struct it embeds, and only its own files touch it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"

struct thread;

struct cpu {
    struct arch_cpu arch; /* first: arch/ finds struct cpu from its register */
    /* What interrupts and switches need is together. */
    struct thread *current;   /* running thread; written by the scheduler, irqs off */
    struct hpm_cpu *hpm;      /* hpm/account.c */
    struct path_cpu *pages;   /* hpm/path/path.c */
    struct runqueue *rq;      /* sched/runqueue.c */
    struct arch_space *space; /* loaded address space, NULL = kernel only */
    struct thread *idle;      /* its idle thread */
    unsigned index;           /* 0..cpu_count()-1 */
    uint16_t spin_depth;      /* spinlocks held: must be 0 when sleeping */
    /* bit c: CPU c is sent IPI_RESCHED when spin_depth is 0; own CPU, irqs off */
    uint64_t kicks;
    /* sched/gate.c: that the running thread entered last and holds; NULL: none */
    const char *gate;
    bool online;   /* has reached its idle loop */
    bool resched;  /* run sched_point() before the next return to user */
    uint64_t hwid; /* APIC id, MPIDR affinity */
    struct cpu_place place;
    void *boot_stack_top;
} ALIGNED(CACHE_LINE);

extern struct cpu cpus[CPU_MAX];

unsigned cpu_count(void);       /* CPUs that run, fixed once all are started; 1 until then */
void cpu_count_set(unsigned n); /* main, once, when all are started */

static inline struct cpu *this_cpu(void)
{
    return arch_this_cpu();
}

#define cpu_for_each(c) for (struct cpu *c = cpus; c < cpus + cpu_count(); c++)
