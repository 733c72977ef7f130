/* The end of the run: the machine is switched off, or stays on so that its display can be read. */
#pragma once
#include "kernel/lib/base.h"

extern const char *const end_choices[]; /* for the boot argument; NULL-terminated */
extern uint64_t end_wanted;             /* index into them */

/* Called once, first thing in end_run, whatever state the machine is in: it takes a bounded time
 * and does not sleep. */
void end_attach(void (*last_words)(void));
/*
 * Around what last words must find whole: a CPU that is asked to stop meanwhile goes on until the
 * end, and stops there. Short, interrupts off, no lock taken, nothing printed.
 */
void end_whole_begin(void);
void end_whole_end(void);
/* IPI_STOP: does this CPU run what must be whole? It stops at the end of that. */
bool end_whole_asked(void);
/* Any context. code becomes the exit status of the machine where it has one (arch_poweroff). */
NORETURN void end_run(unsigned code);
