/*
 * The generic timer (Arm ARM DDI 0487, D12). Always the virtual counter and timer: EL1 has them
 * wherever it runs, while a hypervisor may keep the physical ones to itself; entered at EL2, the
 * entry code has made the offset between the two zero, on every CPU, so nothing is lost there.
 */
#include "gic.h"
#include "platform_find.h"
#include "quirks.h"
#include "sysreg.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/fault.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

#define CNTKCTL_VIRTUAL 2 /* EL0 reads the virtual counter and its frequency */
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
    kprintf("clock: generic timer %llu kHz\n", (unsigned long long)hz / 1000);
    return 0;
}

void clock_init_cpu(void)
{
    quirks_note_cpu();
    sysreg_write(cntkctl_el1, CNTKCTL_VIRTUAL);
    arch_timer_arm(UINT64_MAX);
    gic_enable_private(timer_irq);
}

/* The system counter is all there is that counts and needs no driver. */
int arch_clock_check(UNUSED const char **name, UNUSED uint64_t *hz)
{
    return -ENODEV;
}

/* Whoever runs above EL1 set the offset. */
bool clock_correct(UNUSED int64_t ticks)
{
    return false;
}

bool arch_ticks_user(void)
{
    return true;
}

/* Rounded up, so that the interrupt is not early. ISB: the line follows before interrupts are on
 * again. */
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
