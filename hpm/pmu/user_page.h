/* A thread's page of counts, which the thread can read by itself. The kernel writes the page
 * whenever a reading of the counters begins or ends a stretch of its events; user mode reads it and
 * adds what the counter's register has counted since. Shared by the kernel, programs and tests.
 * Nothing in the page is secret, and no program can write it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { HPM_USER_COUNTS = 16 };

/* A CPU's counters in memory, where user mode reads them so: a store to latch, of any value, has
 * all values stored as of that moment, on the CPU whose page it is; on others it does nothing. */
struct hpm_user_latch {
    uint32_t latch, reserved;
    uint64_t value[];
};

/* A counter's register when the page was written. */
struct hpm_user_register {
    /* How user mode reads it, from 1: on x86 RDPMC's number + 1, on AArch64 n + 1 of PMEVCNTR<n>,
     * or 32 for PMCCNTR, in memory n + 1 of value[n]; 0: it does not count now. */
    uint32_t index;
    uint32_t bits; /* width, 1..64; valid if index is not 0 */
    uint64_t value;
};

struct hpm_user_count {
    uint32_t valid; /* 0: there is no such count in the session, or user mode cannot read it */
    uint32_t reserved;
    /* The thread's count when the page was written, scaled, and the length it covers, by the page's
     * clock. */
    uint64_t count, length;
    struct hpm_user_register now;
};

struct hpm_user_page {
    uint32_t sequence; /* changes whenever anything below does */
    uint32_t session;  /* its number in user mode; 0: closed */
    uint32_t counts;
    uint32_t index; /* kernel only: of the page in its window */
    /* Address of the struct hpm_user_latch of the CPU that the thread runs on; 0: registers are
     * read by instructions. */
    uint64_t latch;
    struct hpm_user_register clock; /* unit of slices: cycles, or instructions */
    struct hpm_user_count count[HPM_USER_COUNTS];
    /* Kernel only: number and birth of the logical counts. */
    struct {
        uint32_t born, number;
    } of[HPM_USER_COUNTS];
};

/* Returns what register `index`, not 0, has counted since the page was written. A difference within
 * an eighth of the full range below 0 is a step back, as QEMU's counters make
 * (hpm/pmu/arm/armv8.c), and is 0. The kernel may write the page meanwhile. */
static inline uint64_t hpm_user_passed(const volatile struct hpm_user_page *p, uint32_t index,
                                       const volatile struct hpm_user_register *r,
                                       uint64_t (*counter_at)(uint32_t index))
{
    volatile struct hpm_user_latch *latch = (volatile struct hpm_user_latch *)(uintptr_t)p->latch;

    if (latch) {
        latch->latch = 1;
        return latch->value[index - 1] - r->value;
    }
    uint64_t mask = UINT64_MAX >> (64 - r->bits), passed = (counter_at(index) - r->value) & mask;
    return passed > mask - mask / 8 ? 0 : passed;
}

/* Reads count i of the page as of now. Returns false if the count must be asked for by a system
 * call. Reads again if the kernel wrote the page meanwhile: the thread was switched or migrated, or
 * the event's turn began or ended. An event that has no turn now is assumed to go on at its rate
 * until now. */
static inline bool hpm_user_read(const volatile struct hpm_user_page *p, unsigned i,
                                 uint64_t (*counter_at)(uint32_t index), uint64_t *out)
{
    uint32_t before;
    bool valid;

    do {
        before = __atomic_load_n(&p->sequence, __ATOMIC_ACQUIRE);
        const volatile struct hpm_user_count *c = &p->count[i];
        uint64_t count = c->count, length;
        uint32_t index = c->now.index, clock;
        valid = i < HPM_USER_COUNTS && c->valid;
        if (valid && index)
            count += hpm_user_passed(p, index, &c->now, counter_at);
        else if (valid && (clock = p->clock.index) && (length = c->length))
            count += (uint64_t)((unsigned __int128)count *
                                hpm_user_passed(p, clock, &p->clock, counter_at) / length);
        *out = count;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (before != __atomic_load_n(&p->sequence, __ATOMIC_RELAXED));
    return valid;
}
