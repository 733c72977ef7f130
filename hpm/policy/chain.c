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

/* ---- By a table of frames -------------------------------------------------------------------- */

static uint64_t frame_base(const struct chain_registers *r, const struct symbols_frame *frame)
{
    return frame->cfa & SYMBOLS_FRAME_FP ? r->fp : r->sp;
}

static uint64_t frame_address(const struct chain_registers *r, const struct symbols_frame *frame)
{
    return frame_base(r, frame) + (frame->cfa & ~SYMBOLS_FRAME_FP) * sizeof(uint64_t);
}

static bool is_stack(const struct chain_mode *user, uint64_t at)
{
    return !(at % sizeof(uint64_t)) && at >= user->low && at <= user->high;
}

bool chain_frame_wants(const struct chain_registers *r, const struct symbols_frame *frame,
                       const struct chain_mode *user, uint64_t *link, uint64_t *fp, bool *cut)
{
    uint64_t cfa = frame_address(r, frame);

    *cut = false;
    if (frame->cfa == SYMBOLS_FRAME_NONE)
        return false;
    /* A caller's frame is above; only the function that runs may have none of its own. */
    if (!is_stack(user, cfa) || cfa < r->sp || (r->called && (cfa == r->sp || !frame->link))) {
        *cut = true;
        return false;
    }
    *link = frame->link ? cfa - frame->link * sizeof(uint64_t) : 0;
    *fp = frame->fp ? cfa - frame->fp * sizeof(uint64_t) : 0;
    if (frame->link == SYMBOLS_FRAME_RECORD) {
        *fp = frame_base(r, frame);
        *link = *fp + sizeof(uint64_t);
    }
    return true;
}

bool chain_frame_take(struct chain_registers *r, const struct symbols_frame *frame,
                      const struct chain_mode *user, uint64_t link, uint64_t fp)
{
    uint64_t cfa = frame_address(r, frame), pc = frame->link ? link : r->link;

    if (!(pc & HIGH_HALF))
        pc &= user->code;
    *r =
        (struct chain_registers){.pc = pc, .sp = cfa, .fp = frame->fp ? fp : r->fp, .called = true};
    return is_code(user, pc);
}

/* ---- The table ------------------------------------------------------------------------------- */

_Static_assert(CHAINS_MAX < 1u << CHAIN_NUMBER && CHAIN_SLOTS >= 2 * CHAINS_MAX,
               "numbers fit, and a free slot ends each search");

/* Mixes a word by a multiplication with 2^64 / golden ratio (Knuth, TAOCP 3, 6.4). */
static uint64_t hash_words(const uint64_t *word, unsigned n)
{
    uint64_t h = n;

    for (unsigned i = 0; i < n; i++)
        h = ((h << 5 | h >> 59) ^ word[i]) * 0x9e3779b97f4a7c15u;
    return h >> 32;
}

static bool is_same(const struct chain_table *t, uint32_t number, unsigned length)
{
    const uint64_t *word = &t->word[t->chain[number - 1].at];

    if (t->chain[number - 1].length != length)
        return false;
    for (unsigned i = 0; i < length; i++)
        if (word[i] != t->work[i])
            return false;
    return true;
}

static void add_one(uint64_t *total)
{
    __atomic_store_n(total, *total + 1, __ATOMIC_RELAXED);
}

void chain_count_cut(struct chain_table *t)
{
    add_one(&t->cut);
}

uint32_t chain_number(struct chain_table *t, unsigned length)
{
    uint32_t slot = (uint32_t)hash_words(t->work, length) % CHAIN_SLOTS;

    for (; t->slot[slot]; slot = (slot + 1) % CHAIN_SLOTS)
        if (is_same(t, t->slot[slot], length))
            return t->slot[slot];
    if (t->count == CHAINS_MAX || t->words + length > CHAIN_WORDS) {
        add_one(&t->full);
        return 0;
    }
    t->chain[t->count].at = t->words;
    t->chain[t->count].length = length;
    memcpy(&t->word[t->words], t->work, length * sizeof t->work[0]);
    t->words += length;
    __atomic_store_n(&t->count, t->count + 1, __ATOMIC_RELEASE);
    t->slot[slot] = (uint16_t)t->count;
    return t->count;
}

unsigned chain_read(const struct chain_table *t, uint32_t number, uint64_t *out, unsigned max)
{
    if (!number || number > __atomic_load_n(&t->count, __ATOMIC_ACQUIRE))
        return 0;
    unsigned length = t->chain[number - 1].length;
    memcpy(out, &t->word[t->chain[number - 1].at], MIN(length, max) * sizeof *out);
    return length;
}
