/*
 * x86-64: which instructions matter, and their effects on the model. Encodings: Intel SDM volume 2,
 * chapter 2 and appendix A. The first instructions of a boot run in 16- and 32-bit mode, where 0x40
 * to 0x4f are not prefixes but instructions of one byte; none that matters here is that short.
 */
#include "test/machine/effects.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, CR0 = 16, CR3, CR4, RIP };
static const char *const registers[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi",
                                        "rdi", "r8",  "r9",  "r10", "r11", "r12", "r13",
                                        "r14", "r15", "cr0", "cr3", "cr4", "rip", NULL};

#define CR3_KEEP  ((uint64_t)1 << 63) /* does not flush the address space that is loaded */
#define CR4_PGE   (1u << 7)
#define CR4_PCIDE (1u << 17)

/* Model-specific registers, SDM volume 4 and volume 3 chapter 11.12 (x2APIC). */
#define MSR_TSC_DEADLINE 0x6e0
#define MSR_X2APIC       0x800
#define MSR_X2APIC_ICR   0x830
#define MSR_X2APIC_SELF  0x83f
#define MSR_X2APIC_LAST  0x8ff

#define LAPIC_ICR 0xfee00300 /* xAPIC, low half */

/* ---- What they do ---------------------------------------------------------------------------- */

static void synchronise(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_fence(v);
    execute_charge(v, machine.topology->context_sync_cycles);
}

static void system_call(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_exception(v);
}

static void write_msr(struct vcpu *v, const struct insn *i)
{
    uint32_t msr = (uint32_t)execute_register(v, RCX);

    if (msr == MSR_X2APIC_ICR || msr == MSR_X2APIC_SELF)
        execute_charge(v, machine.topology->ipi_cycles);
    if (msr == MSR_TSC_DEADLINE || (msr >= MSR_X2APIC && msr <= MSR_X2APIC_LAST))
        execute_device(v);
    else
        synchronise(v, i);
}

static void read_msr(struct vcpu *v, const struct insn *i)
{
    uint32_t msr = (uint32_t)execute_register(v, RCX);

    (void)i;
    if (msr >= MSR_X2APIC && msr <= MSR_X2APIC_LAST)
        execute_device(v);
}

static void invalidation(struct vcpu *v)
{
    execute_charge(v, machine.topology->tlb_invalidate_cycles);
}

static void write_cr(struct vcpu *v, const struct insn *i)
{
    uint64_t value = execute_register(v, i->reg);
    uint64_t cr4 = execute_register(v, CR4);

    switch (i->code) {
    case 0:
        execute_flush_all(v);
        break;
    case 3:
        v->space = cr4 & CR4_PCIDE ? value & 0xfff : 0;
        if (!(cr4 & CR4_PCIDE) || !(value & CR3_KEEP))
            execute_flush_space(v, v->space);
        break;
    case 4:
        execute_flush_all(v);
        v->globals = value & CR4_PGE;
        if (!(value & CR4_PCIDE))
            v->space = 0;
        break;
    default:
        return;
    }
    invalidation(v);
}

static void invalidate_page(struct vcpu *v, const struct insn *i)
{
    uint64_t va = (uint64_t)i->offset;

    if (i->base >= 0)
        va += execute_register(v, i->base);
    if (i->index >= 0)
        va += execute_register(v, i->index) << i->scale;
    execute_flush_page(v, va, v->space);
    invalidation(v);
}

/* INVPCID, and INVLPG with a segment base: flushes more than necessary, which can cost misses but
 * never leaves a stale translation. */
static void invalidate_all(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_flush_all(v);
    invalidation(v);
}

