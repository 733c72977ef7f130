/* Samples by criteria, from opening to closing, and their account. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "apps/tools/measuring/shares.h"
#include "kernel/proc/abi.h"

enum { RECORDING_CRITERIA_MAX = 8, RECORDING_TEXT_MAX = 160 };

struct recording {
    int session;
    unsigned criteria;
    struct sys_sample_account began; /* at the opening: what sampling took, what all CPUs did */
};

/* As samples_open: 0, or -Exxx, with why. */
int recording_open(struct recording *r, const char *criteria, uint32_t pid, uint32_t rate,
                   uint32_t permille, char *why, size_t size);
/* By cycles; where the machine has no counters that are known by time, and a line says so. */
int recording_open_usual(struct recording *r, const char *program, uint32_t pid, uint32_t rate,
                         uint32_t permille, char *why, size_t size);
/* Has note called with every sample there is now. */
void recording_take(const struct recording *r, void (*note)(const struct sys_sample *sample));
void recording_account(const struct recording *r, unsigned criterion,
                       struct sys_sample_account *out);
/* How often samples that stand for so much in all were taken: "one in 1,000,003, adapted", or "one
 * every 1.000 ms" where that is time; and what has made periods longer than that. */
void recording_period(const struct sys_sample_account *a, uint64_t samples, uint64_t weight,
                      char out[RECORDING_TEXT_MAX]);
/* How shares of the criterion are printed. */
struct shares_form recording_form(const struct sys_sample_account *a, size_t rows,
                                  const char *line_end);
/* What sampling took of the busy CPUs' time, "0.17 %", of all who sample. */
void recording_cost(const struct recording *r, char out[RECORDING_TEXT_MAX]);
void recording_close(struct recording *r);
