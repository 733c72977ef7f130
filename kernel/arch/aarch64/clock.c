/*
 * The generic timer (Arm ARM DDI 0487, D12). Uses the virtual counter and timer always: EL1 always
 * has access, whereas a hypervisor may restrict the physical ones. If the kernel is entered at EL2,
 * the entry code sets the offset between the two to zero on every CPU.
 */
#include "gic.h"
#include "platform_find.h"
#include "internal.h"
#include "sysreg.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/fault.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

#define CNTKCTL_VIRTUAL 2 /* EL0 may read the virtual counter and its frequency */
#define CTL_ENABLE      1
#define HZ_MIN          1000000

static uint32_t timer_irq;

static void handle_timer(UNUSED uint32_t irq, struct arch_frame *frame)
{
    if (clock_timer_fired())
        arch_handlers.timer(frame);
}

int clock_init(void)
{
    const struct platform_timer *timer = &platform_find(NULL)->timer;
    uint64_t hz = sysreg_read(cntfrq_el0);

    if (hz < HZ_MIN)
        hz = timer->hz;
    if (hz < HZ_MIN) {
        kprintf("clock: neither CNTFRQ nor firmware says how fast the counter runs\n");
        return -ENODEV;
    }
    timer_irq = timer->virtual_irq;
    if (timer_irq < GIC_SGIS || timer_irq >= GIC_PRIVATE) {
        kprintf("clock: firmware describes no interrupt of the virtual timer\n");
        return -ENODEV;
    }
    clock_start(hz);
    gic_attach(timer_irq, 1, handle_timer);
    kprintf("clock: source=generic-timer khz=%llu\n", (unsigned long long)hz / 1000);
    return 0;
}

void clock_init_cpu(void)
{
    quirks_note_cpu();
    sysreg_write(cntkctl_el1, CNTKCTL_VIRTUAL);
    arch_timer_arm(UINT64_MAX);
    gic_enable_private(timer_irq);
}

/* There is no other clock without a driver. */
int arch_clock_check(UNUSED const char **name, UNUSED uint64_t *hz)
{
    return -ENODEV;
}

/* Software above EL1 has set the offset; EL1 cannot change it. */
bool clock_correct(UNUSED int64_t ticks)
{
    return false;
}

bool arch_ticks_user(void)
{
    return true;
}

/* Rounds up, so that the interrupt is not early. ISB: the interrupt line rises before interrupts
 * are on again. */
void clock_timer_start(uint64_t wait_ns)
{
    sysreg_write(cntv_cval_el0, arch_ticks() + clock_ticks_of(wait_ns, arch_ticks_hz()) + 1);
    sysreg_write(cntv_ctl_el0, CTL_ENABLE);
    isb();
}

void clock_timer_stop(void)
{
    sysreg_write(cntv_ctl_el0, 0);
    isb(); /* the line falls before interrupts are on again */
}
