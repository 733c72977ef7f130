/* A process with short-lived threads, one after the other on each CPU, or a family of such
 * processes, counted by a session of hpm on the simulated machine's double, beside the truth. */
#pragma once
#include "test/host/double/hpm_threads.h"

enum lives_program {
    LIVES_ALIKE,  /* every thread does the same */
    LIVES_KINDS,  /* three kinds of work, drawn for each thread */
    LIVES_PHASES, /* three kinds, in runs of some forty threads of one kind */
    LIVES_PROGRAMS
};
enum { LIVES_EVENTS_MAX = 17 };

struct lives {
    unsigned threads;   /* of all processes */
    uint64_t cycles;    /* mean life of a thread; exponential except with ALIKE */
    unsigned cpus;      /* 1..DOUBLE_CPUS */
    unsigned processes; /* 1; more: a family, one after the other, with equally many threads */
    unsigned events;    /* in the session, 2..LIVES_EVENTS_MAX */
    uint64_t slice;     /* hpm.slice_cycles */
    enum lives_program program;
    uint64_t seed;
};

/* The session's reading of one event, and the truth. */
struct lives_count {
    const char *name;
    struct estimate estimate;
    uint64_t truth;
};

/* Boots the double without the breakdown, runs the process or the family to its end and reads it.
 * out: by event. */
void lives_run(const struct lives *l, struct lives_count *out);
/* Returns the name of event i of a session. */
const char *lives_event(unsigned i);
