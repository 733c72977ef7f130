/*
 * Locality-specific interrupts of GICv3 (Arm IHI 0069H, 5.1, 12.11): INTIDs from 8192 on, which
 * exist only in memory. One table for all CPUs says which are enabled; each redistributor has a
 * table of those that are pending.
 */
#pragma once
#include "kernel/arch/arch.h"

struct redist;

enum { LPI_FIRST = 8192, LPI_COUNT = 8192 };

/* Allocates the common table; `count`: the number of LPIs. Boot CPU. Returns 0; -ENODEV: the
 * controller has none; -ENOMEM. */
int lpi_init(arch_alloc_fn *alloc, unsigned *count);
/* Makes this CPU's redistributor use the tables. Each CPU, interrupts off. Returns false if it
 * cannot, which was printed. */
bool lpi_init_cpu(const struct redist *redist);
/* Enables or disables LPI_FIRST + n; takes effect when the ITS is told to invalidate it. */
void lpi_enable(unsigned n, bool on);
