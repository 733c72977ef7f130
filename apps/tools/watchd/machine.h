/*
 * What the kernel says of the machine, read at intervals: where cycles went since the reading
 * before and since the beginning, for the machine, its processes and their threads; where threads
 * run; memory; what the sharing detector has found and decided.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "apps/tools/watchd/network.h"
#include "kernel/proc/abi.h"

enum {
    MACHINE_CPUS = 256,
    MACHINE_THREADS = 512, /* shown; further ones are counted */
    MACHINE_PROCESSES = 64,
    MACHINE_DECISIONS = 64, /* of one reading */
    MACHINE_EVENTS = 16,
    MACHINE_MOVES = 256, /* of one reading */
};

/* A breakdown: since the beginning, and since the reading before. */
struct machine_cycles {
    struct sys_breakdown total, since;
};

struct machine_thread {
    struct sys_thread_state now, before;
    struct machine_cycles cycles;
    uint64_t reading; /* at which it was there */
};

struct machine_process {
    uint32_t pid, threads;
    char name[32];
    struct machine_cycles cycles;
    struct sys_memory memory, memory_before;
    struct sys_curve curve;
    bool has_curve, has_sharing;
    /* sharing has the latest clusters that were found. When threads are placed well a later
     * detection finds none: its time; 0: there is no later one. */
    uint64_t later_ns;
    struct sys_sharing sharing;
    uint64_t reading;
};

struct machine_move {
    uint32_t pid, tid, from, to; /* CPUs */
};

struct machine {
    uint64_t reading, ns, before_ns; /* number and time of this reading, and time of the last */
    uint64_t took_ns;                /* to read all of this */
    bool counts;                     /* there are counters */
    bool model;                      /* time is that of the simulated machine */
    int cpus, chips;
    struct sys_cpu cpu[MACHINE_CPUS], cpu_before[MACHINE_CPUS];
    struct machine_cycles cycles;
    struct machine_process *process[MACHINE_PROCESSES];
    int processes;
    struct machine_thread *thread[MACHINE_THREADS];
    int threads, threads_left_out;
    struct machine_move move[MACHINE_MOVES];
    int moves;
    struct sys_decision decision[MACHINE_DECISIONS];
    int decisions;
    uint64_t decision_next, decisions_lost;
    /* Of the machine: since the reading before, and since they are counted. */
    struct sys_hpm_value event[MACHINE_EVENTS], event_total[MACHINE_EVENTS];
    int events, session;  /* session: 0: none */
    char events_why[160]; /* why there are none */
    struct network network;
};

/* Begins: counts these events by name beside the breakdown; "": none. */
void machine_begin(struct machine *m, const char *events);
/* Counts other events from now on. Returns 0, or an error with the reason in events_why. */
int machine_events(struct machine *m, const char *events);
/* Reads all. */
void machine_read(struct machine *m);
/* Returns ns since boot. */
uint64_t machine_ns(void);
/* Returns whether processes other than `own` run. */
bool machine_others(const struct machine *m, uint32_t own);
