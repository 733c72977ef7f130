/*
 * Job control of terminals: the session whose terminal it is, and the group in front, which reads
 * it and gets the signals that are typed. An application that the kernel starts takes the console,
 * until its session's leader ends: of commands joined by '&' the last one, as with a shell. Other
 * sessions get a terminal when their leader opens one, or asks for it (TIOCSCTTY).
 */
#pragma once
#include "kernel/lib/base.h"

struct process;
struct terminal_jobs;

extern const struct terminal_jobs jobs_of_terminals; /* kernel/file/terminal.h */

/* Gives p, which leads a session, the console. */
void jobs_begin(const struct process *p);
/* Takes the terminals from p, which has ended, if it leads the session that has them. */
void jobs_end(const struct process *p);
/* Returns the number of the session's terminal, as stat(2) tells it, and the group in front on it;
 * 0: it has none. */
uint32_t jobs_terminal(uint32_t session, uint32_t *front);
