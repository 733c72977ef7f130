/* See date.h. */
#include "kernel/lib/date.h"
#include "kernel/lib/text.h"

#define FIRST_YEAR 1970
#define DAY_S      86400
#define DAYS_4     1461   /* of four years with a leap day */
#define DAYS_100   36524  /* of a century without one in its last year */
#define DAYS_400   146097 /* of four centuries */

static bool is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Returns the days from the first of year 1 to the first of this year. */
static uint64_t days_before_year(unsigned year)
{
    uint64_t past = year - 1;

    return past * 365 + past / 4 - past / 100 + past / 400;
}

bool date_to_seconds(const struct date *d, uint64_t *seconds)
{
    if (d->year < FIRST_YEAR || d->year > 9999 || d->month < 1 || d->month > 12 || d->day < 1 ||
        d->day > days_of_month(d->year, d->month) || d->hour > 23 || d->minute > 59 ||
        d->second > 59)
        return false;
    uint64_t days = days_before_year(d->year) - days_before_year(FIRST_YEAR) + d->day - 1;
    for (unsigned m = 1; m < d->month; m++)
        days += days_of_month(d->year, m);
    *seconds = days * DAY_S + d->hour * 3600 + d->minute * 60 + d->second;
    return *seconds < DATE_END;
}

/* Reads `digits` digits and, if it is not NUL, the character behind them. */
static bool parse_part(const char **s, unsigned digits, char behind, unsigned *out)
{
    *out = 0;
    for (; digits--; ++*s) {
        int d = text_digit(**s, 10);
        if (d < 0)
            return false;
        *out = *out * 10 + (unsigned)d;
    }
    return !behind || *(*s)++ == behind;
}

static bool parse_seconds(const char *s, uint64_t *seconds)
{
    *seconds = 0;
    if (!*s)
        return false;
    for (; *s; s++) {
        int d = text_digit(*s, 10);
        if (d < 0)
            return false;
        *seconds = *seconds * 10 + (uint64_t)d;
        if (*seconds >= DATE_END)
            return false;
    }
    return true;
}

bool date_parse(const char *s, uint64_t *seconds)
{
    struct date d = {0};
    const char *at = s;

    if (!parse_part(&at, 4, '-', &d.year))
        return parse_seconds(s, seconds);
    if (!parse_part(&at, 2, '-', &d.month) || !parse_part(&at, 2, '\0', &d.day))
        return false;
    if (*at && (*at++ != 'T' || !parse_part(&at, 2, ':', &d.hour) ||
                !parse_part(&at, 2, ':', &d.minute) || !parse_part(&at, 2, '\0', &d.second)))
        return false;
    return !*at && date_to_seconds(&d, seconds);
}

/* Splits days since the first of year 1 into whole years, and leaves those of the last. */
static unsigned take_years(uint64_t *days)
{
    uint64_t years = *days / DAYS_400 * 400;

    *days %= DAYS_400;
    uint64_t centuries = MIN(*days / DAYS_100, (uint64_t)3);
    *days -= centuries * DAYS_100;
    years += centuries * 100 + *days / DAYS_4 * 4;
    *days %= DAYS_4;
    uint64_t rest = MIN(*days / 365, (uint64_t)3);
    *days -= rest * 365;
    return (unsigned)(years + rest) + 1;
}

static char *put_part(char *to, unsigned value, unsigned digits, char behind)
{
    for (unsigned i = digits; i--; value /= 10)
        to[i] = (char)('0' + value % 10);
    to[digits] = behind;
    return to + digits + 1;
}

const char *date_format(uint64_t seconds, char out[DATE_TEXT_MAX])
{
    uint64_t days = seconds / DAY_S + days_before_year(FIRST_YEAR);
    unsigned in_day = (unsigned)(seconds % DAY_S), month = 1;
    unsigned year = take_years(&days);
    char *to = put_part(out, year, 4, '-');

    for (; days >= days_of_month(year, month); month++)
        days -= days_of_month(year, month);
    to = put_part(to, month, 2, '-');
    to = put_part(to, (unsigned)days + 1, 2, 'T');
    to = put_part(to, in_day / 3600, 2, ':');
    to = put_part(to, in_day / 60 % 60, 2, ':');
    put_part(to, in_day % 60, 2, '\0');
    return out;
}
