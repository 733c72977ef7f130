/*
 * A thread's page of counts that it may read by itself, and how it does: the kernel writes it
 * whenever a reading of the counters ends or begins what is in it, user mode reads it and adds what
 * the counter's register has counted since. Shared by the kernel, programs and tests; nothing in
 * it is secret, and no program can write it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { HPM_USER_COUNTS = 16 };

/* A counter's register, as it was when the page was written. */
struct hpm_user_register {
    /* how user mode reads it, from 1: on x86 RDPMC's number + 1, on AArch64 PMEVCNTR<n>'s n + 1,
     * PMCCNTR 32; 0: it does not count now */
    uint32_t index;
    uint32_t bits; /* width, 1..64 where it counts */
    uint64_t value;
};

struct hpm_user_count {
    uint32_t valid; /* 0: it is no count of the session, or user mode cannot read it */
    uint32_t reserved;
    /* the thread's, when the page was written, scaled; of how long that is, by the clock below */
    uint64_t count, length;
    struct hpm_user_register now;
};

struct hpm_user_page {
    uint32_t sequence; /* another one whenever any of what follows is */
    uint32_t session;  /* by its owner's number; 0: closed */
    uint32_t counts;
    uint32_t place;                 /* the kernel's: where it is shown */
    struct hpm_user_register clock; /* what slices are measured in: cycles, or instructions */
    struct hpm_user_count count[HPM_USER_COUNTS];
    /* The kernel's: which logical counts they are, since which plan. */
    struct {
        uint32_t born, number;
    } of[HPM_USER_COUNTS];
};

/* What a register that counts has counted since the page was written. What would be an eighth from
 * all the way round is a step back, as QEMU's counters do (hpm/pmu/arm/armv8.c): nothing. */
static inline uint64_t hpm_user_passed(const volatile struct hpm_user_register *r,
                                       uint64_t (*read)(uint32_t index))
{
    uint64_t mask = UINT64_MAX >> (64 - r->bits), passed = (read(r->index) - r->value) & mask;

    return passed > mask - mask / 8 ? 0 : passed;
}

/*
 * Count i of the page, as of now. False: it has to be asked for. What changed hands while the
 * register was read is read again: the thread was switched, went elsewhere, or its event's turn
 * came or ended. An event whose turn it is not is taken to happen as often as until now.
 */
static inline bool hpm_user_read(const volatile struct hpm_user_page *p, unsigned i,
                                 uint64_t (*read)(uint32_t index), uint64_t *out)
{
    uint32_t before;
    bool valid;

    do {
        before = __atomic_load_n(&p->sequence, __ATOMIC_ACQUIRE);
        const volatile struct hpm_user_count *c = &p->count[i];
        uint64_t count = c->count, length = c->length;
        valid = i < HPM_USER_COUNTS && c->valid;
        if (valid && c->now.index)
            count += hpm_user_passed(&c->now, read);
        else if (valid && p->clock.index && length)
            count +=
                (uint64_t)((unsigned __int128)count * hpm_user_passed(&p->clock, read) / length);
        *out = count;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (before != __atomic_load_n(&p->sequence, __ATOMIC_RELAXED));
    return valid;
}
