/*
 * Page accesses: logs of them, per CPU, and the hardware that fills them, if there is any.
 * Trackers (mm/track/track.h) decide what is watched and take the logs; software ones add to the
 * same logs.
 *
 * A CPU's log knows whose turn it is (path_switch), so that every batch belongs to a thread.
 * Address spaces have numbers below PAGE_SPACES, which the kernel deals out (mm/track/track.c); 0
 * is none.
 */
#pragma once
#include "mm/policy/replace/buffered.h"
#include "hpm/path/ring.h"

struct cpu;

struct path_caps {
    uint32_t pab_min, pab_max; /* entries of the page access buffer: powers of two between these */
    uint32_t filter_entries, log_entries;
    unsigned sample_shift_max; /* one page of 2^this can be logged */
};

struct path_config {
    uint32_t pab_entries, filter_entries;
    /* of the unit's log: then it goes to the ring, by itself while there is room, else it
     * interrupts */
    uint32_t threshold;
    uint32_t spill; /* interrupt when so many have gone there by themselves */
};

/* A hardware page-access tracker. All calls but probe: on the CPU concerned, interrupts off. */
struct path_ops {
    const char *name;
    /* Boot CPU, thread context, once. 0, or -ENODEV: there is none. */
    int (*probe)(struct path_caps *caps);
    /* Each CPU once, before what follows: its drains go to this ring, which is in the direct map,
     * in a row, and has so many entries. *interrupts: the unit can, here; else it must be drained
     * often enough. 0 or -EIO. */
    int (*cpu_init)(const struct cpu *cpu, struct page_ring *ring, uint64_t entries,
                    bool *interrupts);
    /* With these sizes, which caps allow; nothing is known from then on, and no space runs. */
    void (*start)(const struct path_config *c);
    /* One page of 2^shift is logged from now on, drawn by a hash of its number; those of a larger
     * shift are among them. At the start shift is 0. */
    void (*sample)(unsigned shift);
    /* The space runs from now on; 0: none. */
    void (*enter)(uint16_t space);
    /* Appends what the unit has logged to the ring, which has room for caps.log_entries. */
    void (*drain)(void);
    /* What the buffers of all CPUs have of the page, BUFFER_USED being told once. */
    enum page_buffered (*buffered)(uint16_t space, vaddr_t va);
    /* On every CPU. */
    void (*forget)(uint16_t space, vaddr_t va);
    void (*forget_space)(uint16_t space);
    /* How many entries it still had: they are lost. */
    uint32_t (*stop)(void);
};

/* NULL-terminated, in probe order. */
extern const struct path_ops path_model;

/* ---- The logs (path.c) ----------------------------------------------------------------------- */
/* Boot, after all CPUs have been started: a log for each. 0 or -ENOMEM. Thread context. */
int path_logs_init(void);
/* The hardware that was found, or NULL. Probes at the first call; thread context. */
const struct path_ops *path_hardware(struct path_caps *caps);
/* Switches the hardware of every CPU on with that, or off. 0, or -EIO. Thread context, no lock
 * held. */
int path_hardware_start(const struct path_config *c);
void path_hardware_stop(void);
/* The hardware of each CPU logs one page of 2^shift, as far as it can: where that is more than
 * before from now on, else from its next interrupt or switch. Thread context, no lock held. */
void path_sample(unsigned shift);
unsigned path_sample_shift(void);
/* The most it can be: 0 where there is no hardware, or it was not looked for. */
unsigned path_sample_max(void);
/* Is the page, by its number, one of those? */
bool path_sampled(uint64_t page, unsigned shift);
/* Does the hardware watch what this space accesses? Takes effect on every CPU before it returns.
 * Thread context, no lock held. */
void path_watch(uint16_t space, bool on);

/* Scheduler, interrupts off, at each switch: who runs from now on. space 0: the kernel, or
 * nobody. */
void path_switch(uint32_t tid, uint16_t space);
/* The hardware's interrupt. */
void path_interrupt(void);
/* Software has seen an access in that space, by the thread that runs if it is its space. False:
 * there is no room. Any context. */
bool path_note(uint16_t space, vaddr_t va, bool write);
/* What this CPU has logged until now can be taken. Any context. */
void path_flush(void);
/* The consumer, having taken what there was: hardware that found no room goes on. Until then it
 * interrupts no more, and what the thread that runs accesses is lost. Thread context, no lock
 * held. */
void path_resume(void);
/* Entries of this CPU that wait to be taken. Any context. */
uint64_t path_waiting(void);
/* The logs, by CPU; for the consumer. */
struct page_log *const *path_logs(unsigned *count);

struct path_account {
    uint64_t entries, lost; /* logged; dropped for want of room, by hardware or software */
    /* of the hardware; in them and in draining, but for entry and return */
    uint64_t interrupts, ticks;
    /* ticks in which threads ran that the hardware tracks, up to their CPUs' latest batch */
    uint64_t ran;
};
void path_account(struct path_account *out);
