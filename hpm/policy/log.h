/*
 * A CPU's log of what threads have counted, over time: a ring of records. Its writer is that CPU,
 * interrupts off; its reader is any one other at a time.
 *
 * A record has the totals of its thread since the session was opened, as they are: the counts, and
 * the length in which each was counted. They only grow. So the difference of two records is what
 * was counted between them, whatever records were lost between, and nothing need be kept of each
 * thread. Only a thread's last record has none behind it that could make up for it: without room
 * for that, its totals are added to the CPU's *rest*, which is told by a record of its own as soon
 * as there is room. So the totals of last records and those of rests add up to what all threads
 * that have ended have counted.
 *
 * A full ring loses the newest record, never a stored one. Records say how many were lost.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/policy/mux.h"

/* Why there is a record: the time had come; the thread left its CPU; it has ended; the reader asked
 * for the present state; the record is a rest, of `tid` threads. */
enum log_why { LOG_TIME, LOG_LEFT, LOG_ENDED, LOG_ASKED, LOG_REST };

struct log_record {
    uint64_t time_ns;
    uint64_t length; /* cycles or instructions that the thread has run */
    uint32_t tid, pid;
    uint32_t lost; /* records that the ring had no room for since the one before */
    uint16_t cpu;
    uint8_t why, figures;
    struct mux_raw figure[];
};

struct log_ring {
    uint64_t head, tail; /* records ever stored, the writer's; ever taken, the reader's */
    uint32_t size;       /* records that there is room for */
    uint32_t bytes;      /* of a record */
    uint32_t lost;       /* since the latest record that was stored */
    uint16_t cpu;
    uint8_t figures;
    uint8_t *records;
    struct log_record *spare; /* where a record is written that there is no room for */
    struct log_record *rest;  /* tid: threads that have ended without a record of their own */
};

/* Returns the bytes of a record of `figures` figures, at most GROUP_EVENTS_MAX. */
size_t log_record_bytes(unsigned figures);
/* Makes an empty ring in `memory`, which is zeroed and aligned to 8. Returns the records that there
 * is room for; 0: too few bytes. */
uint32_t log_init(struct log_ring *r, void *memory, size_t bytes, unsigned figures, unsigned cpu);
/* Begins a record: returns the place that the caller fills in, except lost, cpu and figures.
 * log_commit follows. */
struct log_record *log_place(struct log_ring *r, uint64_t now_ns);
void log_commit(struct log_ring *r, struct log_record *record);
/* Tells what no record has told: a rest, and records lost. */
void log_tell_rest(struct log_ring *r, uint64_t now_ns);

/* For the reader: the number of records that wait, record number i of them, and that the first n
 * have been taken. */
uint64_t log_waiting(const struct log_ring *r);
const struct log_record *log_at(const struct log_ring *r, uint64_t i);
void log_taken(struct log_ring *r, uint64_t n);
