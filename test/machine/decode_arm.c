/*
 * AArch64: which instructions matter, and their effects on the model. Encodings: Arm ARM (DDI 0487)
 * C4.1 and C6.2, system registers and instructions D24 and C5. Every instruction is one
 * little-endian word, so a table of patterns describes all; the first that matches counts.
 *
 * Exceptions need no instruction here: SVC, HVC and the rest pass through QEMU's exception
 * function. Loads and stores report themselves, for any number of registers. A load-exclusive is a
 * load, and the store-exclusive after it an atomic operation: a read and an upgrade, as in a real
 * cache. The atomic instructions of FEAT_LSE are one access.
 */
#include <string.h>
#include "test/machine/effects.h"

/* Indices into struct vcpu.registers. An instruction that names ZR reads 0: see operand(). */
enum { X0, ZR = 31, TTBR0 = 31, TTBR1, TCR, SP, PC };
static const char *const registers[] = {
    "x0",  "x1",        "x2",        "x3",      "x4",  "x5",  "x6",  "x7",  "x8",  "x9",
    "x10", "x11",       "x12",       "x13",     "x14", "x15", "x16", "x17", "x18", "x19",
    "x20", "x21",       "x22",       "x23",     "x24", "x25", "x26", "x27", "x28", "x29",
    "x30", "TTBR0_EL1", "TTBR1_EL1", "TCR_EL1", "sp",  "pc",  NULL};

/* A system register or instruction, as bits 5 to 20 of MSR, MRS and SYS name it. */
#define SYSTEM(op0, op1, crn, crm, op2) \
    ((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))
#define OP1(system) ((system) >> 11 & 7)
#define CRM(system) ((system) >> 3 & 15)
#define OP2(system) ((system)&7)

#define TTBR0_EL1 SYSTEM(3, 0, 2, 0, 0)
#define TTBR1_EL1 SYSTEM(3, 0, 2, 0, 1)
#define TCR_EL1   SYSTEM(3, 0, 2, 0, 2)
#define SCTLR_EL1 SYSTEM(3, 0, 1, 0, 0)

#define TCR_A1     (1u << 22) /* TTBR1 has the address space, else TTBR0 */
#define ASID_SHIFT 48         /* in TTBRn_EL1 and in the operands of TLBI */
#define TLBI_PAGE  (((uint64_t)1 << 44) - 1)

#define ZVA_BYTES 64 /* DCZID_EL0.BS = 4, as on all of QEMU's processors */

/* GICD_SGIR, the GICv2's of QEMU's "virt". A GICv3 sends by system register. */
#define GICD_SGIR 0x08000f00

/* Arm DEN 0022, 5.1, without the bit of 64-bit calls. */
#define PSCI_CPU_SUSPEND 0x84000001u
#define PSCI_CPU_OFF     0x84000002u
#define PSCI_CPU_ON      0x84000003u
#define PSCI_64          0x40000000u

static uint64_t operand(struct vcpu *v, const struct insn *i)
{
    return i->reg == ZR ? 0 : execute_register(v, i->reg);
}

/* ---- What they do ---------------------------------------------------------------------------- */

static void synchronise(struct vcpu *v, const struct insn *i)
{
    (void)i;
    execute_charge(v, machine.topology->context_sync_cycles);
}

static void send_interrupt(struct vcpu *v, const struct insn *i)
{
    execute_charge(v, machine.topology->ipi_cycles);
    device_register(v, i);
}

static void call_firmware(struct vcpu *v, const struct insn *i)
{
    uint32_t function = (uint32_t)execute_register(v, X0) & ~PSCI_64;

    (void)i;
    v->parks = function == PSCI_CPU_SUSPEND || function == PSCI_CPU_OFF;
    if (function == PSCI_CPU_ON)
        execute_charge(v, machine.topology->ipi_cycles);
}

static void zero_block(struct vcpu *v, const struct insn *i)
{
    execute_block_store(v, ALIGN_DOWN(operand(v, i), ZVA_BYTES), ZVA_BYTES, i->pc);
}

static uint16_t space_of(uint64_t ttbr)
{
    return (uint16_t)(ttbr >> ASID_SHIFT);
}

