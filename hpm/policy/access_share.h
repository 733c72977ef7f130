/*
 * How the hardware's samplers are shared by those that want records of accesses.
 *
 * Up to ACCESS_HANDLES handles each want one in `period` of the accesses that they describe. Where
 * there is a sampler for each, each has its own. Else the handles that find none share the last
 * sampler, which records what any of them wants, at the shortest of their periods. Its records are
 * divided among them: each handle counts those that it wants, and takes one at the end of a random
 * distance. The period of a sample is the sum of the records' periods since the handle's last
 * sample, so the sum of the periods of a handle's samples estimates its accesses without bias,
 * whatever the distances are. A record can go to several handles.
 *
 * A handle that comes, goes or changes its period leaves the others' samplers alone, and the
 * distances of those that share its sampler go on.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/policy/sample.h"

#define ACCESS_HANDLES    8
#define ACCESS_NO_SAMPLER UINT8_MAX

/* Who is recorded by what. */
struct access_share {
    unsigned samplers;                               /* that each CPU has, 1..PMU_SAMPLERS_MAX */
    uint32_t on;                                     /* bit h: handle h wants records */
    uint32_t begun[ACCESS_HANDLES];                  /* by handle: how often it has come */
    uint8_t sampler[ACCESS_HANDLES];                 /* by handle; ACCESS_NO_SAMPLER: it is off */
    struct hpm_sampling want[ACCESS_HANDLES];        /* by handle */
    uint32_t members[PMU_SAMPLERS_MAX];              /* by sampler: mask of its handles */
    struct hpm_sampling programme[PMU_SAMPLERS_MAX]; /* by sampler; without members: undefined */
};

/* A CPU's way through its records. */
struct access_deal {
    uint64_t random;                /* see draw.h; not 0 */
    uint32_t left[ACCESS_HANDLES];  /* wanted records until the handle's next sample */
    int64_t passed[ACCESS_HANDLES]; /* sum of the records' periods since its last sample */
    int64_t cut[PMU_SAMPLERS_MAX];  /* what a shared sampler's next record stands for besides */
};

/* Begins a plan without handles. samplers: 1..PMU_SAMPLERS_MAX. */
void access_share_init(struct access_share *s, unsigned samplers);
/* Sets what handle h wants; NULL: nothing. */
void access_share_set(struct access_share *s, unsigned h, const struct hpm_sampling *want);
/* Returns whether a CPU that has been programmed by plan `before` needs another programme for
 * sampler n. */
bool access_share_changed(const struct access_share *before, const struct access_share *now,
                          unsigned n);

/* Begins a CPU's deal. */
void access_deal_init(struct access_deal *d, unsigned cpu);
/* Goes over from plan `before` to `now`. */
void access_deal_follow(struct access_deal *d, const struct access_share *before,
                        const struct access_share *now);
/* Sampler n, programmed by plan `before`, was changed when it had still `left` accesses to pass
 * until its next record; 0: unknown, or it was off. What the distance then lacks of a period, which
 * is less than nothing for a long distance, is added to its handle's next sample or, if it is
 * shared, to its next record. So the sum of the periods stays unbiased (Wald): the accesses passed
 * are not taken, for long distances are cut more often. */
void access_deal_cut(struct access_deal *d, const struct access_share *before, unsigned n,
                     uint32_t left);
/* Returns the mask of the handles that take the record, and their samples' periods in period[]. */
uint32_t access_deal(struct access_deal *d, const struct access_share *s,
                     const struct hpm_sample *record, uint32_t period[ACCESS_HANDLES]);
