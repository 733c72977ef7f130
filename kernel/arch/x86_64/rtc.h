/* What the real-time clock's registers mean. Pure. */
#pragma once
#include "kernel/lib/date.h"

#define RTC_CHANGING 0x80 /* register A */
#define RTC_BINARY   0x04 /* register B: not decimal digits */
#define RTC_24_HOURS 0x02
#define RTC_PM       0x80 /* of an hour from 1 to 12 */

struct rtc_registers {
    uint8_t second, minute, hour, day, month, year; /* year: its last two digits */
    uint8_t format;                                 /* register B */
};

/* Converts registers to seconds since 1970: years from 1970 to 2069. Returns false if they hold no
 * date, as where there is no such clock. */
static inline bool rtc_decode(const struct rtc_registers *r, uint64_t *seconds)
{
    uint8_t raw[] = {r->second, r->minute, r->hour & (uint8_t)~RTC_PM, r->day, r->month, r->year};

    for (unsigned i = 0; !(r->format & RTC_BINARY) && i < sizeof(raw); i++) {
        if ((raw[i] & 0xf) > 9 || raw[i] >> 4 > 9)
            return false;
        raw[i] = (uint8_t)((raw[i] >> 4) * 10 + (raw[i] & 0xf));
    }
    if (raw[5] > 99 || (!(r->format & RTC_24_HOURS) && (raw[2] < 1 || raw[2] > 12)))
        return false;
    if (!(r->format & RTC_24_HOURS))
        raw[2] = (uint8_t)(raw[2] % 12 + (r->hour & RTC_PM ? 12 : 0));
    struct date d = {.year = raw[5] + (raw[5] < 70 ? 2000u : 1900u),
                     .month = raw[4],
                     .day = raw[3],
                     .hour = raw[2],
                     .minute = raw[1],
                     .second = raw[0]};
    return date_to_seconds(&d, seconds);
}