static void write_ttbr(struct vcpu *v, const struct insn *i)
{
    bool tells = (execute_register(v, TCR) & TCR_A1) == (i->system == TTBR1_EL1 ? TCR_A1 : 0);

    if (tells)
        v->space = space_of(operand(v, i));
    v->code_page = NEVER;
    forget_hits(v);
}

/* Kernel translations count as global: no ASID is reported for TTBR1's half. */
static void write_control(struct vcpu *v, const struct insn *i)
{
    if (i->system == TCR_EL1)
        v->space = space_of(execute_register(v, operand(v, i) & TCR_A1 ? TTBR1 : TTBR0));
    v->globals = true;
    execute_flush_all(v);
}

static void flush_all(struct vcpu *v, uint64_t operand)
{
    (void)operand;
    execute_flush_all(v);
}

static vaddr_t tlbi_page(uint64_t operand)
{
    return (vaddr_t)((int64_t)((operand & TLBI_PAGE) << 20) >> 8);
}

static void flush_page(struct vcpu *v, uint64_t operand)
{
    execute_flush_page(v, tlbi_page(operand), space_of(operand));
}

static void flush_page_all(struct vcpu *v, uint64_t operand)
{
    execute_flush_page_all(v, tlbi_page(operand));
}

static void flush_space(struct vcpu *v, uint64_t operand)
{
    execute_flush_space(v, space_of(operand));
}

/* By op2. Operations of other exception levels, and all not listed here, flush everything: that can
 * cost misses but never leaves a stale translation. */
static void (*const flushes[8])(struct vcpu *v, uint64_t operand) = {
    flush_all,
    flush_page /* VAE1 */,
    flush_space /* ASIDE1 */,
    flush_page_all /* VAAE1 */,
    flush_all,
    flush_page /* VALE1 */,
    flush_all,
    flush_page_all /* VAALE1 */,
};

/* TLBI. CRm is this CPU (7), all CPUs of the inner (3) or outer (1) shareable domain, which are all
 * CPUs, or a range (2, 5, 6). */
static void invalidate(struct vcpu *v, const struct insn *i)
{
    unsigned crm = CRM(i->system);
    bool range = crm == 2 || crm == 5 || crm == 6;
    void (*flush)(struct vcpu *, uint64_t) =
        range || OP1(i->system) ? flush_all : flushes[OP2(i->system)];
    uint64_t value = operand(v, i);

    if (crm == 7 || crm == 6)
        flush(v, value);
    else
        for (struct vcpu *o = machine.vcpus; o < machine.vcpus + machine.cpus; o++)
            flush(o, value);
    execute_charge(v, machine.topology->tlb_invalidate_cycles);
}

