/*
 * Job control of the console: the session whose terminal it is, and the group in front, which reads
 * it and gets the signals that are typed. An application that the kernel starts takes the console,
 * until its session's leader ends: of commands joined by '&' the last one, as with a shell.
 */
#pragma once
#include "kernel/lib/base.h"

struct process;
struct tty_jobs;

extern const struct tty_jobs jobs_of_console; /* kernel/file/file.h */

/* Gives p, which leads a session, the console. */
void jobs_begin(const struct process *p);
/* Takes the console from p, which has ended, if it leads the session that has it. */
void jobs_end(const struct process *p);
/* Returns the group in front on the console, if it is the terminal of this session; else 0. */
uint32_t jobs_front(uint32_t session);
