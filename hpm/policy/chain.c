/* See chain.h. */
#include "hpm/policy/chain.h"

void chain_begin(struct chain_walk *w, uint64_t link, bool kernel)
{
    *w = (struct chain_walk){.next = link, .count = 1, .kernel = kernel};
}

bool chain_wants(struct chain_walk *w, const struct chain_mode mode[CHAIN_MODES], uint64_t *at)
{
    const struct chain_mode *m = &mode[w->kernel ? CHAIN_KERNEL : CHAIN_USER];
    uint64_t next = w->next;

    if (!next)
        return false;
    if (w->count == CHAIN_MAX || next % sizeof(uint64_t) || next < m->low || next < w->floor ||
        next > m->high - 2 * sizeof(uint64_t)) {
        w->cut = true;
        return false;
    }
    *at = next;
    return true;
}

/* Is set in no address of a program, signed or not (Arm ARM DDI 0487, D8.9.1). */
#define HIGH_HALF (1ull << 55)

static bool is_code(const struct chain_mode *m, uint64_t address)
{
    return address >= m->code_low && address < m->code_high;
}

uint64_t chain_take(struct chain_walk *w, const struct chain_mode mode[CHAIN_MODES], uint64_t link,
                    uint64_t address)
{
    bool kernel = w->kernel && is_code(&mode[CHAIN_KERNEL], address);

    if (!kernel && !(address & HIGH_HALF))
        address &= mode[CHAIN_USER].code;
    if (!kernel && !is_code(&mode[CHAIN_USER], address)) {
        w->cut = address != 0;
        w->next = 0;
        return 0;
    }
    /* The kernel has several stacks, in no order; the record of what entered it is on one. */
    w->floor = w->kernel ? 0 : w->next + 2 * sizeof(uint64_t);
    w->kernel = kernel;
    w->next = link;
    w->count++;
    return address;
}

/* ---- By rules -------------------------------------------------------------------------------- */

static struct rule_word below_cfa(uint8_t words)
{
    return words ? (struct rule_word){RULE_CFA, -(int32_t)(words * sizeof(uint64_t))}
                 : (struct rule_word){RULE_SAME, 0};
}

struct frame_rule chain_rule_of(const struct symbols_frame *frame)
{
    uint8_t base = frame->cfa & SYMBOLS_FRAME_FP ? RULE_FP : RULE_SP;
    bool record = frame->link == SYMBOLS_FRAME_RECORD;

    return (struct frame_rule){
        .cfa = {base, (frame->cfa & ~SYMBOLS_FRAME_FP) * (int32_t)sizeof(uint64_t)},
        .ends = frame->cfa == SYMBOLS_FRAME_NONE,
        .link = record ? (struct rule_word){base, sizeof(uint64_t)} : below_cfa(frame->link),
        .fp = record ? (struct rule_word){base, 0} : below_cfa(frame->fp),
        .kept = {RULE_SAME, 0}};
}

static bool is_stack(const struct chain_mode *user, uint64_t at)
{
    return !(at % sizeof(uint64_t)) && at >= user->low && at <= user->high;
}

void chain_caller_begin(const struct chain_registers *r, const struct frame_rule *rule,
                        struct chain_caller *c)
{
    uint64_t at = rule->ends ? 0 : r->value[rule->cfa.from] + (uint64_t)rule->cfa.at;

    *c = (struct chain_caller){.cfa = at, .cfa_at = rule->stored ? at : 0};
}

static uint64_t word_at(const struct chain_registers *r, const struct rule_word *w, uint64_t cfa)
{
    uint64_t from = w->from == RULE_CFA ? cfa : w->from < RULE_CFA ? r->value[w->from] : 0;

    return from ? from + (uint64_t)w->at : 0;
}

