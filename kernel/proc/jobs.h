/*
 * Job control of the console: the session whose terminal it is, and the group in front, which reads
 * it and gets the signals that are typed. An application that the kernel starts takes the console,
 * if no other has it, until its session's leader ends.
 */
#pragma once
#include "kernel/lib/base.h"

struct process;
struct tty_jobs;

extern const struct tty_jobs jobs_of_console; /* kernel/file/file.h */

/* Gives p, which leads a session, the console, if no session has it. */
void jobs_begin(const struct process *p);
/* Takes the console from p, which has ended, if it leads the session that has it. */
void jobs_end(const struct process *p);
/* Returns whether the caller leads the console's session while another group is in front: then it
 * looks at the keyboard while it waits, as no other process may. */
bool jobs_watches(void);
void jobs_look(void);                      /* does so; thread context, no lock held */
#define JOBS_LOOK_NS (10 * 1000 * 1000ull) /* between looks */
