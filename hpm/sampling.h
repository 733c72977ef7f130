/* Samples of accesses by what they cost, and profiles: samples of where threads are. */
#pragma once
#include "hpm/policy/sample.h"
#include "kernel/lib/base.h"

struct hpm_sample_account {
    /* taken = delivered + lost_* + pending, always. */
    uint64_t taken, delivered, lost_hardware, lost_buffer;
    uint64_t accesses; /* sum of the periods of the samples taken */
    uint64_t cycles;   /* spent in interrupts and in taking records */
    uint64_t looking;  /* of these: at switches of threads, where no record waited */
};
/* Up to ACCESS_HANDLES users sample accesses at a time, each by a handle of its own
 * (hpm/policy/access_share.h). A handle is used by one thread at a time. All are thread context. */
struct hpm_access;
/* Opens a handle with rings of its own. name: for the trace, stays valid. Returns 0; -ENODEV: there
 * are no records; -ENOSPC: all handles are in use; -ENOMEM. */
int hpm_access_open(const char *name, struct hpm_access **out);
void hpm_access_close(struct hpm_access *a);
/* Starts sampling on all CPUs. Returns 0; -EINVAL, and names the field on the console; -EBUSY: the
 * handle is on. */
int hpm_access_start(struct hpm_access *a, const struct hpm_sampling *config);
/* Stops; without effect if the handle is off. Samples taken can still be read. */
void hpm_access_stop(struct hpm_access *a);
/* Changes period and jitter while the handle is on. Samples that were recorded before keep the
 * period they were recorded with. The present values change nothing. Returns 0; -ENODEV: it is off;
 * -EINVAL, as hpm_access_start. */
int hpm_access_adjust(struct hpm_access *a, uint32_t period, uint32_t jitter);
/* Moves up to `max` attributed samples of all CPUs to `out`, each CPU's in order of time. Returns
 * their number. */
size_t hpm_access_take(struct hpm_access *a, struct hpm_sample *out, size_t max);
/* Reads the handle's account since it was opened. Any thread. */
void hpm_access_account(const struct hpm_access *a, struct hpm_sample_account *out);

/*
 * A profile samples where threads are, by up to 8 criteria at a time (hpm/policy/criteria.h): a
 * number of events of a kind, a length of time, a number of entries into the kernel, or accesses by
 * the level that served them.
 *
 * Events are counted beside all others, in turns where counters are few; the distance to the next
 * sample goes on through the turns. Distances are random primes around the period. At the end of
 * each window, adaptive periods and the limit of cost are brought up to date (hpm/policy/period.h).
 */
struct hpm_profile;
struct hpm_profiling {
    const char *criteria;
    uint32_t pid; /* of the process to be sampled; 0: all processes */
    bool family;  /* and of those that it starts from then on, and these in turn */
    /* Samples a second that adaptive periods aim at, for each criterion, on all CPUs together;
     * 1..10^6. */
    uint32_t rate;
    uint32_t permille; /* limit of its cost, in thousandths of the busy CPUs' cycles; 1..1000 */
    /* Samples taken by interrupts have the chain of calls that led there. */
    enum hpm_chains { HPM_CHAINS_NONE, HPM_CHAINS_FP, HPM_CHAINS_TABLE } chains;
    /* Bytes of the program's stack that they have a dump of, at most; 0: they have none. A multiple
     * of 8, up to HPM_DUMP_STACK_MAX. */
    uint32_t dump_bytes;
};

#define HPM_DUMP_STACK_MAX (16 * KIB)
#define HPM_DUMP_REGISTERS 33
/* What a program had in its registers, in Linux's order (asm/perf_regs.h), and on its stack, from
 * the stack pointer on, as a sample was taken. */
struct hpm_dump {
    uint64_t registers[HPM_DUMP_REGISTERS];
    uint32_t register_count; /* that the instruction set has */
    uint32_t bytes;          /* of the stack */
    uint64_t stack[];
};

