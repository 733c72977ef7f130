/*
 * The inside of perf events.
 *
 * Locking: [G] = sessions_gate, [L] = perf_lock, [R] = perf_rings, a mutex around the gate, [-] =
 * fixed after creation. What [L] guards is written under the gate, too, but for nodes that come and
 * go with threads. The list of events is changed under [R] and [G], and read under either.
 */
#pragma once
#include "hpm/count.h"
#include "hpm/linux/attr.h"
#include "hpm/linux/count.h"
#include "hpm/linux/events.h"
#include "hpm/linux/record.h"
#include "hpm/sampling.h"
#include "kernel/lib/list.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/perf.h"
#include "kernel/proc/session.h"
#include "mm/object.h"
#include <linux/poll.h>

#define PERF_MEMBERS_MAX 63     /* of a group, beside its leader */
#define PERF_NODES_MAX   262144 /* of all events */

/* A session that counts one event or one group, for all that ask for the same. */
struct perf_unit {
    struct list link; /* [G] */
    unsigned refs;    /* [G] */
    struct hpm_session *hpm;
    char text[]; /* as hpm_session_open() has it */
};

/* What an event counts: a thread or a CPU. */
struct perf_node {
    struct list in_event;                /* [L] */
    struct perf_node *next, **in_thread; /* [L] of the thread's events */
    struct perf_event *event;            /* [-] */
    struct thread *thread;               /* [-] NULL: a CPU */
    bool counts;                         /* [L] since `begin` */
    struct perf_count begin;             /* [L] */
};

struct perf_event {
    struct vnode v;
    struct perf_event_attr attr;  /* [-] */
    struct perf_scope scope;      /* [-] as it was opened */
    struct perf_found found;      /* [-] */
    char name[PERF_NAME_MAX];     /* [-] of what a session counts; empty: none does */
    uint64_t id;                  /* [-] */
    uint32_t owner;               /* [-] tid of the thread that has opened it */
    struct list all;              /* [G] */
    struct perf_event *leader;    /* [G] of its group; itself, mostly */
    struct list members;          /* [G] of a leader: the others of its group */
    struct list in_members;       /* [G] */
    unsigned member_count;        /* [G] */
    bool on;                      /* [G] it was enabled */
    bool waits_exec;              /* [L] it is enabled when its thread runs another program */
    bool begins;                  /* [G] perf_exec() enables it */
    bool failed;                  /* [G] it is pinned, and cannot be counted all the time */
    struct perf_unit *unit;       /* [L] what counts it; NULL: nothing yet, or needs none */
    unsigned wish;                /* [L] its number in that */
    struct list nodes;            /* [L] */
    bool had_threads;             /* [L] */
    struct perf_count sum;        /* [L] of the past */
    bool wants_code;              /* [-] its samples have chains of calls */
    bool apart;                   /* [-] it samples and does not count */
    struct perf_ring *ring;       /* [R] where its records go, or NULL */
    struct perf_sampler *sampler; /* [R] NULL: it has no samples */
    uint64_t on_ns;               /* [G] when it was enabled last, by arch_clock_ns() */
    uint64_t lost;                /* [R] records without room */
    bool written;                 /* [R] its readers are to be told */
    struct file_owner told;       /* [L] of its file; id 0: it is told of nothing */
    uint64_t left;                /* [R] samples until it is disabled; 0: it goes on */
    bool ended;                   /* [R] there were as many: it is to be disabled */
    bool hastened;                /* [R] it is one of those for which samples are hastened */
    uint32_t untold;              /* [R] samples that readers were not told of */
    struct poll_source changes;
};

extern struct spinlock perf_lock;

/* perf_count.c. Gate entered. */
/* Stops counting all of a leader's group, and begins again as far as it is enabled. */
void perf_pause(struct perf_event *leader);
void perf_resume(struct perf_event *leader); /* the two that follow */
/* Has a session count a paused group, if it is enabled: may take ms. */
void perf_seat(struct perf_event *leader);
void perf_begin(struct perf_event *leader);
/* Gives up what counts a group, which is paused: its members have changed. */
void perf_unseat(struct perf_event *leader);
/* Returns whether a group with one more member could be counted at the same time. */
bool perf_fits(const struct perf_event *leader, const struct perf_event *more);
/* Reads an event, which counts on. */
void perf_read_event(struct perf_event *e, struct perf_count *out);
/* Makes other CPUs account for what they run, so that the group's readings are up to date. */
void perf_update(const struct perf_event *leader);
/* perf_lock held: begins and stops counting a node. */
void perf_begin_locked(struct perf_node *n);
void perf_end_locked(struct perf_node *n);

