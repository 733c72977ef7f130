/* Dates of the proleptic Gregorian calendar in UTC, without leap seconds, as seconds since 1970.
 * Pure. */
#pragma once
#include "kernel/lib/base.h"

struct date {
    unsigned year, month, day; /* 1970 on; 1 to 12; 1 to 31 */
    unsigned hour, minute, second;
};

/* The first second that CLOCK_REALTIME may not reach: in nanoseconds it fits 63 bits with a century
 * to spare. */
#define DATE_END ((uint64_t)5995814400) /* 2160-01-01 */
/* Room for "2026-01-01T00:00:00". */
#define DATE_TEXT_MAX 20

/* Converts a date. Returns false if it does not exist, or is not below DATE_END. */
bool date_to_seconds(const struct date *d, uint64_t *seconds);
/* Reads seconds since 1970 or YYYY-MM-DD[THH:MM:SS]. Returns false if `s` is no such text or the
 * date does not exist or is not below DATE_END. */
bool date_parse(const char *s, uint64_t *seconds);
/* Writes seconds, below DATE_END, as YYYY-MM-DDTHH:MM:SS. Returns `out`. */
const char *date_format(uint64_t seconds, char out[DATE_TEXT_MAX]);
