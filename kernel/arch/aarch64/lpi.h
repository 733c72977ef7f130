/*
 * Locality-specific interrupts of GICv3 (Arm IHI 0069H, 5.1, 12.11): INTIDs from 8192 on, which
 * exist only in memory: one table says for all CPUs which are enabled, and each redistributor has
 * one of those that are pending.
 */
#pragma once
#include "kernel/arch/arch.h"

struct redist;

enum { LPI_FIRST = 8192, LPI_COUNT = 8192 };

/* Boot CPU: the common table; count: how many LPIs. 0, -ENODEV: the controller has none,
 * -ENOMEM. */
int lpi_init(arch_alloc_fn *alloc, unsigned *count);
/* Each CPU, interrupts off: its redistributor uses the tables from now on. False: it cannot, and
 * that has been said. */
bool lpi_init_cpu(const struct redist *redist);
/* Lets LPI_FIRST + n through or not; takes effect when the ITS is told to invalidate it. */
void lpi_enable(unsigned n, bool on);
