/*
 * Reading counts: breakdowns of threads, CPUs and the machine, sums, and sessions that count events
 * by name.
 */
#pragma once
#include "hpm/events/list.h"
#include "hpm/events/metric.h"
#include "hpm/hpm.h"
#include "hpm/policy/breakdown.h"
#include "hpm/pmu/user_page.h"

/* One CPU, until its last switch or tick; the caller's own until now. */
void hpm_read_cpu(const struct cpu *cpu, struct hpm_breakdown *out);
/* Whole machine, all CPUs, until now. Thread context. */
void hpm_read_machine(struct hpm_breakdown *out);
/* What monitoring itself took since boot, all CPUs: cycles of clock and of instruction-less
 * hardware work. */
uint64_t hpm_own_cycles(void);
/* One thread, up to its CPU's last switch or tick. A tenth of the work of hpm_read_thread, for who
 * looks often. Any context. */
void hpm_read_remote(const struct hpm_thread *t, struct hpm_remote *out);
/* One thread, including its present stretch up to its CPU's last switch or tick. */
void hpm_read_thread(const struct hpm_thread *t, struct hpm_breakdown *out);
/* The same for one reader who looks again and again. False: nothing is new since, nor was when it
 * was read the last time, so that a thread that stops is read once more; out is then left as it
 * is. */
bool hpm_read_news(struct hpm_thread *t, struct hpm_breakdown *out);
/* Brings the counts up to date that other CPUs have of the process's threads, or, pid 0, of
 * everything: what is read afterwards has all that happened before. Interrupts those CPUs. Thread
 * context, no spinlock held. */
void hpm_update(uint32_t pid);
/* Adds logical counts (bit i of counts; those that there are not are left out) of the thread, as
 * hpm_read_thread reads them, or of the machine, what its CPUs did while they had no thread
 * included. Any context. */
void hpm_sum_thread(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums);
/* The same of a thread that will never run again, for a sum that is kept; or of one that may, for a
 * reading that no other one is subtracted from. What threads that were too short to be scaled by
 * themselves have come to is closed as a unit whenever it is long enough. Any context. */
void hpm_sum_ended(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums);
/* Adds a sum that has been kept, but for logical counts that have another event by now. Any
 * context. */
void hpm_sum_past(const struct hpm_sums *past, struct hpm_sums *sums);
/* The same for a sum that is kept, or for such a reading: closes units as hpm_sum_ended does.
 * Any context. */
void hpm_sum_kept(const struct hpm_sums *past, struct hpm_sums *sums);
void hpm_sum_machine(uint64_t counts, struct hpm_sums *sums);
/* The same by account, which all together are the machine. */
void hpm_sum_accounts(uint64_t counts, struct hpm_sums sums[HPM_ACCOUNTS]);
/* Sums of this CPU's own, cleared, for the reader to work in. Interrupts off until they are not
 * needed any more. */
struct hpm_sums *hpm_sums_here(void);
/* The logical counts that are the figures of a breakdown. */
uint64_t hpm_figures(void);
/* The figures among sums of threads. */
void hpm_sums_breakdown(const struct hpm_sums *sums, struct hpm_breakdown *out);
/* Table on the console: cause, source, estimate (latency x accesses) beside measurement, error ([A]
 * Table 2.7); what is not counted is named, not shown. */
void hpm_breakdown_print(const char *title, const struct hpm_breakdown *b);

/*
 * A session: events and metrics that somebody asks for by name (hpm/events/event.h, metric.h),
 * counted for every thread of the machine from its opening to its closing, beside the breakdown's
 * figures and other sessions' events.
 */
struct hpm_session;
/* Memory that a session takes. */
size_t hpm_session_bytes(void);
/*
 * names: separated by commas or blanks; modes as cycles:u. 0; -ENODEV: no PMU; -EINVAL, -ENOENT,
 * -ENOTSUP: as event_parse and metric_find; -ENOSPC: more than can be counted at a time, or beside
 * what is counted already; -ENOMEM. err says which name and why. Every CPU counts them when it
 * returns. Thread context; one call of this or hpm_session_close at a time.
 */
int hpm_session_open(const char *names, struct hpm_session **out, char *err, size_t err_size);
void hpm_session_close(struct hpm_session *s);

/* What can be named: event_list. 0; -ENOENT: no more; -ENODEV: as hpm_session_open. Thread
 * context. */
int hpm_list(uint32_t *cursor, struct event_listed *out);

struct hpm_value {
    const char *name;         /* as it was asked for */
    const char *unit;         /* of a metric; NULL: it is a count */
    struct estimate estimate; /* a count */
    struct metric_value metric;
    uint32_t seen_permille; /* of the time: of the event, or the least seen of a metric's */
    bool fitted;            /* it was scaled to something else: see hpm_session_fit */
    /* of a count: what was really counted, for how much of what length */
    uint64_t counted, seen, length;
};
/* The logical counts it needs, for sums. */
uint64_t hpm_session_counts(const struct hpm_session *s);
/* Names that were asked for. */
unsigned hpm_session_values(const struct hpm_session *s);
/* The sums are complete, a difference is taken: makes what contains what by definition fit
 * (hpm/events/nest.h). One call for a session at a time. */
void hpm_session_fit(struct hpm_session *s, struct hpm_sums *sums);
/* Number i of them in those sums, which may be a difference. */
void hpm_session_value(const struct hpm_session *s, unsigned i, const struct hpm_sums *sums,
                       struct hpm_value *out);
void hpm_sums_copy(struct hpm_sums *to, const struct hpm_sums *from);
/* Both under the same plan, unless one is empty. */
void hpm_sums_add(struct hpm_sums *sum, const struct hpm_sums *part);
/* earlier: a reading of the same threads and counts. */
void hpm_sums_sub(struct hpm_sums *from, const struct hpm_sums *earlier);

/*
 * The calling thread, which is t, can read the session's events by itself from now on, by what is
 * in the page: events in the order of the names, metrics are none. page: a whole one, zeroed,
 * which user mode may read and not write, or the one that the thread has already. number: what user
 * mode knows the session by. 0; -ENOTSUP: this machine's counters cannot be read in user mode, or
 * not all CPUs'.
 */
int hpm_user_open(struct hpm_thread *t, const struct hpm_session *s, uint32_t number,
                  struct hpm_user_page *page);
/* No more, by the thread itself. Its page, or NULL: it has none. */
struct hpm_user_page *hpm_user_close(struct hpm_thread *t);
