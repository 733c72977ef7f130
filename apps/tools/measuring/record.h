/*
 * Records: lines for programs, one for each thing told, as CSV or JSON.
 *
 * - CSV: "hpmstat,KIND,value,..."; before the first record of a kind a line of the same form with
 *   the columns' names. A text with a comma or quotes stands in quotes, which are doubled in it
 *   (RFC 4180). What there is not is empty.
 * - JSON: {"hpmstat":"KIND","column":value,...} on one line. What there is not is null.
 *
 * A number whose unit its kind does not say has it in its column's name: _ms, _bytes, _pct. Both
 * forms are UTF-8: bytes that are not become U+FFFD. Of a text some 1,000 bytes are kept.
 *
 * A record is written at once, so that lines of other programs come between records only. One
 * thread.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum record_format { RECORD_CSV, RECORD_JSON };

/* Begins a record of `tool`. kind: a string constant. All records of a kind have the same
 * columns. */
void record_begin(enum record_format format, const char *tool, const char *kind);
void record_text(const char *column, const char *value);
void record_number(const char *column, uint64_t value);
/* With `digits` digits behind the point; nothing if it is no finite number. */
void record_real(const char *column, double value, int digits);
void record_none(const char *column);
/* The same where `known`, else nothing. */
void record_number_if(const char *column, bool known, uint64_t value);
void record_real_if(const char *column, bool known, double value, int digits);
/* A text; nothing if it is NULL, empty or "?". */
void record_text_if(const char *column, const char *value);
void record_end(void);
