/*
 * Hardware performance monitoring, as the scheduler and the architecture drive it. count.h and
 * sampling.h are for those that read. One PMU backend (hpm/pmu/) is chosen at boot; without one
 * every call still works and says -ENODEV or zero counts, with hpm_caps()->present == false; time
 * and entries into the kernel are sampled.
 */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/policy/breakdown.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/base.h"

struct cpu;
struct arch_frame;
struct hpm_user_page;

extern const struct arg hpm_args[]; /* boot arguments hpm.* */
/* the machine's breakdown is to be printed this often; 0: never */
extern uint64_t hpm_print_ms;

/* Part of struct thread; only hpm touches it. */
struct hpm_thread {
    struct hpm_context counts;
    uint32_t tid, pid;
    uint64_t samples;
    struct hpm_user_page *user; /* its own, written by the CPU it runs on; NULL: none */
    uint64_t told_cycles;       /* hpm_read_news: when it was read the last time */
    bool told_stopped;          /* ... it had stopped since the time before */
};

/* Boot CPU, before the other CPUs start; cpus: all there will be. Probes the backends in order,
 * prints one line, and limits hpm.records and hpm.samples to what memory has room for. */
void hpm_init(unsigned cpus);
/* Each CPU, interrupts off, before its first thread. */
void hpm_cpu_init(struct cpu *cpu);
/* Thread context, once, when all CPUs run: finds out what waiting for other chips' caches costs, if
 * it takes an estimate. */
void hpm_cpus_started(void);
const struct hpm_caps *hpm_caps(void);

void hpm_thread_init(struct hpm_thread *t, uint32_t tid, uint32_t pid);
/* Scheduler, interrupts off: out stops, in starts; NULL is the idle thread. One hardware read
 * serves both sides. */
void hpm_switch(struct hpm_thread *out, struct hpm_thread *in);
/* Around the handlers of all other interrupts, interrupts off: what is done between them is counted
 * apart, if anything is. end gets what begin returned. */
unsigned hpm_interrupt_begin(void);
void hpm_interrupt_end(unsigned begin);
/* PMU interrupt, interrupts off. */
void hpm_interrupt(struct arch_frame *frame);
/* Timer tick, interrupts off: brings the running thread's counts up to date, rotates the groups if
 * that is due. */
void hpm_tick(void);

/* When this CPU is to call hpm_timer next, at the latest, by arch_clock_ns; UINT64_MAX: never.
 * Interrupts off. */
uint64_t hpm_timer_ns(void);
/* The timer's interrupt; and before a return to user mode, from an interrupt, a fault or a system
 * call. Interrupts off. */
void hpm_timer(const struct arch_frame *frame);
void hpm_entered_slots(const struct arch_frame *frame);
extern uint32_t hpm_entries; /* who samples by entries; see hpm/slot.h */
static inline void hpm_entered(const struct arch_frame *frame)
{
    if (__builtin_expect(__atomic_load_n(&hpm_entries, __ATOMIC_RELAXED) != 0, 0))
        hpm_entered_slots(frame);
}
/* Ground-truth label, on a simulated machine; nothing elsewhere. */
void hpm_mark(const char *label);
