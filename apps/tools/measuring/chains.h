/*
 * Chains of calls that samples have, by name, and what the samples of each stand for: folded
 * stacks, as tools that draw flame graphs read them. One thread at a time.
 */
#pragma once
#include "kernel/proc/abi.h"

/* Adds a sample of the session to its chain; one without a chain to the function that it is in. The
 * process should live, for its names. */
void chains_note(int session, const struct sys_sample *s);
/* Prints a line "FOLDED criterion program;outermost;...;innermost count" for each chain of names of
 * the criterion, in no order. Functions of the kernel end in "_[k]". */
void chains_print_folded(unsigned criterion, const char *name);
/* Prints a line "CHAIN number address..." for each chain of addresses, innermost first. */
void chains_print_addresses(void);
