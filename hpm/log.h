/*
 * Logs: what threads have counted of a session's events, over time (hpm/policy/log.h). A CPU
 * appends a record when a watched thread leaves it, and, while one runs there, at the end of every
 * period, by its own timer. No other CPU is interrupted for it.
 */
#pragma once
#include "hpm/count.h"
#include "hpm/policy/log.h"

struct hpm_log;

#define HPM_LOG_EVERY_MIN_NS (20 * NS_PER_US)
#define HPM_LOG_EVERY_MAX_NS (3600 * NS_PER_S)
#define HPM_LOG_BYTES_MIN    4096
#define HPM_LOG_BYTES_MAX    (1u << 20)

struct hpm_log_what {
    uint64_t every_ns; /* period; 0: none */
    /* Whose threads: of this process, and, with family, of those that they start from then on; 0:
     * all threads. */
    uint32_t pid;
    bool family;
    uint32_t bytes; /* of memory for each CPU */
};
/* Starts a log of the session's events in the order of their names; metrics have no record. Returns
 * 0; -EINVAL: the session has metrics only; -ENOSPC: there are HPM_LOGS_MAX already; -ENOMEM. One
 * call of this, or of the others below, at a time. Thread context, no spinlock held. */
int hpm_log_open(const struct hpm_session *s, const struct hpm_log_what *what,
                 struct hpm_log **out);
/* Ends the log, before its session is closed. */
void hpm_log_close(struct hpm_log *log);
/* Returns the figures, and the bytes, of each of its records. */
unsigned hpm_log_figures(const struct hpm_log *log);
size_t hpm_log_record_bytes(const struct hpm_log *log);
/* Makes every CPU write a record of its running thread, and one of its rest. Interrupts all CPUs,
 * so it is for the end of a log. */
void hpm_log_ask(void);
/* Copies records of one CPU that wait, the oldest first and `bytes` at most, and says which CPU's.
 * They stay until hpm_log_taken. Returns their number; 0: no CPU has any. */
size_t hpm_log_peek(const struct hpm_log *log, void *out, size_t bytes, unsigned *cpu);
/* Takes out the n records that were copied last. */
void hpm_log_taken(struct hpm_log *log, unsigned cpu, size_t n);