static bool sends_ipi(paddr_t pa)
{
    return pa == LAPIC_ICR;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

struct prefixes {
    bool lock, repeat, operand, segment;
    uint8_t rex;
};

static size_t skip_prefixes(const uint8_t *bytes, size_t size, struct prefixes *p)
{
    size_t at = 0;
    for (; at < size; at++) {
        switch (bytes[at]) {
        case 0xf0:
            p->lock = true;
            continue;
        case 0xf3:
            p->repeat = true;
            continue;
        case 0x66:
            p->operand = true;
            continue;
        case 0x64:
        case 0x65:
            p->segment = true;
            continue;
        case 0xf2:
        case 0x67:
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
            continue;
        }
        break;
    }
    if (at < size && (bytes[at] & 0xf0) == 0x40)
        p->rex = bytes[at++];
    return at;
}

static int32_t displacement(const uint8_t *at, size_t bytes)
{
    int32_t value = 0;
    if (bytes == 1)
        return (int8_t)at[0];
    if (bytes == 4)
        memcpy(&value, at, sizeof(value));
    return value;
}

/* Decodes the memory operand of a ModRM byte; `left` is the number of bytes from that byte on.
 * Returns false if it does not fit. */
static bool decode_address(struct insn *i, const uint8_t *modrm, size_t left, uint8_t rex)
{
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    size_t used = 1, bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;

    i->base = (int8_t)(rm | (rex & 1) << 3);
    i->index = -1;
    if (rm == 4) {
        if (left < 2)
            return false;
        uint8_t sib = modrm[used++];
        i->index = (int8_t)((sib >> 3 & 7) | (rex & 2) << 2);
        i->index = i->index == RSP ? -1 : i->index;
        i->scale = sib >> 6;
        i->base = (int8_t)((sib & 7) | (rex & 1) << 3);
        if ((sib & 7) == RBP && mod == 0) {
            i->base = -1;
            bytes = 4;
        }
    } else if (rm == 5 && mod == 0) {
        i->base = -1;
        i->offset = (int64_t)(i->pc + i->bytes);
        bytes = 4;
    }
    if (used + bytes > left)
        return false;
    i->offset += displacement(modrm + used, bytes);
    return true;
}

static void decode_group7(struct insn *i, const uint8_t *modrm, size_t left,
                          const struct prefixes *p)
{
    if (modrm[0] == 0xc9) { /* MWAIT; QEMU treats it as a pause when there are other CPUs */
        i->execute = pause_cpu;
    } else if (modrm[0] == 0xe8) { /* SERIALIZE */
        i->execute = synchronise;
    } else if (modrm[0] >> 6 != 3 && (modrm[0] >> 3 & 7) == 7) { /* INVLPG */
        bool known = !p->segment && decode_address(i, modrm, left, p->rex);
        i->execute = known ? invalidate_page : invalidate_all;
        i->reads_registers = known;
    }
}

/* Decodes the opcode after 0x0f; `left` is the number of bytes from the opcode on. */
static void decode_two_byte(struct insn *i, const uint8_t *op, size_t left,
                            const struct prefixes *p)
{
    i->predicted = (op[0] & 0xf0) == 0x80; /* Jcc */
    switch (op[0]) {
    case 0x01:
        if (left > 1)
            decode_group7(i, op + 1, left - 1, p);
        break;
    case 0x05: /* SYSCALL */
    case 0x34: /* SYSENTER */
        i->execute = system_call;
        break;
    case 0x07: /* SYSRET */
    case 0x35: /* SYSEXIT */
        i->execute = exception_return;
        break;
    case 0x08: /* INVD */
    case 0x09: /* WBINVD */
    case 0xa2: /* CPUID */
        i->execute = synchronise;
        break;
    case 0x22: /* MOV to CR */
        if (left < 2)
            break;
        i->execute = write_cr;
        i->reads_registers = true;
        i->code = op[1] >> 3 & 7;
        i->reg = (int8_t)((op[1] & 7) | (p->rex & 1) << 3);
        break;
    case 0x30: /* WRMSR */
        i->execute = write_msr;
        i->reads_registers = true;
        break;
    case 0x32: /* RDMSR */
        i->execute = read_msr;
        i->reads_registers = true;
        break;
    case 0x38: /* INVPCID */
        if (left > 1 && op[1] == 0x82 && p->operand)
            i->execute = invalidate_all;
        break;
    case 0xae: /* LFENCE, MFENCE, SFENCE */
        if (left > 1 && op[1] >= 0xe8)
            i->execute = fence;
        break;
    }
}

static void decode(struct insn *i, const uint8_t *bytes, size_t size)
{
    struct prefixes p = {0};
    size_t at = skip_prefixes(bytes, size, &p);

    if (at >= size)
        return;
    i->atomic = p.lock;
    i->predicted = (bytes[at] & 0xf0) == 0x70; /* Jcc */
    switch (bytes[at]) {
    case 0x0f:
        if (at + 1 < size)
            decode_two_byte(i, bytes + at + 1, size - at - 1, &p);
        break;
    case 0x86: /* XCHG locks by itself; between registers it makes no access */
    case 0x87:
        i->atomic = true;
        break;
    case 0x90:
        if (p.repeat)
            i->execute = pause_cpu;
        break;
    /* MOVS, STOS: with REP a line at a time, as processors with fast strings (CPUID ERMS) do. */
    case 0xa4:
    case 0xa5:
    case 0xaa:
    case 0xab:
        i->string = p.repeat;
        i->execute = p.repeat ? begin_string : NULL;
        break;
    case 0xcf: /* IRET */
        i->execute = exception_return;
        break;
    case 0xf4:
        i->execute = halt;
        break;
    case 0xc2: /* RET */
    case 0xc3:
        i->predicted = i->back = true;
        break;
    case 0xe0: /* LOOPNE, LOOPE, LOOP, JRCXZ */
    case 0xe1:
    case 0xe2:
    case 0xe3:
        i->predicted = true;
        break;
    case 0xe8: /* CALL */
        i->jump = i->call = true;
        break;
    case 0xe9: /* JMP */
    case 0xeb:
        i->jump = true;
        break;
    case 0xff: /* CALL, JMP through a register or memory */
        i->predicted =
            at + 1 < size && (bytes[at + 1] >> 3 & 7) >= 2 && (bytes[at + 1] >> 3 & 7) <= 5;
        i->call = i->predicted && (bytes[at + 1] >> 3 & 7) <= 3;
        break;
    case 0x6c: /* INS, OUTS */
    case 0x6d:
    case 0x6e:
    case 0x6f:
    case 0xe4: /* IN, OUT */
    case 0xe5:
    case 0xe6:
    case 0xe7:
    case 0xec:
    case 0xed:
    case 0xee:
    case 0xef:
        i->execute = device_register;
        break;
    }
}

const struct isa isa_x86_64 = {
    .target = "x86_64",
    .registers = registers,
    .pc = RIP,
    .sp = RSP,
    .call_pushes = 8,
    .decode = decode,
    .exception = "x86_cpu_do_interrupt",
    .interrupt = "x86_cpu_exec_interrupt",
    .sends_ipi = sends_ipi,
};
