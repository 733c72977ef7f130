/* Ends the run: the machine is switched off, or stays on so that its display can be read. */
#pragma once
#include "kernel/lib/base.h"

extern const char *const end_choices[]; /* values of the boot argument; NULL-terminated */
extern uint64_t end_wanted;             /* index into end_choices */

/* Registers a function that end_run() calls once, first, in any state of the machine. It takes a
 * bounded time and does not sleep. */
void end_attach(void (*last_words)(void));
/*
 * Enclose changes to data that the registered function must find consistent: a CPU that is asked to
 * stop in between finishes them first and stops in end_whole_end(). Short; interrupts off, no lock
 * taken, nothing printed.
 */
void end_whole_begin(void);
void end_whole_end(void);
/* Handles IPI_STOP: returns whether this CPU is between end_whole_begin() and end_whole_end(), and
 * if so makes it stop in the latter. */
bool end_whole_asked(void);
/* Ends the run. `code` becomes the exit status of the machine where it has one (arch_poweroff). Any
 * context. */
NORETURN void end_run(unsigned code);
