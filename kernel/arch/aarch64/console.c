/*
 * The serial console: a PL011 that firmware names, polled (Arm PrimeCell UART PL011, DDI 0183,
 * chapter 3). Keeps the firmware's speed and format. Without one, output is discarded and there is
 * no input.
 */
#include "internal.h"
#include "platform_find.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/pt.h"

/* At the end of the device area, before and after arch_init_memory(). */
#define CONSOLE_VA (DEVICE_BASE + ((uint64_t)1 << 39) - PAGE_SIZE)

enum { UARTDR = 0x00, UARTFR = 0x18, UARTCR = 0x30, UARTIMSC = 0x38 };
#define FR_RXFE 0x10
#define FR_TXFF 0x20
#define CR_ON   0x301 /* receiver, transmitter, UART */
/* Break, parity, framing: the byte is not what was sent. After an overrun it is. */
#define DR_BAD 0x700

static paddr_t base; /* page of the registers */
static char *regs;   /* NULL: no console */

void console_map(struct pt *tables)
{
    if (regs && pt_map(tables, CONSOLE_VA, base, PAGE_SIZE, PROT_R | PROT_W | PROT_DEVICE))
        panic("console: no memory to map it");
}

enum arch_serial arch_console_init(void)
{
    const struct platform_uart *uart = uart_find(start_info());

    if (regs || uart->kind != UART_PL011 || uart->base >> arch_physical_bits())
        return regs ? SERIAL_NAMED : SERIAL_NONE;
    base = ALIGN_DOWN(uart->base, PAGE_SIZE);
    regs = (char *)CONSOLE_VA + (uart->base & PAGE_MASK);
    console_map(start_tables());
    arch_io_write32(regs + UARTIMSC, 0);
    arch_io_write32(regs + UARTCR, arch_io_read32(regs + UARTCR) | CR_ON);
    return SERIAL_NAMED;
}

size_t arch_console_write(const char *s, size_t n)
{
    size_t i = 0;

    if (!regs)
        return n;
    for (; i < n && !(arch_io_read32(regs + UARTFR) & FR_TXFF); i++)
        arch_io_write32(regs + UARTDR, (uint8_t)s[i]);
    return i;
}

int arch_console_read(void)
{
    if (!regs || (arch_io_read32(regs + UARTFR) & FR_RXFE))
        return -1;
    uint32_t v = arch_io_read32(regs + UARTDR);
    return v & DR_BAD ? -1 : (int)(v & 0xff);
}
