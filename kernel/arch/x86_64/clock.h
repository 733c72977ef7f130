/* Clock and timer; see clock.c. */
#pragma once
#include "kernel/base.h"

int clock_init(void);      /* boot CPU: finds out how fast the clocks run; 0 or -ENODEV */
void clock_init_cpu(void); /* each CPU, after its local APIC                           */
void clock_wait_ns(uint64_t ns);
/* The timer interrupt: true if the armed deadline has passed, else it waits on. */
bool clock_timer_fired(void);
