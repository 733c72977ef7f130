/*
 * Ground truth in short stretches, cells of a fixed number of a CPU's cycles: to see what happens
 * between two readings of a counter, or to imitate a counter that is read part of the time.
 *
 *   cells CYCLES EVENT ...                     the first line: a cell's length, and the events in
 *                                              the order of the figures below
 *   CPU TIME user N ... kernel N ...           a cell that ended at TIME of the CPU's clock, to
 *                                              within a block; N as in the truth file, since the
 *                                              CPU's last cell; no line for cells in which it was
 *                                              halted
 *
 * Off unless asked for (cells=CYCLES). One line for each cell of each CPU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/engine.h"

static FILE *file;
static uint64_t length;                /* 1/256 cycles */
static struct counts (*before)[MODES]; /* by CPU, at the end of its last cell */

static void print_mode(const char *mode, const struct counts *now, struct counts *last)
{
    fprintf(file, " %s", mode);
    for (unsigned e = 1; e < MACHINE_EVENTS; e++)
        fprintf(file, " %llu", (unsigned long long)(event_count(now, e) - event_count(last, e)));
    *last = *now;
}

void cells_end(struct vcpu *v)
{
    fprintf(file, "%u %llu", v->index, (unsigned long long)vcpu_cycles(v));
    print_mode("user", &v->count[MODE_USER], &before[v->index][MODE_USER]);
    print_mode("kernel", &v->count[MODE_KERNEL], &before[v->index][MODE_KERNEL]);
    fputc('\n', file);
    v->cell_at = v->now - v->now % length + length;
}

void cells_init(const char *truth, uint64_t cycles)
{
    char name[4096];

    for (struct vcpu *v = machine.vcpus; v < machine.vcpus + machine.cpus; v++)
        v->cell_at = truth && cycles ? cycles << CYCLE_SHIFT : NEVER;
    if (!truth || !cycles)
        return;
    length = cycles << CYCLE_SHIFT;
    before = calloc(machine.cpus, sizeof(*before));
    snprintf(name, sizeof(name), "%s.cells", truth);
    if (!before || !(file = fopen(name, "w")))
        machine_error("cells=: %s: %s", name, strerror(errno));
    fprintf(file, "cells %llu", (unsigned long long)cycles);
    for (unsigned e = 1; e < MACHINE_EVENTS; e++)
        fprintf(file, " %s", truth_event_name(e));
    fputc('\n', file);
}
