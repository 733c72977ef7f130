/*
 * Samples of accesses by what served them, and profiles: samples of where threads are.
 */
#pragma once
#include "hpm/policy/sample.h"
#include "kernel/lib/base.h"

struct hpm_sample_account {
    /* taken = delivered + lost_* + pending, always */
    uint64_t taken, delivered, lost_hardware, lost_buffer;
    uint64_t accesses; /* the sum of the periods of the samples taken */
    uint64_t cycles;   /* spent in interrupts and drains */
};
/* All CPUs. -ENODEV, -EINVAL (names the field on the console), -EBUSY. Thread context. */
int hpm_sampling_start(const struct hpm_sampling *config);
void hpm_sampling_stop(void);
/* Takes up to max attributed samples of all CPUs, each CPU's in order of time. Thread context. */
size_t hpm_sampling_take(struct hpm_sample *out, size_t max);
void hpm_sampling_account(struct hpm_sample_account *out);
/* Another period and jitter from now on, while it is on; what was recorded before keeps the period
 * it was recorded with. The same ones change nothing; others begin a distance anew. */
int hpm_sampling_adjust(uint32_t period, uint32_t jitter);

/*
 * A profile: samples of where threads are, by up to 8 criteria at a time: every so many events of a
 * kind, every so often, every so many entries into the kernel, or accesses by what served them
 * (hpm/policy/criteria.h). Events are counted beside all else, in turns where counters are few;
 * their distances go on through the turns. The distances are random primes around the period;
 * adaptive periods and the limit of cost are followed at the end of each window
 * (hpm/policy/period.h).
 */
struct hpm_profile;
struct hpm_profiling {
    const char *criteria;
    uint32_t pid; /* samples of this process only; 0: of all */
    /* what adaptive periods aim at: samples a second for each criterion, all CPUs; 1..10^6 */
    uint32_t rate;
    uint32_t permille; /* of the busy CPUs' cycles it may cost; 1..1000 */
};
/* 0; -ENODEV: its counters cannot interrupt; -EINVAL, -ENOENT, -ENOTSUP, -ENOSPC: as criteria_parse
 * and hpm_session_open; -EBUSY: what it takes is in use; -ENOMEM. err says what is wrong. Thread
 * context; not beside hpm_session_open, close, or another of these two. */
int hpm_profile_open(const struct hpm_profiling *what, struct hpm_profile **out, char *err,
                     size_t err_size);
void hpm_profile_close(struct hpm_profile *p);
/* Takes up to max samples, each CPU's of a criterion in the order of time. One caller at a time.
 * Thread context. */
size_t hpm_profile_take(struct hpm_profile *p, struct hpm_sample *out, size_t max);
/* A window ends: periods follow what it brought. Thread context, one caller at a time. */
void hpm_profile_window(struct hpm_profile *p);
unsigned hpm_profile_criteria(const struct hpm_profile *p);
const char *hpm_profile_criterion(const struct hpm_profile *p, unsigned criterion);
/* Why a period is longer: sampling would cost more than it may; there were too many interrupts in a
 * burst. */
enum hpm_stretched { HPM_NOT_STRETCHED, HPM_STRETCHED_FOR_COST, HPM_STRETCHED_FOR_STORMS };
struct hpm_profile_account {
    /* taken = delivered + lost: what waits in the CPUs' rings is not in it */
    uint64_t taken, delivered, lost;
    uint64_t stood_for;    /* the sum of the periods of those taken */
    uint64_t estimate;     /* the same scaled to all the time, seen or not */
    uint64_t period;       /* mean, at present */
    uint64_t asked;        /* for, or 0: it is adapted */
    uint64_t throttled;    /* how many times a storm of interrupts was cut short */
    uint64_t cycles;       /* that sampling took, of all criteria of all profiles */
    uint64_t passed, idle; /* cycles since boot, by the clock: those of all CPUs, and those idle */
    /* where it is an event: of the time it had a counter, of what came then storms left; else
     * 1000 */
    uint32_t seen_permille;
    /* the period is longer than asked for, or than it would be adapted to */
    enum hpm_stretched stretched;
};
void hpm_profile_account(struct hpm_profile *p, unsigned criterion,
                         struct hpm_profile_account *out);
