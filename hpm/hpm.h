/* Hardware performance monitoring, as the scheduler and the architecture drive it. Readers of
 * counts and samples include count.h and sampling.h. One PMU backend (hpm/pmu/) is chosen at boot.
 * Without one, hpm_caps()->present is false, every call still works and returns -ENODEV or zero
 * counts, and time and entries into the kernel can still be sampled. */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/policy/breakdown.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/base.h"

struct cpu;
struct arch_frame;
struct chain_images;
struct hpm_user_page;

extern const struct arg hpm_args[], frequency_args[]; /* boot arguments hpm.*, freq.* */
/* Interval in ms at which the machine's breakdown is printed; 0: never. */
extern uint64_t hpm_print_ms;

#define HPM_LOGS_MAX     4 /* at a time: logs, see hpm/log.h */
#define HPM_PROFILES_MAX 4 /* profiles, see hpm/sampling.h */
#define HPM_WATCHES_MAX  (HPM_LOGS_MAX + HPM_PROFILES_MAX)

/* Part of struct thread; only hpm reads or writes it. */
struct hpm_thread {
    struct hpm_context counts;
    uint32_t tid, pid;
    uint64_t samples;
    /* Table of its program's symbols (kernel/lib/symbols.h), which stays in memory; NULL: none.
     * Atomic: another CPU's interrupt reads it. */
    const void *symbols;
    const struct chain_images *images; /* of its process (hpm/policy/chain.h); NULL: none */
    struct hpm_user_page *user;        /* written by the CPU the thread runs on; NULL: none */
    uint64_t told_cycles;              /* cycles at the latest hpm_read_news */
    bool told_stopped;  /* no cycles had been added between the latest two hpm_read_news */
    bool ends;          /* it will run no more once it has left its CPU */
    uint64_t reference; /* of the CPUs' frequency (hpm/frequency.c), while it ran */
    uint32_t watched[HPM_WATCHES_MAX]; /* serial of the watch that has it (hpm/watch.h) */
};

/* Probes the backends in order, prints one line, and limits hpm.records and hpm.samples to what
 * memory has room for. cpus: CPUs that will be started. Boot CPU, before the other CPUs start. */
void hpm_init(unsigned cpus);
/* Starts counting on this CPU. Each CPU once, before its first thread, interrupts off. */
void hpm_cpu_init(struct cpu *cpu);
/* Finds out what an access to another chip's cache costs, if remote stalls must be estimated.
 * Thread context, once, when all CPUs run. */
void hpm_cpus_started(void);
const struct hpm_caps *hpm_caps(void);

void hpm_thread_init(struct hpm_thread *t, uint32_t tid, uint32_t pid);
/* Puts `t`, a new thread, under the watches of families that have `parent`. Before it runs. */
void hpm_watch_inherit(struct hpm_thread *t, const struct hpm_thread *parent);
/* Says that `t` will run no more once it has left its CPU, this one. Interrupts off. */
void hpm_thread_ends(struct hpm_thread *t);
/* Charges the counts so far to thread `out`; the next ones are for thread `in`. NULL is the idle
 * thread. One reading of the hardware serves both. Called by the scheduler, interrupts off. */
void hpm_switch(struct hpm_thread *out, struct hpm_thread *in);
/* Counts of a thread that are exact at every switch, HPM_EXACT_MAX at most: cycles, instructions,
 * what trace.counts asks for, and, with trace.frequency, the reference of the CPUs' frequency.
 * hpm_exact_names writes their names with a blank between them; "" if nothing is counted.
 * hpm_exact_read reads `t`, up to its latest switch or hpm_tick; the others are 0. On the CPU that
 * `t` is on or was on last, or while it cannot run; interrupts off.
 * hpm_reference_hz: the frequency of the reference; 0: it is not counted. */
#define HPM_EXACT_MAX 7
void hpm_exact_names(char *out, size_t size);
uint64_t hpm_reference_hz(void);
void hpm_exact_read(const struct hpm_thread *t, uint64_t out[HPM_EXACT_MAX]);
/* Brings the counts of the thread on this CPU up to date. Interrupts off. */
void hpm_account_here(void);
/* Enclose the handlers of all other interrupts. With hpm.accounts=on, what happens between them is
 * counted for a separate account. hpm_interrupt_end gets what hpm_interrupt_begin returned.
 * Interrupts off. */
unsigned hpm_interrupt_begin(void);
void hpm_interrupt_end(unsigned begin);
/* Handles the PMU's interrupt. Interrupts off. */
void hpm_interrupt(struct arch_frame *frame);
/* Brings the running thread's counts up to date, and changes to the next group if its slice is
 * over. Called at each timer tick, interrupts off. */
void hpm_tick(void);

/* Returns the time, by arch_clock_ns, at which this CPU must call hpm_timer next; UINT64_MAX:
 * never. Interrupts off. */
uint64_t hpm_timer_ns(void);
/* hpm_timer takes the samples by time that are due; called from the timer's interrupt. hpm_entered
 * takes those by entries; called before each return to user mode, from an interrupt, a fault or a
 * system call. Interrupts off. */
void hpm_timer(const struct arch_frame *frame);
void hpm_entered_slots(const struct arch_frame *frame);
extern uint32_t hpm_entries; /* slots that sample by entries; see hpm/slot.h */
static inline void hpm_entered(const struct arch_frame *frame)
{
    if (__builtin_expect(__atomic_load_n(&hpm_entries, __ATOMIC_RELAXED) != 0, 0))
        hpm_entered_slots(frame);
}
/* Writes a label to the ground truth of a simulated machine; does nothing on others. */
void hpm_mark(const char *label);
