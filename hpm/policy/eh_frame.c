/* See eh_frame.h. */
#include "hpm/policy/eh_frame.h"
#include "kernel/lib/reader.h"

#define OPS_MAX     4096 /* of one function's; those of CPython's interpreter are 1,500 */
#define LETTERS_MAX 8    /* of an augmentation, the NUL included; compilers write up to 6 */

/* Takes a length and what is that long. */
static struct reader take_block(struct reader *r)
{
    uint64_t n = take_uleb(r);
    const uint8_t *at = take(r, n);

    return (struct reader){at, at ? at + n : at, !at};
}

/* ---- Pointers (LSB 5.0, 10.5.1) -------------------------------------------------------------- */

enum { PTR_RELATIVE = 0x10, PTR_INDIRECT = 0x80, PTR_OMITTED = 0xff };

/* Bytes of a pointer by the low 4 bits of its encoding; 0: not known. */
static const uint8_t pointer_bytes[16] = {
    [0] = 8, [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8};

static uint64_t take_pointer(struct reader *r, uint8_t encoding, const struct eh_frames *f)
{
    uint64_t here = f->address + (uint64_t)(r->at - f->bytes);
    uint8_t n = pointer_bytes[encoding & 15];
    uint64_t v = encoding & 8 ? (uint64_t)take_signed(r, n ? n : 8) : take_number(r, n);

    r->bad |= !n || (encoding & 0x70) > PTR_RELATIVE;
    return (encoding & 0x70) == PTR_RELATIVE ? here + v : v;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* DWARF's numbers of registers (System V ABI for x86-64, 3.6.2; AADWARF64, 4.1). */
enum { EM_X86_64 = 62, EM_AARCH64 = 183 };
struct eh_machine {
    uint16_t machine;
    uint8_t by_from[RULE_CFA]; /* by rule_from */
    uint8_t link;
};
#define NO_REGISTER 0xff
static const struct eh_machine machines[] = {
    {EM_X86_64, {7, 6, 3, 10}, 16},
    {EM_AARCH64, {31, 29, NO_REGISTER, NO_REGISTER}, 30},
};

int eh_frames_open(const void *bytes, size_t size, uint64_t address, uint16_t machine,
                   struct eh_frames *out)
{
    /* Version 1; where .eh_frame is, relative, 4 bytes; the number of rows, 4 bytes; the rows, from
     * here, 4 bytes each. Linkers write no others. */
    static const uint8_t kind[] = {1, 0x1b, 0x03, 0x3b};
    uint32_t rows;

    if (size < EH_ROWS_AT || size > UINT32_MAX || memcmp(bytes, kind, sizeof(kind)))
        return -EINVAL;
    memcpy(&rows, (const uint8_t *)bytes + 8, sizeof(rows));
    *out = (struct eh_frames){bytes, (uint32_t)size, rows, address, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
        if (machines[i].machine == machine)
            out->machine = &machines[i];
    return out->machine && rows <= (size - EH_ROWS_AT) / 8 ? 0 : -EINVAL;
}

struct table_row {
    int32_t code, entry; /* from bytes[0] */
};

static struct table_row row_at(const struct eh_frames *f, uint32_t i)
{
    struct table_row row;

    memcpy(&row, f->bytes + EH_ROWS_AT + i * sizeof(row), sizeof(row));
    return row;
}

/* Finds the entry of the last function that begins at an address or below. */
static bool find_entry(const struct eh_frames *f, uint64_t address, struct reader *out)
{
    int64_t code = (int64_t)(address - f->address);
    uint32_t low = 0, high = f->rows;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (row_at(f, middle).code <= code)
            low = middle + 1;
        else
            high = middle;
    }
    int32_t entry = low ? row_at(f, low - 1).entry : -1;
    if (entry < 0 || (uint32_t)entry >= f->size)
        return false;
    *out = (struct reader){f->bytes + entry, f->bytes + f->size, false};
    return true;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* What functions have in common (CIE). */
struct common {
    uint64_t code_step;
    int64_t data_step;
    uint8_t encoding;
    bool augmented, signal;
    struct reader ops;
};

/* Narrows an entry to its own bytes. */
static void take_length(struct reader *r)
{
    uint64_t n = take_number(r, 4);

    if (n == 0 || n > (size_t)(r->end - r->at))
        r->bad = true;
    else
        r->end = r->at + n;
}

static void take_augmentation(struct reader *r, const char *letter, struct common *c,
                              const struct eh_frames *f)
{
    struct reader data = take_block(r);

    for (; *letter && !data.bad; letter++) {
        uint8_t encoding;
        if (*letter == 'R')
            c->encoding = (uint8_t)take_number(&data, 1);
        else if (*letter == 'P' && (encoding = (uint8_t)take_number(&data, 1)) != PTR_OMITTED)
            take_pointer(&data, encoding & (uint8_t)~PTR_INDIRECT, f);
        else if (*letter == 'L')
            take_number(&data, 1);
        else if (*letter == 'S')
            c->signal = true;
        else if (*letter != 'B' && *letter != 'P') /* B: the key that signs return addresses */
            data.bad = true;
    }
    r->bad |= data.bad;
}

/* Takes the letters that tell what an entry has besides, with their NUL. */
static const char *take_letters(struct reader *r)
{
    const char *letters = (const char *)r->at;

    for (unsigned n = 0; n < LETTERS_MAX; n++)
        if (!take_number(r, 1))
            return letters;
    r->bad = true;
    return letters;
}

static bool read_common(struct reader r, const struct eh_frames *f, struct common *out)
{
    take_length(&r);
    *out = (struct common){0};
    if (take_number(&r, 4) != 0) /* not a CIE */
        return false;
    uint64_t version = take_number(&r, 1);
    const char *letters = take_letters(&r);
    out->code_step = take_uleb(&r);
    out->data_step = take_sleb(&r);
    uint64_t link = version == 1 ? take_number(&r, 1) : take_uleb(&r);
    if (r.bad || (version != 1 && version != 3) || link != f->machine->link)
        return false;
    out->augmented = *letters == 'z';
    if (out->augmented)
        take_augmentation(&r, letters + 1, out, f);
    else if (*letters)
        return false;
    out->ops = r;
    return !r.bad;
}

/* Reads a function's entry (FDE). Returns whether it has the address; code: where it begins. */
static bool read_function(struct reader r, const struct eh_frames *f, uint64_t address,
                          struct common *c, uint64_t *code, struct reader *ops)
{
    take_length(&r);
    const uint8_t *here = r.at;
    uint64_t back = take_number(&r, 4);
    if (r.bad || !back || back > (size_t)(here - f->bytes) ||
        !read_common((struct reader){here - back, f->bytes + f->size, false}, f, c))
        return false;
    *code = take_pointer(&r, c->encoding, f);
    uint64_t bytes = take_pointer(&r, c->encoding & 15, f);
    if (c->augmented)
        r.bad |= take_block(&r).bad;
    *ops = r;
    return !r.bad && address - *code < bytes;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static uint8_t from_of(const struct eh_frames *f, uint64_t number)
{
    for (uint8_t from = 0; from < RULE_CFA; from++)
        if (f->machine->by_from[from] == number && number != NO_REGISTER)
            return from;
    return RULE_LOST;
}

/* Returns the rule's part that tells of a caller's register, or NULL: none is asked for. */
static struct rule_word *word_of(const struct eh_frames *f, struct frame_rule *rule,
                                 uint64_t number)
{
    return number == f->machine->link                 ? &rule->link
           : number == f->machine->by_from[RULE_FP]   ? &rule->fp
           : number == f->machine->by_from[RULE_KEPT] ? &rule->kept
                                                      : NULL;
}

static void set_word(const struct eh_frames *f, struct eh_state *s, uint64_t number, uint8_t from,
                     int64_t at)
{
    struct rule_word *w = word_of(f, &s->rule, number);

    if (w)
        *w = (struct rule_word){at == (int32_t)at ? from : RULE_LOST, (int32_t)at};
    s->rule.ends &= number != f->machine->link;
}

static void set_cfa(struct eh_state *s, uint8_t from, int64_t at, bool stored)
{
    s->rule.cfa = (struct rule_word){at == (int32_t)at ? from : RULE_LOST, (int32_t)at};
    s->rule.stored = stored;
}

/* An expression "a register and a number", maybe "the word there" (DWARF 5, 2.5). */
static struct rule_word read_expression(const struct eh_frames *f, struct reader e, bool *stored)
{
    enum { OP_DEREF = 0x06, OP_BREG0 = 0x70 };
    uint64_t op = take_number(&e, 1);
    int64_t at = take_sleb(&e);

    *stored = e.at < e.end && *e.at == OP_DEREF;
    e.at += *stored;
    if (e.bad || e.at != e.end || op < OP_BREG0 || op > OP_BREG0 + 31 || at != (int32_t)at)
        return (struct rule_word){RULE_LOST, 0};
    return (struct rule_word){from_of(f, op - OP_BREG0), (int32_t)at};
}

/* The expression of a procedure linkage table's entries of 16 bytes: rsp + 8, and another 8 from
 * byte N of an entry on (binutils, bfd/elfxx-x86.c). */
static bool read_linkage(struct reader e, uint64_t address, int64_t *at)
{
    static const uint8_t before[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a},
                         behind[] = {0x2a, 0x33, 0x24, 0x22};

    if (e.end - e.at != sizeof(before) + 1 + sizeof(behind) ||
        memcmp(e.at, before, sizeof(before)) ||
        memcmp(e.at + sizeof(before) + 1, behind, sizeof(behind)))
        return false;
    *at = (address & 15) + 0x30 >= e.at[sizeof(before)] ? 16 : 8;
    return true;
}

static void set_cfa_by(const struct eh_frames *f, struct eh_state *s, struct reader e,
                       uint64_t address)
{
    bool stored;
    int64_t at;

    if (e.bad) {
        s->bad = true;
    } else if (f->machine->machine == EM_X86_64 && read_linkage(e, address, &at)) {
        set_cfa(s, RULE_SP, at, false);
    } else {
        struct rule_word w = read_expression(f, e, &stored);
        set_cfa(s, w.from, w.at, stored);
    }
}

static void set_word_by(const struct eh_frames *f, struct eh_state *s, uint64_t number,
                        struct reader e)
{
    bool stored;
    struct rule_word w = read_expression(f, e, &stored);

    set_word(f, s, number, stored ? RULE_LOST : w.from, w.at);
    s->bad |= e.bad;
}

static void restore_word(const struct eh_frames *f, struct eh_state *s, uint64_t number)
{
    struct rule_word *w = word_of(f, &s->rule, number), *first = word_of(f, &s->first, number);

    if (w)
        *w = *first;
    if (number == f->machine->link)
        s->rule.ends = s->first.ends;
}

static void save_state(struct eh_state *s)
{
    if (s->depth == EH_SAVED_MAX)
        s->bad = true;
    else
        s->saved[s->depth++] = s->rule;
}

static void restore_state(struct eh_state *s)
{
    if (!s->depth)
        s->bad = true;
    else
        s->rule = s->saved[--s->depth];
}

/* ---- Instructions (DWARF 5, 6.4.2 and 7.24) -------------------------------------------------- */

enum {
    CFA_NOP,
    CFA_SET_LOC,
    CFA_ADVANCE_1,
    CFA_ADVANCE_2,
    CFA_ADVANCE_4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME_VALUE,
    CFA_REGISTER,
    CFA_REMEMBER_STATE,
    CFA_RESTORE_STATE,
    CFA_DEF_CFA,
    CFA_DEF_CFA_REGISTER,
    CFA_DEF_CFA_OFFSET,
    CFA_DEF_CFA_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_CFA_SF,
    CFA_DEF_CFA_OFFSET_SF,
    CFA_VAL_OFFSET,
    CFA_VAL_OFFSET_SF,
    CFA_VAL_EXPRESSION,
    CFA_NEGATE_RA_STATE = 0x2d, /* of AArch64: return addresses are signed, or no longer */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_ADVANCE = 0x40, /* and their operand in 6 bits */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
};

/* What is being interpreted: instructions of code from `code` on, up to `address`. */
struct run {
    const struct eh_frames *f;
    const struct common *common;
    uint64_t code, address;
    struct reader ops;
};

/* Takes a number of bytes that is in steps. */
static int64_t take_steps(struct run *r, bool is_signed)
{
    return (int64_t)(take_leb(&r->ops, is_signed) * (uint64_t)r->common->data_step);
}

static void run_cfa(struct run *r, struct eh_state *s, uint8_t op)
{
    uint64_t number = op == CFA_DEF_CFA || op == CFA_DEF_CFA_SF || op == CFA_DEF_CFA_REGISTER
                          ? take_uleb(&r->ops)
                          : 0;
    struct rule_word cfa = s->rule.cfa;

    if (op == CFA_DEF_CFA_EXPRESSION)
        set_cfa_by(r->f, s, take_block(&r->ops), r->address);
    else if (op == CFA_DEF_CFA)
        set_cfa(s, from_of(r->f, number), (int64_t)take_uleb(&r->ops), false);
    else if (op == CFA_DEF_CFA_SF)
        set_cfa(s, from_of(r->f, number), take_steps(r, true), false);
    else if (op == CFA_DEF_CFA_REGISTER)
        set_cfa(s, from_of(r->f, number), cfa.at, false);
    else if (op == CFA_DEF_CFA_OFFSET)
        set_cfa(s, cfa.from, (int64_t)take_uleb(&r->ops), false);
    else
        set_cfa(s, cfa.from, take_steps(r, true), false);
}

/* Those that tell of a caller's register. */
static void run_register(struct run *r, struct eh_state *s, uint8_t op)
{
    uint64_t number = take_uleb(&r->ops);

    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_word(r->f, s, number, RULE_CFA, take_steps(r, false));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_word(r->f, s, number, RULE_CFA, take_steps(r, true));
        break;
    case CFA_RESTORE_EXTENDED:
        restore_word(r->f, s, number);
        break;
    case CFA_UNDEFINED:
        set_word(r->f, s, number, RULE_LOST, 0);
        s->rule.ends |= number == r->f->machine->link;
        break;
    case CFA_SAME_VALUE:
        set_word(r->f, s, number, RULE_SAME, 0);
        break;
    case CFA_EXPRESSION:
        set_word_by(r->f, s, number, take_block(&r->ops));
        break;
    case CFA_VAL_EXPRESSION:
        s->bad |= take_block(&r->ops).bad;
        set_word(r->f, s, number, RULE_LOST, 0);
        break;
    default: /* in another register, or a value that is not stored */
        take_uleb(&r->ops);
        set_word(r->f, s, number, RULE_LOST, 0);
        break;
    }
}

static void advance(struct run *r, uint64_t by)
{
    r->code += by * r->common->code_step;
}

static void run_extended(struct run *r, struct eh_state *s, uint8_t op)
{
    if (op >= CFA_ADVANCE_1 && op <= CFA_ADVANCE_4)
        advance(r, take_number(&r->ops, 1u << (op - CFA_ADVANCE_1)));
    else if (op == CFA_SET_LOC)
        r->code = take_pointer(&r->ops, r->common->encoding, r->f);
    else if (op == CFA_REMEMBER_STATE)
        save_state(s);
    else if (op == CFA_RESTORE_STATE)
        restore_state(s);
    else if ((op >= CFA_DEF_CFA && op <= CFA_DEF_CFA_EXPRESSION) || op == CFA_DEF_CFA_SF ||
             op == CFA_DEF_CFA_OFFSET_SF)
        run_cfa(r, s, op);
    else if (op >= CFA_OFFSET_EXTENDED && op <= CFA_VAL_EXPRESSION)
        run_register(r, s, op);
    else if (op == CFA_GNU_ARGS_SIZE)
        take_uleb(&r->ops);
    else
        s->bad |= op != CFA_NOP && op != CFA_NEGATE_RA_STATE;
}

/* Interprets instructions up to those of code behind the address. */
static void run_ops(struct run *r, struct eh_state *s)
{
    for (unsigned n = 0; r->ops.at < r->ops.end && r->code <= r->address && !s->bad; n++) {
        uint8_t op = (uint8_t)take_number(&r->ops, 1), low = op & 0x3f;
        if ((op & 0xc0) == CFA_ADVANCE)
            advance(r, low);
        else if ((op & 0xc0) == CFA_OFFSET)
            set_word(r->f, s, low, RULE_CFA, take_steps(r, false));
        else if ((op & 0xc0) == CFA_RESTORE)
            restore_word(r->f, s, low);
        else
            run_extended(r, s, op);
        s->bad |= r->ops.bad || n == OPS_MAX;
    }
}

bool eh_rule_at(const struct eh_frames *f, uint64_t address, struct eh_state *s,
                struct frame_rule *out)
{
    struct reader entry, ops;
    struct common common;
    struct run r = {.f = f, .common = &common, .address = address};

    if (!find_entry(f, address, &entry) ||
        !read_function(entry, f, address, &common, &r.code, &ops))
        return false;
    uint64_t begin = r.code;
    s->rule = (struct frame_rule){.cfa = {RULE_LOST, 0},
                                  .link = {RULE_SAME, 0},
                                  .fp = {RULE_SAME, 0},
                                  .kept = {RULE_SAME, 0}};
    s->first = s->rule;
    s->depth = 0;
    s->bad = false;
    r.ops = common.ops;
    run_ops(&r, s);
    s->first = s->rule;
    r.code = begin;
    r.ops = ops;
    run_ops(&r, s);
    *out = s->rule;
    out->signal = common.signal;
    return !s->bad && (out->ends || out->cfa.from < RULE_CFA);
}
