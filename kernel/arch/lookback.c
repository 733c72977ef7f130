/* Prints registers and call chains. */
#include "frame.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"

#define BACKTRACE_MAX 64

extern char text_start[], text_end[];

void arch_frame_print(const struct arch_frame *frame)
{
    struct frame_register r[FRAME_REGISTERS];

    frame_registers(frame, r);
    for (size_t i = 0; i < ARRAY_SIZE(r); i++)
        kprintf("%s%s %016llx",
                i % 4 ? "  "
                : i   ? "\n  "
                      : "  ",
                r[i].name, (unsigned long long)r[i].value);
    kprintf("\n");
}

static bool in_text(vaddr_t pc)
{
    return pc >= (vaddr_t)text_start && pc < (vaddr_t)text_end;
}

/*
 * A link of the call chain is two words: the caller's link and the return address. The entry code
 * adds interrupted code to the chain, so one walk crosses interrupts and stack switches.
 */
void arch_backtrace(const struct arch_frame *frame, void (*step)(vaddr_t pc, void *arg), void *arg)
{
    uint64_t link = frame ? arch_frame_link(frame) : (uint64_t)__builtin_frame_address(0);
    uint64_t pc, next;

    if (frame)
        step(arch_frame_pc(frame), arg);
    /* A jump to an address without code has stored the caller's address, but made no link. */
    if (frame && !arch_frame_user(frame) && !in_text(arch_frame_pc(frame)) &&
        !arch_peek64((vaddr_t)frame_return(frame), &pc))
        step(pc, arg);
    for (unsigned i = 0;
         i < BACKTRACE_MAX && link >= DIRECT_BASE && IS_ALIGNED(link, sizeof(uint64_t)); i++) {
        if (arch_peek64(link + 8, &pc) || arch_peek64(link, &next) || !pc)
            return;
        step(pc, arg);
        link = next;
    }
}
