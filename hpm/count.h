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

/* Reads the breakdown of `cpu`, up to its latest switch or tick; the calling CPU's is brought up to
 * date. */
void hpm_read_cpu(const struct cpu *cpu, struct hpm_breakdown *out);
/* Reads the breakdown of the whole machine. Other CPUs' counts are as of their latest switch or
 * tick. Thread context. */
void hpm_read_machine(struct hpm_breakdown *out);
/* Returns the cycles that monitoring itself took since boot on all CPUs: its code's time by the
 * clock, and what the hardware spends on interrupts and records without executing instructions. */
uint64_t hpm_own_cycles(void);
/* Reads only the remote stalls of `t`, up to its CPU's latest switch or tick, for a tenth of the
 * work of hpm_read_thread. Any context. */
void hpm_read_remote(const struct hpm_thread *t, struct hpm_remote *out);
/* Reads the breakdown of `t`, its present stretch included if it is the calling thread, else up to
 * its CPU's latest switch or tick. */
void hpm_read_thread(const struct hpm_thread *t, struct hpm_breakdown *out);
/* As hpm_read_thread, for a single reader that polls. Returns false and leaves `out` alone if `t`
 * has counted nothing since the latest two calls; so a thread that stops is reported once more. */
bool hpm_read_news(struct hpm_thread *t, struct hpm_breakdown *out);
/* Makes the other CPUs account for the threads of process `pid` that run there, or, if `pid` is 0,
 * for all. Readings after it include all that happened before it. Interrupts those CPUs. Thread
 * context, no spinlock held. */
void hpm_update(uint32_t pid);
/* The same for the calling CPU. */
void hpm_update_here(void);
/* Adds logical counts of `t` to `sums`, as hpm_read_thread reads them. counts: bit i stands for
 * logical count i; counts that do not exist are left out. Any context. */
void hpm_sum_thread(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums);
/* As hpm_sum_thread, for sums that no earlier reading will be subtracted from: those that are kept
 * of a thread that has ended, or a single reading. Threads too short to be scaled by themselves are
 * pooled, and the pool is closed as a unit whenever it is long enough. Any context. */
void hpm_sum_ended(const struct hpm_thread *t, uint64_t counts, struct hpm_sums *sums);
/* Adds sums that have been kept, except logical counts that stand for another event by now. Any
 * context. */
void hpm_sum_past(const struct hpm_sums *past, struct hpm_sums *sums);
/* As hpm_sum_past, for sums that no earlier reading will be subtracted from: closes units as
 * hpm_sum_ended does. Any context. */
void hpm_sum_kept(const struct hpm_sums *past, struct hpm_sums *sums);
/* hpm_sum_machine adds what all CPUs counted, with or without a thread; hpm_sum_accounts adds the
 * same to one sum for each account. Thread context. */
void hpm_sum_machine(uint64_t counts, struct hpm_sums *sums);
void hpm_sum_accounts(uint64_t counts, struct hpm_sums sums[HPM_ACCOUNTS]);
/* Returns cleared sums of this CPU for the reader to work in. Interrupts stay off while they are
 * used. */
struct hpm_sums *hpm_sums_here(void);
/* Returns the logical counts (bit i: count i) that are figures of a breakdown. */
uint64_t hpm_figures(void);
/* Makes a breakdown of the figures among `sums`. */
void hpm_sums_breakdown(const struct hpm_sums *sums, struct hpm_breakdown *out);
/* Prints a table to the console: cause, source, estimate (latency x accesses) beside measurement,
 * and error ([A] Table 2.7). Figures that are not counted are named instead of shown. */
void hpm_breakdown_print(const char *title, const struct hpm_breakdown *b);

/* A session counts events and metrics that were asked for by name (hpm/events/event.h, metric.h),
 * for every thread of the machine, from its opening to its closing, beside the breakdown's figures
 * and other sessions' events. */
struct hpm_session;
/* Returns the memory that a session takes. */
size_t hpm_session_bytes(void);
/*
 * Opens a session. names: separated by commas or blanks, with modes as in cycles:u, and with
 * weights, pins, braces and a round as in hpm/events/request.h. When it returns, every CPU counts
 * them.
 * Pinned events are counted all the time, also where the counts that the scheduler acts on have to
 * take turns for that, which is said on the console.
 * Returns 0, or with the name and the reason in `err`:
 * - -ENODEV: there is no PMU.
 * - -EINVAL, -ENOENT, -ENOTSUP: as event_request_read.
 * - -ENOSPC: too much to be counted at a time, or beside what is counted already.
 * - -ENOMEM.
 * Thread context; one call of this or hpm_session_close at a time.
 */
int hpm_session_open(const char *names, struct hpm_session **out, char *err, size_t err_size);
/* As hpm_session_open, for programs that expect exact counts: as long as the events of all such
 * sessions can be counted all the time, beside what is pinned already, they are. */
int hpm_session_open_exact(const char *names, struct hpm_session **out, char *err, size_t err_size);
void hpm_session_close(struct hpm_session *s);

/* Writes the next name that can be counted to `out`, as event_list does. Returns 0; -ENOENT: there
 * are no more; -ENODEV: there is no PMU. Thread context. */
int hpm_list(uint32_t *cursor, struct event_listed *out);

