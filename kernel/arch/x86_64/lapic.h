/* The local APIC in either of its modes. */
#pragma once
#include "kernel/lib/base.h"

int lapic_init(void);      /* boot CPU: picks the mode, maps the registers; 0 or -ENODEV */
void lapic_init_cpu(void); /* each CPU: enables its own; interrupts off */
const char *lapic_mode(void);
uint32_t lapic_id(void);
/* Ids are of 8 bits without x2APIC, of 32 with it; the largest means all CPUs. */
bool lapic_reaches(uint64_t apic_id);
void lapic_eoi(void);
void lapic_error(void); /* the error interrupt: says what happened */
/* The entry for this CPU's own counters raises VEC_PMU, as messages to arch_pmu_msi do, and masks
 * itself when it has (SDM vol. 3A, 10.5.1). */
void lapic_pmu_unmask(void);
/* This CPU: AMD's extended entry n raises the PMU interrupt, too; false: there is none. Such
 * entries do not mask themselves. */
bool lapic_route_extended(unsigned n);

/* Interrupts off, so that the two halves of a command stay together. */
void lapic_send(uint32_t apic_id, uint8_t vector);
void lapic_send_nmi(uint32_t apic_id);
void lapic_send_init(uint32_t apic_id);
void lapic_send_startup(uint32_t apic_id, uint8_t page);

/* The timer counts down from count at the frequency lapic_timer_calibrate found; 0 stops it. */
void lapic_timer_start(uint32_t count);
uint32_t lapic_timer_left(void);
/* The timer's entry: by TSC deadline or one-shot. */
void lapic_timer_mode(bool tsc_deadline);
