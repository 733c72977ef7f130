/*
 * lwIP's timers, in place of its own (LWIP_TIMERS_CUSTOM). Its own allocate memory each time they
 * are set, and one that gets none is never set again: connections would not retransmit any more
 * after a shortage of memory. These are as many as lwIP's protocols need, and in static memory.
 */
#include "lwip/priv/tcp_priv.h"
#include "lwip/sys.h"
#include "lwip/timeouts.h"

enum { TCP_TIMER, TIMERS_MAX = 8 }; /* TCP's is lwIP's first */

static u32_t due_ms[TIMERS_MAX];
static int timers; /* 0 before lwip_init(): a socket may end before lwIP has begun */
static bool tcp_runs;

void sys_timeouts_init(void)
{
    ASSERT(lwip_num_cyclic_timers <= TIMERS_MAX &&
           lwip_cyclic_timers[TCP_TIMER].handler == tcp_tmr);
    timers = lwip_num_cyclic_timers;
    for (int i = 0; i < timers; i++)
        due_ms[i] = sys_now() + lwip_cyclic_timers[i].interval_ms;
    tcp_runs = false;
}

/* TCP's timer runs while there are connections. */
static void look_at_tcp(void)
{
    bool runs = tcp_active_pcbs || tcp_tw_pcbs;

    if (runs && !tcp_runs)
        due_ms[TCP_TIMER] = sys_now() + TCP_TMR_INTERVAL;
    tcp_runs = runs;
}

static bool runs(int timer)
{
    return timer != TCP_TIMER || tcp_runs;
}

void sys_check_timeouts(void)
{
    look_at_tcp();
    for (int i = 0; i < timers; i++) {
        u32_t now = sys_now(), interval = lwip_cyclic_timers[i].interval_ms;
        if (!runs(i) || (s32_t)(now - due_ms[i]) < 0)
            continue;
        lwip_cyclic_timers[i].handler();
        /* Late by more than an interval: the missed turns are left out. */
        due_ms[i] = now - due_ms[i] < interval ? due_ms[i] + interval : now + interval;
    }
}

u32_t sys_timeouts_sleeptime(void)
{
    u32_t least = SYS_TIMEOUTS_SLEEPTIME_INFINITE;

    look_at_tcp();
    for (int i = 0; i < timers; i++) {
        s32_t left = (s32_t)(due_ms[i] - sys_now());
        if (runs(i))
            least = LWIP_MIN(least, left < 0 ? 0 : (u32_t)left);
    }
    return least;
}
