/* The checks of hpm_due that concern user mode. */
#pragma once
#include "test/host/double/hpm_due.h"

/* the machine being checked */
extern const struct due_machine *due_machine;

void a_thread_reads_its_counts_in_user_mode(unsigned kind);
void a_register_that_steps_back_counts_nothing_in_user_mode(unsigned kind);
/* While its event has no counter, a thread goes by what was counted before. */
void what_takes_turns_is_scaled_in_user_mode(unsigned kind);