static bool sends_ipi(paddr_t pa)
{
    return pa == GICD_SGIR;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

#define MSR(system)  (0xd5000000u | (uint32_t)(system) << 5)
#define ANY_REGISTER 0xffffffe0u /* mask: any Rt */

static const struct pattern {
    uint32_t mask, bits;
    void (*execute)(struct vcpu *v, const struct insn *i);
    bool reads_registers, atomic, predicted, jump, call, back;
} patterns[] = {
    /* Branches with a direction or target to predict. */
    {0xff000000, 0x54000000, .predicted = true},               /* B.cond, BC.cond */
    {0x7e000000, 0x34000000, .predicted = true},               /* CBZ, CBNZ */
    {0x7e000000, 0x36000000, .predicted = true},               /* TBZ, TBNZ */
    {0xfffff3e0, 0xd69f03e0, .execute = exception_return},     /* ERET, ERETAA, ERETAB */
    {0xfee00000, 0xd6200000, .predicted = true, .call = true}, /* BLR, BLRAA and the like */
    {0xffe00000, 0xd6400000, .predicted = true, .back = true}, /* RET, RETAA, RETAB */
    {0xfe000000, 0xd6000000, .predicted = true},               /* BR, and authenticated ones */
    {0xfc000000, 0x94000000, .jump = true, .call = true},      /* BL */
    {0xfc000000, 0x14000000, .jump = true},                    /* B */

    /* Atomics: read and write in one. */
    {0x3fe00000, 0x08000000, .atomic = true}, /* STXR, STLXR of all sizes */
    {0xbfe00000, 0x88200000, .atomic = true}, /* STXP, STLXP */
    {0xbfa07c00, 0x08207c00, .atomic = true}, /* CASP */
    {0x3fa07c00, 0x08a07c00, .atomic = true}, /* CAS */
    {0x3f208c00, 0x38200000, .atomic = true}, /* LDADD, LDCLR, LDEOR, LDSET, LDSMAX and so on */
    {0x3f20fc00, 0x38208000, .atomic = true}, /* SWP */
    {0xff200c00, 0x19200000, .atomic = true}, /* SWPP, LDCLRP, LDSETP */

    /* Waiting and ordering. */
    {0xffffffff, 0xd503203f, .execute = pause_cpu},   /* YIELD */
    {0xffffffff, 0xd503205f, .execute = pause_cpu},   /* WFE */
    {0xffffffe0, 0xd5031000, .execute = pause_cpu},   /* WFET */
    {0xffffffff, 0xd503207f, .execute = halt},        /* WFI */
    {0xffffffe0, 0xd5031020, .execute = halt},        /* WFIT */
    {0xfffff2ff, 0xd503329f, .execute = fence},       /* DSB, but for the one of loads */
    {0xfffff2ff, 0xd50332bf, .execute = fence},       /* DMB, likewise */
    {0xfffff3ff, 0xd503323f, .execute = fence},       /* DSB nXS */
    {0xfffff0ff, 0xd50330df, .execute = synchronise}, /* ISB */
    {0xffe0001f, 0xd4000002, .execute = call_firmware, .reads_registers = true}, /* HVC */
    {0xffe0001f, 0xd4000003, .execute = call_firmware, .reads_registers = true}, /* SMC */

    /* Translation. */
    {ANY_REGISTER, MSR(TTBR0_EL1), .execute = write_ttbr, .reads_registers = true},
    {ANY_REGISTER, MSR(TTBR1_EL1), .execute = write_ttbr, .reads_registers = true},
    {ANY_REGISTER, MSR(TCR_EL1), .execute = write_control, .reads_registers = true},
    {ANY_REGISTER, MSR(SCTLR_EL1), .execute = write_control, .reads_registers = true},
    /* TLBI: SYS with CRn 8 or 9 */
    {0xfff8e000, 0xd5088000, .execute = invalidate, .reads_registers = true},

    /* DC ZVA */
    {ANY_REGISTER, MSR(SYSTEM(1, 3, 7, 4, 1)), .execute = zero_block, .reads_registers = true},

    /* Timers, CNT* with CRn 14 and CRm 2 or 3, and the GIC's CPU interface, ICC_* with CRn 12 and
     * CRm 8 to 12. */
    {0xfff8fe00, MSR(SYSTEM(3, 0, 14, 2, 0)), .execute = device_register},
    /* ICC_SGI1R, ICC_SGI0R */
    {0xffffffa0, MSR(SYSTEM(3, 0, 12, 11, 5)), .execute = send_interrupt},
    {ANY_REGISTER, MSR(SYSTEM(3, 0, 12, 11, 6)), .execute = send_interrupt}, /* ICC_ASGI1R */
    {0xffdffc00, MSR(SYSTEM(3, 0, 12, 8, 0)), .execute = device_register},
    {0xffdfff00, MSR(SYSTEM(3, 0, 12, 12, 0)), .execute = device_register},
};

static void decode(struct insn *i, const uint8_t *bytes, size_t size)
{
    uint32_t word;

    if (size != sizeof(word))
        return;
    memcpy(&word, bytes, sizeof(word));
    for (const struct pattern *p = patterns; p < patterns + ARRAY_SIZE(patterns); p++) {
        if ((word & p->mask) != p->bits)
            continue;
        i->execute = p->execute;
        i->reads_registers = p->reads_registers;
        i->atomic = p->atomic;
        i->predicted = p->predicted;
        i->jump = p->jump;
        i->call = p->call;
        i->back = p->back;
        i->reg = word & 31;
        i->system = (uint16_t)(word >> 5);
        return;
    }
}

const struct isa isa_aarch64 = {
    .target = "aarch64",
    .registers = registers,
    .pc = PC,
    .sp = SP,
    .decode = decode,
    .exception = "arm_cpu_do_interrupt",
    .sends_ipi = sends_ipi,
};
