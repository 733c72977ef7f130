/* See callfuzz.h. */
#define _GNU_SOURCE
#include "test/linux/callfuzz/callfuzz.h"
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* rdi: number, rsi: arguments. Calls that make a child: clone, fork, vfork, clone3. */
__asm__(".text\n"
        ".globl raw_call\n"
        "raw_call:\n"
        "	push %rbx\n"
        "	mov %rdi, %rax\n"
        "	mov %rdi, %rbx\n"
        "	mov %rsi, %r11\n"
        "	mov (%r11), %rdi\n"
        "	mov 8(%r11), %rsi\n"
        "	mov 16(%r11), %rdx\n"
        "	mov 24(%r11), %r10\n"
        "	mov 32(%r11), %r8\n"
        "	mov 40(%r11), %r9\n"
        "	syscall\n"
        "	test %rax, %rax\n"
        "	jnz 1f\n"
        "	cmp $56, %rbx\n"
        "	je thread_end\n"
        "	cmp $57, %rbx\n"
        "	je thread_end\n"
        "	cmp $58, %rbx\n"
        "	je thread_end\n"
        "	cmp $435, %rbx\n"
        "	je thread_end\n"
        "1:	pop %rbx\n"
        "	ret\n"
        ".globl thread_end\n"
        "thread_end:\n"
        "	mov $60, %eax\n"
        "	xor %edi, %edi\n"
        "	syscall\n"
        "	jmp thread_end\n"
        ".globl signal_restorer\n"
        "signal_restorer:\n"
        "	mov $15, %eax\n"
        "	syscall\n"
        "	ud2\n"
        ".globl frame_return\n"
        "frame_return:\n"
        "	mov %rdi, %rsp\n"
        "	mov $15, %eax\n"
        "	syscall\n"
        "	ud2\n"
        ".globl frame_landing\n"
        "frame_landing:\n"
        "	lea landing_stack_end(%rip), %rsp\n"
        "	push $2\n"
        "	pushfq\n"
        "	pop landing_flags(%rip)\n"
        "	popfq\n"
        "	fninit\n"
        "	ldmxcsr landing_mxcsr(%rip)\n"
        "	sub $8, %rsp\n"
        "	and $-16, %rsp\n"
        "	call frame_landed\n"
        "	ud2\n"
        ".data\n"
        ".balign 16\n"
        "landing_mxcsr: .long 0x1f80\n"
        ".bss\n"
        ".balign 16\n"
        ".globl landing_flags\n"
        "landing_flags: .skip 16\n"
        ".skip 65536\n"
        "landing_stack_end: .skip 16\n"
        ".text\n");
extern uint64_t landing_flags;

const size_t frame_before = 8;

/* The context, and the FP state that it points to. */
static size_t fpu_bytes(const ucontext_t *u)
{
    uint32_t magic, size;

    memcpy(&magic, (const char *)u->uc_mcontext.fpregs + 464, sizeof magic);
    memcpy(&size, (const char *)u->uc_mcontext.fpregs + 468, sizeof size);
    return magic == 0x46505853 && size < 8192 ? size : 512;
}

size_t frame_bytes(const void *context)
{
    const ucontext_t *u = context;

    return (size_t)((const char *)u->uc_mcontext.fpregs - (const char *)u) + fpu_bytes(u);
}

void frame_mend(void *context)
{
    ucontext_t *u = context;

    u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)frame_landing;
}

void frame_calm(void *context)
{
    frame_mend(context);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] = 2;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_CSGSFS] = 0x2b000000000033;
}

uint64_t frame_copy(const void *context, void *to)
{
    size_t ahead = (size_t)((const char *)((const ucontext_t *)context)->uc_mcontext.fpregs -
                            (const char *)context);
    ucontext_t *u = to;

    memcpy(to, context, frame_bytes(context));
    u->uc_mcontext.fpregs = (void *)((char *)to + ahead);
    return (uint64_t)(uintptr_t)to;
}

void frame_half_right(void *context, struct random *r)
{
    ucontext_t *u = context;
    uint8_t *fpu = (uint8_t *)u->uc_mcontext.fpregs;
    uint64_t any = random_next(r), bit = 1ull << (any >> 8 & 63);

    switch (any % 16) {
    case 0: /* IOPL, IF, VM, NT, TF, AC, RF */
    case 1:
        u->uc_mcontext.gregs[REG_EFL] ^= (greg_t)(bit & 0x3fffff);
        break;
    case 2:
        u->uc_mcontext.gregs[REG_EFL] = (greg_t)random_next(r);
        break;
    case 3: /* cs, gs, fs, ss */
        u->uc_mcontext.gregs[REG_CSGSFS] = (greg_t)random_next(r);
        break;
    case 4:
        u->uc_mcontext.gregs[REG_CSGSFS] ^= (greg_t)bit;
        break;
    case 5: /* MXCSR and its mask */
        fpu[24 + random_below(r, 8)] = (uint8_t)random_next(r);
        break;
    case 6: /* the features of the header of XSAVE */
        if (fpu_bytes(u) > 512)
            fpu[512 + random_below(r, 64)] ^= (uint8_t)(1u << (any >> 8 & 7));
        break;
    case 7: /* Linux's magic, and the size and features of the state */
        fpu[464 + random_below(r, 48)] ^= (uint8_t)(1u << (any >> 8 & 7));
        break;
    case 8:
        fpu[fpu_bytes(u) - 1 - random_below(r, 8)] ^= (uint8_t)(1u << (any >> 8 & 7));
        break;
    case 9:
        u->uc_mcontext.fpregs = (void *)(random_one_in(r, 2) ? 0 : (uintptr_t)any);
        break;
    case 10:
        u->uc_mcontext.fpregs =
            (void *)((char *)u->uc_mcontext.fpregs + (int)(any >> 8 & 127) - 64);
        break;
    case 11: /* not canonical, the kernel's, the end of user space */
        u->uc_mcontext.gregs[REG_RIP] ^= (greg_t)(bit & 0xffff800000000000ull);
        break;
    case 12:
        u->uc_mcontext.gregs[REG_RSP] = (greg_t)random_next(r);
        break;
    case 13:
        fpu[any >> 8 & 511] = (uint8_t)(any >> 20);
        break;
    case 14:
        u->uc_mcontext.gregs[any >> 8 & 15] = (greg_t)random_next(r);
        break;
    default:
        u->uc_flags ^= bit;
        u->uc_stack.ss_flags ^= (int)any;
    }
}

const char *privileges_wrong(void)
{
    uint16_t cs, ss;

    __asm__ volatile("mov %%cs, %0" : "=r"(cs));
    __asm__ volatile("mov %%ss, %0" : "=r"(ss));
    if ((cs & 3) != 3 || (ss & 3) != 3)
        return "a selector of the kernel's";
    if (landing_flags & 0x3000)
        return "rights to ports (IOPL)";
    if (!(landing_flags & 0x200))
        return "interrupts are off";
    if (landing_flags & 0x1a0000)
        return "flags of virtual interrupts or of virtual-8086 mode";
    return NULL;
}
