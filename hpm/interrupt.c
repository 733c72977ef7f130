/*
 * The PMU's interrupt. `why` (PMU_*, pmu.h) is the set of its reasons. Each is handled once, here:
 * - counters that were armed for samples have overflowed (slot.c),
 * - the hardware has written records (access.c),
 * - the slice of the present group is over (account.c).
 */
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"

/* Charges the time since profiler.time to sampling if counters overflowed, else to counting. */
static ALWAYS_INLINE void charge_interrupt(struct hpm_cpu *hpm, unsigned why)
{
    struct profiler *p = &hpm->profiler;
    uint64_t ticks = arch_ticks_near() - p->time;

    if (why >= PMU_COUNTER) {
        p->ticks += ticks;
        p->interrupts++;
    } else {
        hpm->own_ticks += ticks;
        hpm->interrupts++;
    }
}

/* The frequent case is an overflow alone, without accounts. */
HOT_CODE void hpm_interrupt(struct arch_frame *frame)
{
    struct hpm_cpu *hpm = hpm_counted(this_cpu());

    if (!hpm)
        return;
    hpm->profiler.time = arch_ticks_near();
    unsigned why = hpm_state.ops->interrupted();
    hpm->profiler.pc = arch_frame_pc(frame);
    hpm->profiler.user = arch_frame_user(frame);
    hpm->profiler.frame = frame;
    bool accounts = __builtin_expect(hpm_accounts != 0, 0);
    bool turned = accounts && why == PMU_SLICE; /* one reading ends the stretch and the slice */
    enum row before = hpm->row;
    if (accounts)
        account_row(hpm, turned ? END_SLICE : END_STRETCH, ROW_MONITORING);
    profile_overflowed(hpm, why / PMU_COUNTER);
    if (__builtin_expect(why % PMU_COUNTER, 0)) {
        if (why & PMU_RECORDS)
            hpm->sampler.owed += hpm_state.pmu.interrupt_cycles;
        sampler_poll(hpm);
        if ((why & PMU_SLICE) && !turned)
            account_slice(hpm);
    }
    if (accounts)
        account_row(hpm, END_STRETCH, before);
    charge_interrupt(hpm, why);
}
