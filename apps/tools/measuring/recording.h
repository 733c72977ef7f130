/* Samples by criteria, from opening to closing, with their accounts. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "apps/common/args.h"
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/record.h"
#include "apps/tools/measuring/shares.h"
#include "kernel/proc/abi.h"

enum { RECORDING_CRITERIA_MAX = 8 };

struct recording {
    int session;
    unsigned criteria;
    struct sys_sample_account began; /* at the opening: cycles of sampling and of all CPUs */
};

/* The arguments of a tool that say what is recorded. */
struct recording_wanted {
    const char *criteria; /* "": cycles; or time, where the machine has no known counters */
    uint64_t rate;        /* samples a second of each criterion without a period */
    uint64_t limit;       /* thousandths of the busy CPUs' time that sampling may cost */
    unsigned chains;      /* SYS_CHAINS_ */
};
#define RECORDING_WANTED \
    {                    \
        "", 1000, 10, 0  \
    } /* the defaults */
#define RECORDING_ENTRIES(wanted)                                                               \
    {"criteria",                                                                                \
     ARGS_TEXT,                                                                                 \
     &(wanted).criteria,                                                                        \
     1,                                                                                         \
     4095,                                                                                      \
     NULL,                                                                                      \
     "what is sampled by, separated by commas; if nothing is given cycles, or time where they " \
     "are not counted"},                                                                        \
        {"rate",                                                                                \
         ARGS_NUMBER,                                                                           \
         &(wanted).rate,                                                                        \
         1,                                                                                     \
         1000000,                                                                               \
         NULL,                                                                                  \
         "samples a second of each criterion without a period"},                                \
    {                                                                                           \
        "limit", ARGS_NUMBER, &(wanted).limit, 1, 1000, NULL,                                   \
            "thousandths of the busy CPUs' time that sampling may cost"                         \
    }

/* Starts recording samples of the process `pid` and its descendants, or of all if 0. Says so where
 * time is taken for cycles; says why and exits with 2 if there can be no samples. */
void recording_open_or_exit(struct recording *r, const struct args_table *table,
                            const struct recording_wanted *wanted, uint32_t pid);
/* Returns how many ms to wait for the next samples of a program that has run for `ms`: up to 10,
 * and few at first, for what lives only briefly has names only as long as it lives. */
uint64_t recording_wait_ms(double ms);
/* Takes present samples, as far as there is memory for them. `all`: until there are no more; else
 * some thousands at most. Returns their number. */
size_t recording_collect(const struct recording *r, bool all);
/* Calls `note` for each of the `count` samples that were collected. With frequent criteria noting a
 * sample makes another. */
void recording_note(size_t count, void (*note)(const struct sys_sample *sample));
/* Collects samples and notes them. */
void recording_take(const struct recording *r, bool all,
                    void (*note)(const struct sys_sample *sample));
void recording_account(const struct recording *r, unsigned criterion,
                       struct sys_sample_account *out);
/* What a table's line says beside the criterion's account. */
struct recording_head {
    const char *tool;
    uint64_t samples, mean; /* mean: of their periods */
    uint64_t stand_for;     /* 0: not said */
    const char *line_end;
};
/* Prints a table's line. Only where it is so: seen_pct, the part of the time in which the criterion
 * was seen; lengthened, by what periods were (cost, storms); storms of interrupts cut short. */
void recording_print_head(const struct sys_sample_account *a, const struct recording_head *head);
/* Returns the form in which shares of the criterion are printed. */
struct shares_form recording_form(const struct sys_sample_account *a, size_t rows,
                                  const char *line_end);
/* What all records of a recording have in common. */
struct recording_as {
    enum record_format format;
    const char *tool;
    double ms; /* since the program began */
};
/* Writes the record of a criterion's account: kind `criterion`. */
void recording_record_head(const struct sys_sample_account *a, const struct recording_head *head,
                           const struct recording_as *as);
/* Writes a record of each row of the criterion's table, kind `share`, and one of what is in no row,
 * kind `rest`, if there is. */
void recording_record_shares(const struct sys_sample_account *a, const struct shares *s,
                             size_t rows, const struct recording_as *as);
/* Writes the part of the busy CPUs' time that all sampling took, in percent, or "unknown". */
void recording_cost(const struct recording *r, char out[FIGURE_MAX]);
/* Returns the same, NAN if it is unknown. */
double recording_cost_pct(const struct recording *r);
/* Returns the cycles of all CPUs by the clock that were not idle, since the opening. */
uint64_t recording_busy(const struct recording *r);
void recording_close(struct recording *r);
