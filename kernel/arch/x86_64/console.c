/*
 * The serial console: a 16550 at COM1, polled, 115200 8N1 (National Semiconductor PC16550D data
 * sheet, table 2). Without one, output is discarded and there is no input.
 */
#include "kernel/arch/arch.h"
#include "internal.h"
#include "x86.h"

#define COM1 0x3f8
enum {
    THR = 0,
    RBR = 0,
    DLL = 0,
    IER = 1,
    DLM = 1,
    FCR = 2,
    IIR = 2,
    LCR = 3,
    MCR = 4,
    LSR = 5,
    SCR = 7
};
#define LSR_DR    0x01
#define LSR_BAD   0x1c /* parity, framing, break: the byte is not what was sent */
#define LSR_THRE  0x20
#define IIR_FIFOS 0xc0 /* both bits: the FIFOs are on */
#define FCR_FIFOS 0x01
#define MCR_LOOP  0x10
#define FIFO_SIZE 16

static bool present;
/* The byte that had arrived when the FIFOs were switched on, which empties them. */
static int early = -1;

/* Returns whether the port exists: absent ports read as all ones and store nothing. */
static bool scratch_works(uint8_t v)
{
    outb(COM1 + SCR, v);
    return inb(COM1 + SCR) == v;
}

/* Receives the next byte, or -1. */
static int receive(void)
{
    uint8_t status = inb(COM1 + LSR);

    if (!(status & LSR_DR))
        return -1;
    uint8_t byte = inb(COM1 + RBR);
    return status & LSR_BAD ? -1 : byte;
}

/* Switches the FIFOs on and keeps input that has arrived: either the FIFOs are on already, or it is
 * one byte, which is read first. In loop-back mode QEMU does not deliver the next byte as soon as
 * that is read; nothing may be between reading it and switching on. */
static void switch_fifos_on(void)
{
    if ((inb(COM1 + IIR) & IIR_FIFOS) != IIR_FIFOS) {
        outb(COM1 + MCR, MCR_LOOP);
        early = receive();
    }
    outb(COM1 + FCR, FCR_FIFOS);
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
    switch_fifos_on();
    outb(COM1 + MCR, 0x03); /* DTR, RTS */
    return SERIAL_FOUND;
}

bool console_found(void)
{
    return present;
}

/* Fills the FIFO when it is empty; it only reports that. */
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
    int c = early;

    early = -1;
    return c >= 0 || !present ? c : receive();
}