/* perf_task.c */
/* Makes the event count a thread, whose process's lock is held, or, NULL, its scope's CPU. Returns
 * 0 or -ENOMEM. */
int perf_attach(struct perf_event *e, struct thread *t);
/* Frees its nodes, for it goes. */
void perf_detach(struct perf_event *e);

/* perf_signal.c */
/* Has samples written as soon as they are taken as long as the event has an owner or samples
 * left. perf_rings held. `goes`: it has neither any more. */
void perf_hasten(struct perf_event *e, bool goes);
/* Sends an event's owner the signal that there is news: POLL_IN, POLL_HUP. Nothing but perf_rings
 * held. */
void perf_signal(struct perf_event *e, int news);

/* perf_file.c */
extern const struct vnode_ops perf_ops;
static inline struct perf_event *perf_of(const struct vnode *v)
{
    return container_of(v, struct perf_event, v);
}
/* perf.c: all events. [G] */
extern struct list perf_events;
/* perf.c: takes an event that goes out of its group and of the list. */
void perf_forget(struct perf_event *e);

/* perf_ring.c. perf_rings held. */
extern struct mutex perf_rings;
#define PERF_READY (POLLIN | POLLRDNORM)
/* Writes a record, or counts it as lost. */
void perf_ring_write(struct perf_event *e, const struct perf_ident *i, const void *record,
                     size_t n);
/* A sample was written: tells readers if it is time for that. */
void perf_ring_sampled(struct perf_event *e);
/* Returns, once, whether readers were told of records. */
bool perf_ring_take_news(struct perf_event *e);
/* Counts records as lost from now on, or no longer. Returns 0; -EINVAL: it has no buffer. */
int perf_ring_pause(struct perf_event *e, bool on);
/* Gives up its buffer. */
void perf_ring_let(struct perf_event *e);
/* Writes to the buffer of another event from now on; NULL: to none. Returns 0 or -EINVAL. */
int perf_ring_share(struct perf_event *e, struct perf_event *with);

/* perf_sample.c */
extern uint32_t perf_wide; /* atomic: events of CPUs, which tell of all threads */
/* Begins and ends sampling for e; name: of its criterion, with modes. Returns 0; -EOPNOTSUPP: it
 * cannot be sampled here; -EINVAL: the period; -ENOMEM. perf_rings held. */
int perf_sampler_take(struct perf_event *e, const char *name);
void perf_sampler_let(struct perf_event *e);
/* Begins sampling anew, with another period or frequency. Returns as perf_sampler_take, and then
 * goes on as before. perf_rings held. */
int perf_sampler_change(struct perf_event *e, uint64_t period);
/* Returns whether a sampler of the event samples by time. */
static inline bool perf_samples_time(const struct perf_event *e)
{
    return e->found.is_software && e->found.software <= PERF_CPU_CLOCK;
}
/* Writes the name of the criterion that samples the event. Returns false: it is in no mode. */
bool perf_sampler_name(const struct perf_event *e, char name[PERF_NAME_MAX]);
/* Returns whether the event's records have what thread tid does on a CPU. perf_rings held. */
bool perf_tells_of(struct perf_event *e, uint32_t tid, unsigned cpu);
/* Wakes readers of what was written, and sends them signals. perf_rings held. */
void perf_tell_readers(void);
/* Writes the samples that were taken until then, in order of time: buffers have those of several
 * samplers. perf_rings held. */
void perf_pump_until(uint64_t until_ns);
/* Has all CPUs hand over what their hardware has recorded. Returns until when there are all
 * samples. Nothing held. */
uint64_t perf_take_records(void);
/* Writes all samples that there are to the buffers. Nothing held. */
void perf_pump(void);
/* The same of what is in memory, perf_rings held. */
void perf_pump_locked(void);
/* Tell the buffers what a thread does: it has made another, and ends; the caller maps code. */
void perf_told_begin(const struct thread *parent, const struct thread *child);
void perf_told_end(const struct thread *self);
void perf_told_exec(const struct thread *self);
