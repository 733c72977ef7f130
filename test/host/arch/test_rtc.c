/* The registers of a PC's real-time clock, in all the forms that it may have. */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/x86_64/rtc.h"

static uint8_t digits(unsigned v)
{
    return (uint8_t)(v / 10 << 4 | v % 10);
}

/* Sets registers of a time of 2026-11-26 in a form. */
static struct rtc_registers registers(unsigned hour, uint8_t format)
{
    uint8_t (*const of)(unsigned) = digits;
    bool binary = format & RTC_BINARY, afternoon = false;
    struct rtc_registers r = {.format = format};

    if (!(format & RTC_24_HOURS)) {
        afternoon = hour >= 12;
        hour = hour % 12 ? hour % 12 : 12;
    }
    r.second = binary ? 59 : of(59);
    r.minute = binary ? 38 : of(38);
    r.hour = (uint8_t)((binary ? hour : of(hour)) | (afternoon ? RTC_PM : 0));
    r.day = binary ? 26 : of(26);
    r.month = binary ? 11 : of(11);
    r.year = binary ? 26 : of(26);
    return r;
}

static void every_hour_is_read_in_every_form(void **state)
{
    static const uint8_t formats[] = {0, RTC_BINARY, RTC_24_HOURS, RTC_BINARY | RTC_24_HOURS};

    (void)state;
    for (unsigned hour = 0; hour < 24; hour++)
        for (unsigned i = 0; i < ARRAY_SIZE(formats); i++) {
            struct rtc_registers r = registers(hour, formats[i]);
            uint64_t s = 0;
            assert_true(rtc_decode(&r, &s));
            assert_int_equal(s, 1795651200 + hour * 3600 + 38 * 60 + 59);
        }
}

static void years_are_of_two_centuries(void **state)
{
    struct rtc_registers r = registers(0, RTC_24_HOURS);
    uint64_t s;

    (void)state;
    r.year = 0x69;
    assert_true(rtc_decode(&r, &s));
    assert_true(s > (uint64_t)99 * 365 * 86400);
    r.year = 0x70;
    assert_true(rtc_decode(&r, &s));
    assert_true(s < (uint64_t)365 * 86400);
}

static void what_is_no_date_is_refused(void **state)
{
    struct rtc_registers r;
    uint64_t s;

    (void)state;
    memset(&r, 0xff, sizeof(r));
    assert_false(rtc_decode(&r, &s));
    memset(&r, 0, sizeof(r));
    assert_false(rtc_decode(&r, &s));
    r = registers(1, RTC_24_HOURS);
    r.month = 0x1a;
    assert_false(rtc_decode(&r, &s));
    r = registers(1, 0);
    r.hour = 0x13;
    assert_false(rtc_decode(&r, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hour_is_read_in_every_form),
        cmocka_unit_test(years_are_of_two_centuries),
        cmocka_unit_test(what_is_no_date_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
