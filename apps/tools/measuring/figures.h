/* Numbers as text. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define FIGURE_MAX 32

/* Writes 1,234,567. */
const char *figure_grouped(uint64_t n, char out[FIGURE_MAX]);
/* Writes 1.250 ms, 17.000 us, 120 ns. */
const char *figure_time(uint64_t ns, char out[FIGURE_MAX]);
/* Scales a part that was seen in `seen` of `all`. */
uint64_t figure_scaled(uint64_t part, uint64_t seen, uint64_t all);
/* Returns percent, 0 if all is 0. */
double figure_percent(uint64_t part, uint64_t all);