/* How what is counted takes turns, for all sessions and the breakdown together. */
struct hpm_turns {
    unsigned groups;
    unsigned slices, passes;     /* of a pass, of a round */
    uint64_t slice, pass, round; /* lengths in cycles or instructions */
    bool by_instructions;
    bool scaled; /* the counts that the scheduler acts on take turns for pinned events */
};
/* One call of this or of a session's opening or closing at a time. */
void hpm_read_turns(struct hpm_turns *out);
/* The turns of one name of a session: its part of a pass is slices; weight as asked for, or, if it
 * is automatic, as found; tied: the braces that it is in, from 1. Of a metric: the fewest of its
 * events'. */
struct hpm_turn {
    unsigned weight, slices, tied;
    bool pinned, automatic;
};
/* As hpm_read_turns. */
void hpm_session_turn(const struct hpm_session *s, unsigned i, struct hpm_turn *out);

/* Finds the session's automatic weights anew if 100 rounds, on all CPUs together, have passed since
 * it did so last, and changes the plan if that makes the sum of relative variances smaller. As
 * hpm_read_turns; thread context. */
void hpm_session_weigh(struct hpm_session *s);

/* Returns how many groups more there would be if a session with these names were opened, at least
 * 0; or why it could not, as hpm_session_open. Nothing changes. As hpm_read_turns. */
int hpm_groups_more(const char *names);

struct hpm_value {
    const char *name;         /* as passed to hpm_session_open */
    const char *unit;         /* of a metric; NULL: a count */
    struct estimate estimate; /* of a count */
    struct metric_value metric;
    /* part of the time in which the event was counted; of a metric: of its least counted event */
    uint32_t seen_permille;
    bool fitted; /* fitted to other counts, see hpm_session_fit */
    /* Of a count: its increments, and the length in which it was counted, of what length. */
    uint64_t counted, seen, length;
};
/* Returns the logical counts that the session needs, to be passed to hpm_sum_*. */
uint64_t hpm_session_counts(const struct hpm_session *s);
/* Returns the number of names the session was opened with. */
unsigned hpm_session_values(const struct hpm_session *s);
/* Fits the counts to each other where events contain others by definition (hpm/events/nest.h). To
 * be called when `sums` is complete and differences have been taken. One call for a session at a
 * time. */
void hpm_session_fit(struct hpm_session *s, struct hpm_sums *sums);
/* Writes the value of name i, as found in `sums`, to `out`. `sums` may be a difference. */
void hpm_session_value(const struct hpm_session *s, unsigned i, const struct hpm_sums *sums,
                       struct hpm_value *out);

/* What was counted of an event, as it is: of `length` cycles or instructions, since the session was
 * opened, it had a counter for `seen`, and counted `counted` then. */
struct hpm_raw {
    uint64_t counted, seen, length;
};
/* Read name i of the session, an event, of a thread or of a CPU with all its accounts, without
 * estimates; only grows. Up to date for the calling thread and the calling CPU; see hpm_update. Any
 * context. */
void hpm_session_raw_thread(const struct hpm_session *s, unsigned i, const struct hpm_thread *t,
                            struct hpm_raw *out);
void hpm_session_raw_cpu(const struct hpm_session *s, unsigned i, const struct cpu *cpu,
                         struct hpm_raw *out);
/* Programs know events by the selectors of the processor that the CPUs say they are. Where the PMU
 * is another's, hpm_codes_differ returns true, and hpm_code_name the generic event that counts what
 * the selector `code` counts on that processor; NULL: none. hpm_code_is returns whether a name,
 * without modes, is that event there. Any context. */
bool hpm_codes_differ(void);
const char *hpm_code_name(uint64_t code);
bool hpm_code_is(const char *name, uint64_t code);
/* Returns 0 if the event of this text can be counted; -ENODEV: there is no PMU; -ENOENT: the PMU
 * has no such event, or no counter for it. Any context. */
int hpm_event_check(const char *text);

void hpm_sums_copy(struct hpm_sums *to, const struct hpm_sums *from);
/* Adds `part` to `sum`. Both were read under the same plan, unless one is empty. */
void hpm_sums_add(struct hpm_sums *sum, const struct hpm_sums *part);
/* Subtracts `earlier`, a reading of the same threads and counts. */
void hpm_sums_sub(struct hpm_sums *from, const struct hpm_sums *earlier);

/* Returns the physical address of the pages of counters, one for each CPU by its index, that are to
 * be mapped from SHOWN_COUNTERS on for a process with such a thread, readable, writable and
 * uncached; 0: none are needed. Any context. */
paddr_t hpm_user_latches(void);
/* Lets the calling thread, which must be `t`, read the session's events by itself, from `page`:
 * events in the order of the names, without metrics. page: a whole page, zeroed, that user mode may
 * read but not write, or the one that the thread has already. number: the session's number in user
 * mode. Returns 0; -ENOTSUP: the counters of this machine, or of one of its CPUs, cannot be read in
 * user mode. */
int hpm_user_open(struct hpm_thread *t, const struct hpm_session *s, uint32_t number,
                  struct hpm_user_page *page);
/* Ends hpm_user_open for the calling thread, which must be `t`. Returns its page; NULL: it has
 * none. */
struct hpm_user_page *hpm_user_close(struct hpm_thread *t);
