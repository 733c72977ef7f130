/*
 * The READY threads of one CPU: which one runs next, and when the running one must give way.
 *
 * Priorities are strict, but for one thing: one whose threads have not had a full slice for
 * starve_ns while others ran gets a slice, which no other thread cuts short. So a thread that is
 * alone at its priority waits at most for starve_ns, the running thread's slice and one of each
 * other starved priority, and each of n threads 3 n times as long, whatever others do: no tag is
 * more than three slices later than another.
 *
 * Within a priority the CPU is shared evenly, by start-time fair queueing (Goyal, Guo and Vin, "A
 * hierarchical CPU scheduler for multimedia operating systems", OSDI 1996). A thread's start tag
 * is the virtual time at which its turn began, or is due: that of its last turn and what it used of
 * it. The smallest tag runs next, and is the priority's virtual time. One that has slept keeps
 * its tag, or is READY_CREDIT behind virtual time if that is later (bounded borrowing, as in Duda
 * and Cheriton's BVT, SOSP 1999): so who uses less than an even share runs as soon as it wakes, and
 * sleeping gains no more than that. One that was preempted keeps its tag, and goes on with the
 * rest of its slice before others have theirs. Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/list.h"

enum { PRIO_IDLE = 0, PRIO_LOW, PRIO_NORMAL, PRIO_HIGH, PRIO_KERNEL, PRIO_COUNT };

/* Virtual time, so that slices of any length are alike. */
#define READY_SLICE  ((uint64_t)65536) /* a full slice */
#define READY_CREDIT READY_SLICE /* a sleeper's tag is that much behind virtual time at most */
#define READY_DEBT   (2 * READY_SLICE) /* no tag is further ahead of it */
/* a thread that wakes preempts one that is that much ahead */
#define READY_PREEMPTS (READY_SLICE / 4)
/* tags closer together count as equal: first come, first served */
#define READY_BUCKET  (READY_SLICE / 16)
#define READY_BUCKETS 64

/* A thread's part in it. */
struct ready_thread {
    struct list link; /* in a queue while the thread waits */
    uint8_t prio;
    uint64_t start; /* tag, in its queue's and priority's virtual time */
    uint64_t used;  /* of the turn that began then */
};

/* A calendar: threads by tag, from READY_CREDIT behind virtual time to READY_DEBT ahead of it. */
struct ready_level {
    /* by start / READY_BUCKET, modulo their number; next one first */
    struct list bucket[READY_BUCKETS];
    uint64_t full; /* bit b: bucket b has threads */
    uint64_t now;  /* virtual time: never goes back */
    /* If there are threads: since when those of this priority have not had a full slice, and how
     * much of one. A turn counts when it ends: being preempted ends none. */
    uint64_t passed_over_ns, served;
};

struct ready_queue {
    struct ready_level level[PRIO_COUNT];
    uint32_t occupied;            /* bit p: level p has threads */
    struct ready_thread *running; /* its turn has not ended, and it is in no queue; or NULL */
    bool granted;                 /* it was starved: it keeps its slice */
};

/* How a thread comes to wait. */
enum ready_how {
    READY_NEW,       /* for the first time: behind those that wait */
    READY_WOKEN,     /* having slept, or from another CPU */
    READY_PREEMPTED, /* with a rest of its slice */
    READY_OVER,      /* its slice is over */
    READY_YIELDED,   /* it has given it up: behind those that wait */
};

void ready_init(struct ready_queue *q);

/* Lets a thread that is in no queue wait. since_ns: since when it has wanted to run, at most
 * now. */
void ready_add(struct ready_queue *q, struct ready_thread *t, enum ready_how how,
               uint64_t since_ns);
void ready_remove(struct ready_queue *q, struct ready_thread *t);

/* Counts what the thread has run: ran_ns of a slice of slice_ns (0: none yet, nothing is
 * counted). */
void ready_charge(struct ready_thread *t, uint64_t ran_ns, uint64_t slice_ns);

/* Takes the thread that runs next out, or returns NULL when none waits. The one taken before has
 * been added again, or sleeps from now on. */
struct ready_thread *ready_take(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns);

/* Whether the running thread, charged up to now, gives way at once to t, which waits now. It then
 * comes behind t, but with the rest of its slice before those that would come later anyway. */
bool ready_preempts(struct ready_queue *q, const struct ready_thread *t);
/* Whether it gives way at the end of its slice, which is now; if not it has another. */
bool ready_slice_over(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns);

/* A thread that waits in no queue belongs to another one from now on, or has another priority: as
 * far behind the others or ahead of them as it was. */
void ready_transfer(struct ready_queue *from, const struct ready_queue *to, struct ready_thread *t);
void ready_set_priority(const struct ready_queue *q, struct ready_thread *t, uint8_t prio);

/* The next one of a priority, or NULL. */
struct ready_thread *ready_first(const struct ready_queue *q, unsigned prio);
/* All of them, highest priority first, in each the one first that would run last; NULL when there
 * is no other. */
struct ready_thread *ready_last(const struct ready_queue *q);
struct ready_thread *ready_before(const struct ready_queue *q, const struct ready_thread *t);

/* Panics on a broken invariant. Returns the number of threads. */
unsigned ready_check(const struct ready_queue *q);