/*
 * Opens a profile. Returns 0, or with the reason in `err`:
 * - -ENODEV: the counters cannot interrupt.
 * - -EINVAL, -ENOENT, -ENOTSUP, -ENOSPC: as criteria_parse and hpm_session_open.
 * - -EBUSY: all handles of accesses are in use.
 * - -ENOMEM.
 * Thread context; not at the same time as hpm_session_open, hpm_session_close, or another call of
 * this or of hpm_profile_close.
 */
int hpm_profile_open(const struct hpm_profiling *what, struct hpm_profile **out, char *err,
                     size_t err_size);
void hpm_profile_close(struct hpm_profile *p);
/* Moves up to `max` samples to `out`, each CPU's samples of a criterion in order of time. Returns
 * their number. Thread context, one caller at a time. */
size_t hpm_profile_take(struct hpm_profile *p, struct hpm_sample *out, size_t max);
/* Returns when the earliest sample that waits was taken, by arch_clock_ns(); UINT64_MAX: none is
 * there. Thread context. */
uint64_t hpm_profile_next(const struct hpm_profile *p);
/* Moves up to `max` samples that were taken until then, those of all CPUs in order of time. As
 * hpm_profile_take. */
size_t hpm_profile_take_until(struct hpm_profile *p, uint64_t until_ns, struct hpm_sample *out,
                              size_t max);
/* Returns the dump of a sample that was taken out; NULL: it has none. It is there until it, or that
 * of a later sample of its CPU, is let go. Thread context, one caller at a time. */
const struct hpm_dump *hpm_profile_dump(const struct hpm_profile *p, const struct hpm_sample *s);
void hpm_profile_let_dump(struct hpm_profile *p, const struct hpm_sample *s);
/* Moves what the hardware of all CPUs has recorded to the profiles' rings: else other CPUs' latest
 * records come at their next switch or tick. Thread context. */
void hpm_profiles_flush(void);
/* Returns a number that grows when this CPU may have taken samples by interrupts, by time or by
 * entries. Interrupts off. */
uint64_t hpm_sampled_here(void);
/* Ends a window: adapts the periods to the samples it brought. Thread context, one caller at a
 * time. */
void hpm_profile_window(struct hpm_profile *p);
/* Copies up to `max` addresses of a sample's chain, the innermost first. Returns the number that it
 * has; 0: there is no such chain. Thread context. */
unsigned hpm_profile_chain(const struct hpm_profile *p, uint32_t chain, uint64_t *out,
                           unsigned max);
unsigned hpm_profile_criteria(const struct hpm_profile *p);
const char *hpm_profile_criterion(const struct hpm_profile *p, unsigned criterion);
/* Why a period is longer than asked for: sampling would cost more than its limit, or there was a
 * storm of interrupts. */
enum hpm_stretched { HPM_NOT_STRETCHED, HPM_STRETCHED_FOR_COST, HPM_STRETCHED_FOR_STORMS };
struct hpm_profile_account {
    /* taken = delivered + lost; samples that wait in the CPUs' rings are in neither. */
    uint64_t taken, delivered, lost;
    uint64_t stood_for; /* sum of the periods of the samples taken */
    uint64_t estimate;  /* the same, scaled to all the time, counted or not */
    uint64_t period;    /* present mean */
    uint64_t asked;     /* period asked for; 0: it is adapted */
    uint64_t throttled; /* storms of interrupts that were cut short */
    uint64_t cycles;    /* cost of sampling, of all criteria of all profiles */
    /* cycles of all CPUs since boot by the clock, and those of them that were idle */
    uint64_t passed, idle;
    /* Of an event: the part of the time in which it had a counter, less what storms cost of it;
     * else 1000. */
    uint32_t seen_permille;
    /* Why the period is longer than asked for, or than it would be adapted to. */
    enum hpm_stretched stretched;
    /* Samples of all criteria whose chain was cut short, and that had none for lack of room. */
    uint64_t chains_cut, chains_full;
};
void hpm_profile_account(struct hpm_profile *p, unsigned criterion,
                         struct hpm_profile_account *out);
