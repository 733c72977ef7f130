/*
 * Records: lines for programs, one for each thing told, as CSV or JSON.
 *
 * - CSV: "hpmstat,KIND,value,..."; before the first record of a kind a line of the same form with
 *   the columns' names. A text with a comma or quotes stands in quotes, which are doubled in it
 *   (RFC 4180). What there is not is empty.
 * - JSON: {"hpmstat":"KIND","column":value,...} on one line. What there is not is null.
 *
 * A record is written at once, so that lines of other programs come between records only. One
 * thread.
 */
#pragma once
#include <stdint.h>

enum record_format { RECORD_CSV, RECORD_JSON };

/* Begins a record of `tool`. kind: a string constant. All records of a kind have the same
 * columns. */
void record_begin(enum record_format format, const char *tool, const char *kind);
void record_text(const char *column, const char *value);
void record_number(const char *column, uint64_t value);
/* With `digits` digits behind the point. */
void record_real(const char *column, double value, int digits);
void record_none(const char *column);
void record_end(void);
