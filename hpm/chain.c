/*
 * Call chains of samples, by frame pointers or by descriptions of frames (hpm/policy/chain.h). The
 * interrupt that takes a sample walks the stack of what it interrupted. Memory is read where it is
 * present, without a page fault, so nothing waits; a page that is not there cuts the chain. Each
 * CPU has a table of chains for each profile that wants them, and a sample has a number: the CPU's,
 * and that of the chain in the CPU's table.
 */
#include "hpm/chain.h"
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"

static const struct chain_mode modes[CHAIN_MODES] = {
    [CHAIN_USER] = {.low = USER_MIN,
                    .high = USER_MAX,
                    .code_low = USER_MIN,
                    .code_high = SHOWN_MAX,
                    .code = ARCH_USER_CODE},
    [CHAIN_KERNEL] = {.low = DIRECT_BASE,
                      .high = UINT64_MAX,
                      .code_low = KERNEL_BASE,
                      .code_high = UINT64_MAX,
                      .code = UINT64_MAX},
};

static unsigned table_order(void)
{
    return log2_floor(sizeof(struct chain_table) - 1) + 1 - PAGE_SHIFT;
}

int chains_make(struct chain_table **out, bool by_frames)
{
    paddr_t pa;

    if (frame_alloc(table_order(), &pa))
        return -ENOMEM;
    *out = phys_to_virt(pa);
    memset(*out, 0, sizeof **out);
    (*out)->by_frames = by_frames;
    return 0;
}

void chains_free(struct chain_table *t)
{
    if (t)
        frame_free(virt_to_phys(t), table_order());
}

void chains_account(const struct chain_table *t, uint64_t *cut, uint64_t *full)
{
    if (!t)
        return;
    *cut += __atomic_load_n(&t->cut, __ATOMIC_RELAXED);
    *full += __atomic_load_n(&t->full, __ATOMIC_RELAXED);
}

static int read_record(const struct chain_walk *w, uint64_t at, uint64_t record[2])
{
    return w->kernel ? arch_peek64(at, &record[0]) || arch_peek64(at + 8, &record[1])
                     : arch_peek_user64(at, &record[0]) || arch_peek_user64(at + 8, &record[1]);
}

/* Walks by frame pointers, to the program's code if its part is made otherwise. Returns the frame
 * of what entered the kernel there, else NULL. */
static const struct arch_frame *walk_records(struct chain_table *t, struct chain_walk *w,
                                             bool by_frames)
{
    uint64_t at, record[2];

    while (chain_wants(w, modes, &at)) {
        if (read_record(w, at, record)) {
            w->cut = true;
            return NULL;
        }
        unsigned n = w->count;
        bool kernel = w->kernel;
        uint64_t address = chain_take(w, modes, record[0], record[1]);
        if (!address)
            return NULL;
        t->work[n] = address;
        if (!kernel || w->kernel)
            continue;
        /* The record of an entry from user mode need not have the program's link. */
        const struct arch_frame *frame = arch_record_frame(at);
        if (by_frames)
            return frame;
        w->next = arch_frame_link(frame);
    }
    return NULL;
}

static int read_word(uint64_t at, uint64_t *out)
{
    return at ? arch_peek_user64(at, out) : 0;
}

static bool look_up(struct chain_table *t, const struct chain_code *code, uint64_t pc,
                    struct frame_rule *out)
{
    const struct chain_image *image;
    struct symbols_frame frame;

    if (code->symbols && symbols_frame_at(code->symbols, pc, &frame)) {
        *out = chain_rule_of(&frame);
        return true;
    }
    image = code->images ? chain_image_at(code->images, pc) : NULL;
    return image && eh_rule_at(image->frames, pc - image->bias, &t->state, out);
}

/* Finds the rule of code. Latest answers are remembered: a search is a dozen cache misses. */
static const struct frame_rule *find_rule(struct chain_table *t, const struct chain_code *code,
                                          uint64_t pc)
{
    struct chain_found *f = &t->found[(pc ^ pc >> 7) % CHAIN_FOUND];
    uint64_t which = code->symbols ? (uint64_t)code->symbols
                                   : __atomic_load_n(&code->images->version, __ATOMIC_RELAXED);

    if (f->pc != pc || f->code != which) {
        f->code = 0;
        if (!look_up(t, code, pc, &f->rule))
            return NULL;
        f->pc = pc;
        f->code = which;
    }
    return &f->rule;
}

/* Makes a rule of the code at pc itself, where there is a link register. */
static const struct frame_rule *read_linkage(const struct chain_registers *r,
                                             struct frame_rule *work)
{
    uint32_t code[2 * EH_LINKAGE_AROUND + 1] = {0};

    if (r->called || !r->link)
        return NULL;
    for (unsigned i = 0; i < ARRAY_SIZE(code); i++)
        (void)arch_peek_user32(r->pc + (i - EH_LINKAGE_AROUND) * sizeof(*code), &code[i]);
    return eh_linkage_rule(code, work) ? work : NULL;
}

/* Makes the registers those of the caller. Returns false at the chain's end; cut: which is not the
 * program's. */
static bool go_to_caller(struct chain_registers *r, const struct frame_rule *rule, bool *cut)
{
    const struct chain_mode *user = &modes[CHAIN_USER];
    struct chain_caller c;
    uint64_t link = 0, fp = 0, kept = 0;

    chain_caller_begin(r, rule, &c);
    *cut = read_word(c.cfa_at, &c.cfa);
    if (*cut || !chain_caller_wants(r, rule, user, &c, cut))
        return false;
    *cut = read_word(c.link_at, &link) || read_word(c.fp_at, &fp) || read_word(c.kept_at, &kept) ||
           !chain_caller_take(r, rule, user, &c, link, fp, kept);
    return !*cut;
}

/* Walks by rules, from what `frame` interrupted, which is in the chain. */
static void walk_rules(struct chain_table *t, struct chain_walk *w, const struct arch_frame *frame,
                       const struct chain_code *code)
{
    struct chain_registers r = {.pc = arch_frame_pc(frame),
                                .value = {[RULE_SP] = arch_frame_sp(frame),
                                          [RULE_FP] = arch_frame_link(frame),
                                          [RULE_KEPT] = arch_frame_kept(frame),
                                          [RULE_SCRATCH] = arch_frame_scratch(frame)},
                                .link = arch_frame_caller(frame)};
    const struct frame_rule *rule;
    struct frame_rule work;

    while ((rule = find_rule(t, code, r.pc - r.called) ?: read_linkage(&r, &work))) {
        if (!go_to_caller(&r, rule, &w->cut))
            return;
        if (w->count == CHAIN_MAX)
            break;
        t->work[w->count++] = r.pc;
    }
    w->cut = true;
}

uint32_t chain_here(struct chain_table *t, const struct arch_frame *frame,
                    const struct chain_code *code, unsigned cpu)
{
    struct chain_walk w;

    if (!frame)
        return 0;
    bool by_frames =
        t->by_frames && (code->symbols || (code->images && chain_images_any(code->images)));
    const struct arch_frame *user = arch_frame_user(frame) && by_frames ? frame : NULL;
    t->work[0] = arch_frame_pc(frame);
    chain_begin(&w, arch_frame_link(frame), !arch_frame_user(frame));
    if (!user)
        user = walk_records(t, &w, by_frames);
    if (user)
        walk_rules(t, &w, user, code);
    if (w.cut)
        chain_count_cut(t);
    uint32_t number = chain_number(t, w.count);
    return number ? cpu << CHAIN_NUMBER | number : 0;
}
