/* The local APIC, in either mode. */
#pragma once
#include "kernel/lib/base.h"

/* boot CPU: selects the mode and maps the registers; returns 0 or -ENODEV */
int lapic_init(void);
void lapic_init_cpu(void); /* enables this CPU's local APIC; interrupts off */
const char *lapic_mode(void);
uint32_t lapic_id(void);
/* Returns whether a CPU can be addressed. Ids have 8 bits without x2APIC, 32 with it; the largest
 * means all CPUs. */
bool lapic_reaches(uint64_t apic_id);
void lapic_eoi(void);
void lapic_error(void); /* handles the error interrupt: prints the error */
/* Unmasks the entry for this CPU's counters. It raises VEC_PMU, as messages of arch_pmu_msi() do,
 * and then masks itself (SDM vol. 3A, 10.5.1). */
void lapic_pmu_unmask(void);
/* Makes this CPU's extended entry `n` (AMD) raise the PMU interrupt, too. Returns false if there is
 * none. Such entries do not mask themselves. */
bool lapic_route_extended(unsigned n);

/* Send an interrupt. Interrupts off, so that the two halves of a command stay together. */
void lapic_send(uint32_t apic_id, uint8_t vector);
void lapic_send_nmi(uint32_t apic_id);
void lapic_send_init(uint32_t apic_id);
void lapic_send_startup(uint32_t apic_id, uint8_t page);

/* Starts the timer, which counts down from `count` at the frequency that lapic_timer_calibrate()
 * found; 0 stops it. */
void lapic_timer_start(uint32_t count);
uint32_t lapic_timer_left(void);
/* Sets the timer's mode: TSC deadline or one-shot. */
void lapic_timer_mode(bool tsc_deadline);
