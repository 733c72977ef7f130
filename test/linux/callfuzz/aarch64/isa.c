/* See callfuzz.h. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* x0: number, x1: arguments. Calls that make a child: clone, clone3. */
__asm__(".text\n"
        ".globl raw_call\n"
        "raw_call:\n"
        "	mov x8, x0\n"
        "	mov x9, x1\n"
        "	ldp x0, x1, [x9]\n"
        "	ldp x2, x3, [x9, #16]\n"
        "	ldp x4, x5, [x9, #32]\n"
        "	svc #0\n"
        "	cbnz x0, 1f\n"
        "	cmp x8, #220\n"
        "	b.eq thread_end\n"
        "	cmp x8, #435\n"
        "	b.eq thread_end\n"
        "1:	ret\n"
        ".globl thread_end\n"
        "thread_end:\n"
        "	mov x8, #93\n"
        "	mov x0, #0\n"
        "	svc #0\n"
        "	b thread_end\n"
        ".globl signal_restorer\n"
        "signal_restorer:\n"
        "	mov x8, #139\n"
        "	svc #0\n"
        "	udf #0\n"
        ".globl frame_return\n"
        "frame_return:\n"
        "	mov sp, x0\n"
        "	mov x8, #139\n"
        "	svc #0\n"
        "	udf #0\n"
        ".globl frame_landing\n"
        "frame_landing:\n"
        "	adrp x0, landing_stack_end\n"
        "	add x0, x0, :lo12:landing_stack_end\n"
        "	mov sp, x0\n"
        "	msr fpcr, xzr\n"
        "	msr fpsr, xzr\n"
        "	bl frame_landed\n"
        "	udf #0\n"
        ".bss\n"
        ".balign 16\n"
        ".skip 65536\n"
        "landing_stack_end: .skip 16\n"
        ".text\n");

const size_t frame_before = 128; /* siginfo */

size_t frame_bytes(const void *context)
{
    (void)context;
    return offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t);
}

void frame_mend(void *context)
{
    ucontext_t *u = context;

    u->uc_mcontext.pc = (uintptr_t)frame_landing;
}

void frame_calm(void *context)
{
    frame_mend(context);
    ((ucontext_t *)context)->uc_mcontext.pstate = 0;
}

uint64_t frame_copy(const void *context, void *to)
{
    memcpy(to, context, frame_bytes(context));
    return (uint64_t)(uintptr_t)to - frame_before;
}

void frame_half_right(void *context, struct random *r)
{
    ucontext_t *u = context;
    uint8_t *records = u->uc_mcontext.__reserved;
    uint64_t any = random_next(r), bit = 1ull << (any >> 8 & 63);

    switch (any % 16) {
    case 0: /* the exception level, masks, the other instruction set, single steps */
    case 1:
    case 2:
        u->uc_mcontext.pstate ^= bit & 0xffffffff;
        break;
    case 3:
        u->uc_mcontext.pstate ^= 1 + random_below(r, 31);
        break;
    case 4:
        u->uc_mcontext.pstate = random_next(r);
        break;
    case 5: /* the first record's magic and size */
    case 6:
        records[random_below(r, 8)] ^= (uint8_t)(1u << (any >> 8 & 7));
        break;
    case 7: /* FPSR, FPCR */
        records[8 + random_below(r, 8)] = (uint8_t)random_next(r);
        break;
    case 8: /* what follows it */
        records[528 + random_below(r, 16)] = (uint8_t)random_next(r);
        break;
    case 9: { /* sizes near what there is room for */
        uint32_t size =
            (uint32_t)(random_one_in(r, 2) ? 4096 - 16 * random_below(r, 40) : random_below(r, 48));
        memcpy(records + (random_one_in(r, 2) ? 4 : 532), &size, sizeof size);
        break;
    }
    case 10: { /* records that there are elsewhere: SVE, extra, the fault's */
        static const uint32_t magics[] = {0x53564501, 0x45585401, 0x45535201, 0x46508001, 0};
        memcpy(records + (random_one_in(r, 2) ? 0 : 528), &magics[random_below(r, 5)], 4);
        break;
    }
    case 11:
        u->uc_mcontext.pc ^= random_one_in(r, 4) ? bit & 3 : bit & 0xffff800000000000ull;
        break;
    case 12:
        u->uc_mcontext.sp = random_next(r);
        break;
    case 13:
        records[16 + random_below(r, 512)] = (uint8_t)(any >> 20);
        break;
    case 14:
        u->uc_mcontext.regs[any >> 8 & 15] = random_next(r);
        break;
    default:
        u->uc_flags ^= bit;
        u->uc_stack.ss_flags ^= (int)any;
    }
}

/* What a program reads of PSTATE; anything else of the kernel's would end it at once. */
const char *privileges_wrong(void)
{
    uint64_t nzcv;

    __asm__ volatile("mrs %0, nzcv" : "=r"(nzcv));
    return nzcv & ~0xf0000000ull ? "bits beside the flags" : NULL;
}
