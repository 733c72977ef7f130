/* The real-time clock beside the CMOS memory (Motorola MC146818A; ACPI's flag says if it is
 * missing). */
#include "rtc.h"
#include "x86.h"
#include "kernel/arch/arch.h"

#define PORT_INDEX 0x70
#define PORT_DATA  0x71
#define READS_MAX  100000 /* a change takes 2 ms at most, a port access a microsecond */

static uint8_t read_register(uint8_t index)
{
    outb(PORT_INDEX, index);
    return inb(PORT_DATA);
}

static void read_all(struct rtc_registers *r)
{
    r->second = read_register(0x00);
    r->minute = read_register(0x02);
    r->hour = read_register(0x04);
    r->day = read_register(0x07);
    r->month = read_register(0x08);
    r->year = read_register(0x09);
    r->format = read_register(0x0b);
}

/* Two readings that agree are no mixture of before and after a change. */
int arch_rtc_read(uint64_t *seconds)
{
    struct rtc_registers r, again;

    for (unsigned i = 0; i < READS_MAX; i++) {
        if (read_register(0x0a) & RTC_CHANGING)
            continue;
        read_all(&r);
        read_all(&again);
        if (!memcmp(&r, &again, sizeof(r)))
            return rtc_decode(&r, seconds) ? 0 : -ENODEV;
    }
    return -ENODEV;
}
