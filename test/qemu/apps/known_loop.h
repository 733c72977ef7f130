/* Work of which it is known how much it is. */
#pragma once
#include <stdint.h>

/* Executes 2 n + 1 instructions, the return included; n must not be 0. Assembly, each instruction
 * set's own. */
void known_loop(uint64_t n);
