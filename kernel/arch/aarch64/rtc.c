/* The PrimeCell real-time clock PL031 (Arm DDI 0224): its first register is the seconds since
 * 1970. */
#include "platform_find.h"
#include "kernel/arch/arch.h"

#define REGISTERS PAGE_SIZE

int arch_rtc_read(uint64_t *seconds)
{
    paddr_t rtc = platform_find(NULL)->rtc;
    const volatile void *registers = rtc ? arch_map_device(rtc, REGISTERS) : NULL;

    if (!registers)
        return -ENODEV;
    *seconds = arch_io_read32(registers);
    return *seconds ? 0 : -ENODEV;
}