bool chain_caller_wants(const struct chain_registers *r, const struct frame_rule *rule,
                        const struct chain_mode *user, struct chain_caller *c, bool *cut)
{
    *cut = false;
    if (rule->ends)
        return false;
    c->link_at = word_at(r, &rule->link, c->cfa);
    c->fp_at = word_at(r, &rule->fp, c->cfa);
    c->kept_at = word_at(r, &rule->kept, c->cfa);
    /* glibc's resolver on AArch64 does not count what the linkage table has pushed: its return
     * address is above its CFA, and the frame ends behind it. */
    if (rule->link.from == RULE_CFA && rule->link.at >= 0)
        c->cfa = c->link_at + sizeof(uint64_t);
    /* A caller's frame is above; only the function that runs may have none of its own. What a
     * signal interrupted may have another stack. */
    *cut = !is_stack(user, c->cfa) ||
           (!rule->signal &&
            (c->cfa < r->value[RULE_SP] ||
             (r->called && (c->cfa == r->value[RULE_SP] || rule->link.from == RULE_SAME)))) ||
           (c->link_at && !is_stack(user, c->link_at)) || (c->fp_at && !is_stack(user, c->fp_at)) ||
           (c->kept_at && !is_stack(user, c->kept_at));
    return !*cut;
}

/* Returns the caller's register: stored, as it is, or 0: lost. */
static uint64_t kept_in(const struct rule_word *w, uint64_t word, uint64_t value)
{
    return w->from == RULE_SAME ? value : w->from == RULE_LOST ? 0 : word;
}

bool chain_caller_take(struct chain_registers *r, const struct frame_rule *rule,
                       const struct chain_mode *user, const struct chain_caller *c, uint64_t link,
                       uint64_t fp, uint64_t kept)
{
    uint64_t pc = kept_in(&rule->link, link, r->link);

    if (!(pc & HIGH_HALF))
        pc &= user->code;
    *r = (struct chain_registers){
        .pc = pc,
        .value = {[RULE_SP] = c->cfa,
                  [RULE_FP] = kept_in(&rule->fp, fp, r->value[RULE_FP]),
                  [RULE_KEPT] = kept_in(&rule->kept, kept, r->value[RULE_KEPT])},
        .called = !rule->signal};
    return is_code(user, pc);
}

const struct chain_image *chain_image_at(const struct chain_images *images, uint64_t pc)
{
    uint32_t n = MIN(__atomic_load_n(&images->count, __ATOMIC_ACQUIRE), CHAIN_IMAGES_MAX);

    while (n--)
        if (pc >= images->image[n].start && pc < images->image[n].end)
            return &images->image[n];
    return NULL;
}

/* ---- The table ------------------------------------------------------------------------------- */

_Static_assert(CHAIN_CALLS < 1u << CHAIN_NUMBER && CHAIN_CALLS <= UINT16_MAX &&
                   CHAIN_SLOTS >= 2 * CHAIN_CALLS,
               "numbers fit, and a free slot ends each search");

/* By multiplications with 2^64 / golden ratio (Knuth, TAOCP 3, 6.4). */
static uint32_t hash_of(uint64_t address, uint32_t caller)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;

    return (uint32_t)((address * golden ^ caller) * golden >> 32) % CHAIN_SLOTS;
}

static void add_one(uint64_t *total)
{
    __atomic_store_n(total, *total + 1, __ATOMIC_RELAXED);
}

void chain_count_cut(struct chain_table *t)
{
    add_one(&t->cut);
}

/* Returns the number of a call; 0: there is no room. */
static uint32_t number_of(struct chain_table *t, uint64_t address, uint32_t caller)
{
    uint32_t slot = hash_of(address, caller), n;

    for (; (n = t->slot[slot]); slot = (slot + 1) % CHAIN_SLOTS)
        if (t->call[n - 1].address == address && t->call[n - 1].caller == caller)
            return n;
    if (t->count == CHAIN_CALLS)
        return 0;
    t->call[t->count] = (struct chain_call){address, caller};
    __atomic_store_n(&t->count, t->count + 1, __ATOMIC_RELEASE);
    t->slot[slot] = (uint16_t)t->count;
    return t->count;
}

uint32_t chain_number(struct chain_table *t, unsigned length)
{
    uint32_t number = 0;

    while (length--) {
        number = number_of(t, t->work[length], number);
        if (!number) {
            add_one(&t->full);
            return 0;
        }
    }
    return number;
}

unsigned chain_read(const struct chain_table *t, uint32_t number, uint64_t *out, unsigned max)
{
    unsigned length = 0;

    if (number > __atomic_load_n(&t->count, __ATOMIC_ACQUIRE))
        return 0;
    for (; number; number = t->call[number - 1].caller) {
        if (length < max)
            out[length] = t->call[number - 1].address;
        length++;
    }
    return length;
}
