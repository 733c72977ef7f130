/*
 * A process whose threads live for a short while, one after the other on each CPU, or a family of
 * processes with such threads, counted by a session of hpm on the simulated machine's double,
 * beside the truth.
 */
#pragma once
#include "test/host/double/hpm_threads.h"

enum lives_program {
    LIVES_ALIKE,  /* every thread does the same */
    LIVES_KINDS,  /* three kinds of work, each thread's drawn */
    LIVES_PHASES, /* the same, in runs of some forty threads of one kind */
    LIVES_PROGRAMS
};
enum { LIVES_EVENTS_MAX = 17 };

struct lives {
    unsigned threads;   /* in all */
    uint64_t cycles;    /* that each lives on average; of all but ALIKE exponential */
    unsigned cpus;      /* 1..DOUBLE_CPUS */
    unsigned processes; /* 1; more: a family's, one after the other, as many threads in each */
    unsigned events;    /* that the session counts, 2..LIVES_EVENTS_MAX */
    uint64_t slice;     /* hpm.slice_cycles */
    enum lives_program program;
    uint64_t seed;
};

/* What the session says of one event, and what there was. */
struct lives_count {
    const char *name;
    struct estimate estimate;
    uint64_t truth;
};

/* Boots the double without the breakdown, runs the process or the family to its end and reads it.
 * out: l->events of them. */
void lives_run(const struct lives *l, struct lives_count *out);
/* The name of event i of a session. */
const char *lives_event(unsigned i);
