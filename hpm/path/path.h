/*
 * Logs of page accesses, one for each CPU, and the hardware that fills them, if there is any.
 * Trackers (mm/track/track.h) decide what is watched and take the logs' entries; software trackers
 * add to the same logs.
 *
 * A CPU's log knows the running thread (path_switch), so that every batch belongs to a thread.
 * Address spaces have numbers below PAGE_SPACES, which the kernel assigns (mm/track/track.c); 0 is
 * none.
 */
#pragma once
#include "mm/policy/replace/buffered.h"
#include "hpm/path/ring.h"

struct cpu;

struct path_caps {
    uint32_t pab_min, pab_max; /* entries of the page access buffer: powers of two in this range */
    uint32_t filter_entries, log_entries;
    unsigned sample_shift_max; /* one page of 2^this can be logged */
};

struct path_config {
    uint32_t pab_entries, filter_entries;
    /* Entries of the unit's log at which it is moved to the ring: by itself while there is room,
     * else it interrupts. */
    uint32_t threshold;
    uint32_t spill; /* interrupt after this number of entries moved by itself */
};

/* A hardware page-access tracker. All calls but probe: on the CPU concerned, interrupts off. */
struct path_ops {
    const char *name;
    /* Looks for the hardware. Returns 0, or -ENODEV if it is absent. Boot CPU, thread context,
     * once. */
    int (*probe)(struct path_caps *caps);
    /* Sets up this CPU's unit, which drains into `ring`, in the direct map and contiguous, with
     * `entries` entries. *interrupts: the unit can interrupt here; else it must be drained often
     * enough. Returns 0 or -EIO. Each CPU once, before the calls below. */
    int (*cpu_init)(const struct cpu *cpu, struct page_ring *ring, uint64_t entries,
                    bool *interrupts);
    /* Starts the unit with these sizes, which caps allow. Its buffers are empty, and no space
     * runs. */
    void (*start)(const struct path_config *c);
    /* Logs one page of 2^shift from now on, chosen by a hash of its number; pages of a larger shift
     * are among them. After start, shift is 0. */
    void (*sample)(unsigned shift);
    /* Tracks `space` from now on; 0: none. */
    void (*enter)(uint16_t space);
    /* Appends the unit's log to the ring, which has room for caps.log_entries. */
    void (*drain)(void);
    /* Returns what the buffers of all CPUs have of the page. BUFFER_USED is returned once. */
    enum page_buffered (*buffered)(uint16_t space, vaddr_t va);
    /* Drop a page, or all pages of a space. On every CPU. */
    void (*forget)(uint16_t space, vaddr_t va);
    void (*forget_space)(uint16_t space);
    /* Stops the unit. Returns the number of entries lost in its log. */
    uint32_t (*stop)(void);
};

/* The tracker of the simulated multiprocessor. */
extern const struct path_ops path_model;

/* ---- The logs (path.c) ----------------------------------------------------------------------- */
/* Makes a log for each CPU. Returns 0 or -ENOMEM. Thread context, at boot, when all CPUs have been
 * started. */
int path_logs_init(void);
/* Returns the hardware, or NULL. Probes at the first call. Thread context. */
const struct path_ops *path_hardware(struct path_caps *caps);
/* Switch the hardware of every CPU on, as configured, or off. path_hardware_start returns 0 or
 * -EIO. Thread context, no lock held. */
int path_hardware_start(const struct path_config *c);
void path_hardware_stop(void);
/* Makes the hardware of each CPU log one page of 2^shift, as far as it can: at once if that is more
 * than before, else from its next interrupt or switch. Thread context, no lock held. */
void path_sample(unsigned shift);
unsigned path_sample_shift(void);
/* Returns the largest shift; 0: there is no hardware, or it was not looked for. */
unsigned path_sample_max(void);
/* Returns whether the page of this number is logged with `shift`. */
bool path_sampled(uint64_t page, unsigned shift);
/* Makes the hardware track accesses to `space`, or not. In effect on every CPU when it returns.
 * Thread context, no lock held. */
void path_watch(uint16_t space, bool on);

/* Notes the thread that runs from now on. space 0: the kernel, or no thread. Called by the
 * scheduler at each switch, interrupts off. */
void path_switch(uint32_t tid, uint16_t space);
/* Handles the hardware's interrupt. */
void path_interrupt(void);
/* Logs an access that software has seen in `space`, for the running thread if it is its space.
 * Returns false if there is no room. Any context. */
bool path_note(uint16_t space, vaddr_t va, bool write);
/* Makes everything this CPU has logged available to the consumer. Any context. */
void path_flush(void);
/* Lets hardware that found no room go on, when the consumer has taken entries. Until then it does
 * not interrupt, and accesses of the running thread are lost. Thread context, no lock held. */
void path_resume(void);
/* Returns the entries of this CPU that wait to be taken. Interrupts off. */
uint64_t path_waiting(void);
/* Returns the logs, by CPU; for the consumer. */
struct page_log *const *path_logs(unsigned *count);

struct path_account {
    uint64_t entries, lost; /* logged; dropped for lack of room, by hardware or software */
    /* Of the hardware. ticks: in interrupts and drains, without entry and return. */
    uint64_t interrupts, ticks;
    /* Ticks in which threads ran that the hardware tracks, up to their CPUs' latest batch. */
    uint64_t ran;
};
void path_account(struct path_account *out);
