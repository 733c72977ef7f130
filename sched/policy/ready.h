/*
 * The READY threads of one CPU: which one runs next, and when the running one must give way.
 *
 * Priorities are strict, with one exception: a priority with threads that have not had a full slice
 * for starve_ns while others ran gets a slice, which no other thread cuts short. So a thread that
 * is alone at its priority waits at most for starve_ns, the running thread's slice and one slice of
 * each other starved priority. Each of n threads waits at most 3 n times as long, since no tag is
 * more than three slices later than another.
 *
 * Within a priority the CPU is shared evenly, by start-time fair queueing (Goyal, Guo and Vin, "A
 * hierarchical CPU scheduler for multimedia operating systems", OSDI 1996). A thread's start tag is
 * the virtual time at which its turn began or is due: the tag of its last turn plus the part it
 * used of that turn. The thread with the smallest tag runs next, and its tag is the priority's
 * virtual time. A thread that has slept keeps its tag, or gets one READY_CREDIT behind virtual time
 * if that is later (bounded borrowing, as in Duda and Cheriton's BVT, SOSP 1999). So a thread that
 * uses less than an even share runs as soon as it wakes, and sleeping gains no more than that. A
 * preempted thread keeps its tag, and finishes its slice before others have theirs.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/list.h"

enum { PRIO_IDLE = 0, PRIO_LOW, PRIO_NORMAL, PRIO_HIGH, PRIO_KERNEL, PRIO_COUNT };

/* Units of virtual time, in which all slices are equally long. */
#define READY_SLICE  ((uint64_t)65536) /* a full slice */
#define READY_CREDIT READY_SLICE /* a woken thread's tag is at most this far behind virtual time */
#define READY_DEBT   (2 * READY_SLICE) /* no tag is further ahead of virtual time */
/* A woken thread preempts a running one that is this far ahead. */
#define READY_PREEMPTS (READY_SLICE / 4)
/* Tags in one bucket count as equal: first come, first served. */
#define READY_BUCKET  (READY_SLICE / 16)
#define READY_BUCKETS 64

/* A thread's part of a run queue. */
struct ready_thread {
    struct list link; /* in a queue while the thread waits */
    uint8_t prio;
    uint64_t start; /* start tag, in the virtual time of its queue and priority */
    uint64_t used;  /* part of the turn that began at `start` */
};

/* A calendar queue: threads by tag, from READY_CREDIT behind virtual time to READY_DEBT ahead of
 * it. */
struct ready_level {
    /* By start / READY_BUCKET modulo READY_BUCKETS; the next thread of a bucket is first. */
    struct list bucket[READY_BUCKETS];
    uint64_t full; /* bit b: bucket b is not empty */
    uint64_t now;  /* virtual time; never goes back */
    /* While there are threads: the time since which this priority has not had a full slice, and the
     * part of a slice it has had. A turn counts when it ends; preemption does not end it. */
    uint64_t passed_over_ns, served;
};

struct ready_queue {
    struct ready_level level[PRIO_COUNT];
    uint32_t occupied;            /* bit p: level p has threads */
    struct ready_thread *running; /* in no queue, its turn has not ended; or NULL */
    bool granted;                 /* the running thread was starved: its slice is not cut short */
};

/* Why a thread is added to the queue. */
enum ready_how {
    READY_NEW,       /* it is new: goes behind all that wait */
    READY_WOKEN,     /* it has slept, or comes from another CPU */
    READY_PREEMPTED, /* it has a rest of its slice */
    READY_OVER,      /* its slice is over */
    READY_YIELDED,   /* it gave up its turn: goes behind all that wait */
};

void ready_init(struct ready_queue *q);

/* Adds a thread that is in no queue. since_ns: since when it has wanted to run, not in the
 * future. */
void ready_add(struct ready_queue *q, struct ready_thread *t, enum ready_how how,
               uint64_t since_ns);
void ready_remove(struct ready_queue *q, struct ready_thread *t);

/* Charges the thread for ran_ns of a slice of slice_ns (0: it has none yet, nothing is charged). */
void ready_charge(struct ready_thread *t, uint64_t ran_ns, uint64_t slice_ns);

/* Takes out the thread that runs next, or returns NULL if none waits. The thread taken before has
 * been added again, or sleeps from now on. */
struct ready_thread *ready_take(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns);

/* Returns whether the running thread, charged up to now, gives way at once to t, which has just
 * been added. It will then run after t, but finish its slice before threads with later tags. */
bool ready_preempts(struct ready_queue *q, const struct ready_thread *t);
/* Returns whether the running thread gives way at the end of its slice, which is now. If not, it
 * gets another slice. */
bool ready_slice_over(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns);

/* Moves a thread that is in no queue to another queue, or to another priority. It stays as far
 * behind or ahead of virtual time as it was. */
void ready_transfer(struct ready_queue *from, const struct ready_queue *to, struct ready_thread *t);
void ready_set_priority(const struct ready_queue *q, struct ready_thread *t, uint8_t prio);

/* Returns the next thread of a priority, or NULL. */
struct ready_thread *ready_first(const struct ready_queue *q, unsigned prio);
/* Iterate over all threads: highest priority first, within a priority the one that would run last
 * first. NULL: there is no further one. */
struct ready_thread *ready_last(const struct ready_queue *q);
struct ready_thread *ready_before(const struct ready_queue *q, const struct ready_thread *t);

/* Panics if an invariant is broken. Returns the number of threads. */
unsigned ready_check(const struct ready_queue *q);
