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

/* The FIFO says only when it is empty. */
size_t arch_console_write(const char *s, size_t n)
{
    if (!present)
        return n;
    if (!(inb(COM1 + LSR) & LSR_THRE))
        return 0;
    n = MIN(n, (size_t)FIFO_SIZE);
    for (size_t i = 0; i < n; i++)
        outb(COM1 + THR, (uint8_t)s[i]);
    return n;
}

int arch_console_read(void)
{
    if (!present || !(inb(COM1 + LSR) & LSR_DR))
        return -1;
    return inb(COM1 + RBR);
}
