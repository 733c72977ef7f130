/*
 * The serial console: a 16550 at COM1, polled, 115200 8N1 (National Semiconductor PC16550D data sheet, table
 * 2). Without one, output vanishes and input never comes.
 */
#include "kernel/arch/arch.h"
#include "x86.h"

#define COM1 0x3f8
enum { THR = 0, RBR = 0, DLL = 0, IER = 1, DLM = 1, FCR = 2, LCR = 3, MCR = 4, LSR = 5, SCR = 7 };
#define LSR_DR    0x01
#define LSR_THRE  0x20
#define FIFO_SIZE 16
/* A transmitter that is stuck must not hang the kernel: the FIFO drains in 1.4 ms, a read takes about 1 us.
 */
#define SPINS_MAX 100000

static bool present;

/* Absent ports read as all ones and remember nothing. */
static bool scratch_works(uint8_t v)
{
    outb(COM1 + SCR, v);
    return inb(COM1 + SCR) == v;
}

enum arch_serial arch_console_init(void)
{
    present = scratch_works(0x5a) && scratch_works(0xa5);
    if (!present)
        return SERIAL_NONE;
    outb(COM1 + IER, 0);
    outb(COM1 + LCR, 0x80); /* divisor latch */
    outb(COM1 + DLL, 1);
    outb(COM1 + DLM, 0);
    outb(COM1 + LCR, 0x03); /* 8N1 */
    outb(COM1 + FCR, 0x07); /* FIFOs on and empty */
    outb(COM1 + MCR, 0x03); /* DTR, RTS */
    return SERIAL_FOUND;
}

void arch_console_write(const char *s, size_t n)
{
    unsigned room = 0;

    for (size_t i = 0; present && i < n; i++) {
        for (unsigned spins = 0; !room && !(inb(COM1 + LSR) & LSR_THRE); spins++) {
            if (spins == SPINS_MAX)
                return;
            arch_cpu_relax();
        }
        if (!room)
            room = FIFO_SIZE;
        outb(COM1 + THR, (uint8_t)s[i]);
        room--;
    }
}

int arch_console_read(void)
{
    if (!present || !(inb(COM1 + LSR) & LSR_DR))
        return -1;
    return inb(COM1 + RBR);
}
