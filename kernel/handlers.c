/* See handlers.h. */
#include "kernel/handlers.h"
#include "hpm/hpm.h"
#include "hpm/path/path.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/panic.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/process.h"
#include "mm/track/track.h"
#include "sched/sched.h"

static void handle_ipi(enum arch_ipi kind)
{
    switch (kind) {
    /* cpu->resched is set; the return from this interrupt, or the idle loop, reads it */
    case IPI_RESCHED:
        break;
    case IPI_TLB:
        tlb_ipi();
        break;
    case IPI_CALL:
        call_ipi();
        break;
    case IPI_STOP:
        panic_stop_asked();
        break;
    default:
        panic("unexpected inter-processor interrupt %d", (int)kind);
    }
}

static unsigned begin_interrupt(void)
{
    this_cpu()->interrupted = true;
    return hpm_interrupt_begin();
}

static void end_interrupt(unsigned begin)
{
    this_cpu()->interrupted = false;
    hpm_interrupt_end(begin);
}

static void handle_timer(const struct arch_frame *frame)
{
    hpm_timer(frame);
    sched_timer(!arch_frame_user(frame));
}

static void handle_user_return(struct arch_frame *frame, bool begins)
{
    if (!begins)
        hpm_entered(frame);
    do {
        track_user_return();
        if (this_cpu()->resched | this_cpu()->spin_depth)
            sched_point();
    } while (process_user_return(frame));
}

const struct arch_handlers kernel_handlers = {
    .timer = handle_timer,
    .ipi = handle_ipi,
    .pmu = hpm_interrupt,
    .path = path_interrupt,
    .interrupt_begin = begin_interrupt,
    .interrupt_end = end_interrupt,
    .page_fault = process_page_fault,
    .user_fault = process_user_fault,
    .syscall = syscall_dispatch,
    .user_return = handle_user_return,
};
