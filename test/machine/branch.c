/* The three tables of the predictor; branch.h says what each decides. */
#include <string.h>
#include "test/machine/branch.h"

/* Hashes by multiplication, which spreads the evenly spaced addresses of code best in its top
 * bits. */
static uint32_t hash(uint64_t x, unsigned bits)
{
    return (uint32_t)((x * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

void branch_reset(struct branch *b)
{
    memset(b, 0, sizeof(*b));
    memset(b->counters, 2, sizeof(b->counters)); /* weakly taken */
}

static struct branch_block *block_at(struct branch *b, vaddr_t pc)
{
    return &b->blocks[hash(pc, BRANCH_BLOCK_BITS)];
}

/* Returns whether the conditional block at pc was predicted to jump. Learns whether it did. */
static bool direction(struct branch *b, vaddr_t pc, bool jumps)
{
    uint8_t *counter = &b->counters[hash(pc, BRANCH_COUNTER_BITS) ^ b->directions];
    bool predicted = *counter >= 2;

    if (jumps && *counter < 3)
        (*counter)++;
    if (!jumps && *counter > 0)
        (*counter)--;
    b->directions = (b->directions << 1 | jumps) & ((1u << BRANCH_HISTORY_BITS) - 1);
    return predicted;
}

/* Returns whether the target was predicted. Learns the target. */
static bool target(struct branch *b, struct branch_block *block, vaddr_t next)
{
    struct branch_block arrived = {.target = next};
    bool same = block->target == arrived.target;

    if (same && !block->indirect)
        return true;
    uint64_t *by_path = &b->targets[hash(block->pc, BRANCH_TARGET_BITS) ^ b->path];
    bool good = block->indirect && *by_path == next;
    block->indirect = true;
    block->target = arrived.target;
    *by_path = next;
    return good;
}

/* Adds a target to the path, a hash of the last four: each older one is shifted up, and finally
 * out. */
static void remember_path(struct branch *b, vaddr_t next)
{
    b->path = (b->path << 3 ^ hash(next, BRANCH_TARGET_BITS)) % BRANCH_TARGETS;
}

bool branch_predict_update(struct branch *b, vaddr_t pc, vaddr_t fallthrough, vaddr_t next)
{
    struct branch_block *block = block_at(b, pc);
    bool jumps = next != fallthrough;

    if (block->pc != pc) {
        if (!jumps)
            return false;
        *block = (struct branch_block){.pc = pc, .target = next};
        remember_path(b, next);
        return true;
    }
    if (!jumps)
        block->conditional = true;
    bool predicted_jump = block->conditional ? direction(b, pc, jumps) : true;
    if (!jumps)
        return predicted_jump;
    bool good = target(b, block, next);
    remember_path(b, next);
    return !(predicted_jump && good);
}

_Static_assert(BRANCH_HISTORY_BITS <= BRANCH_COUNTER_BITS, "directions index the counters");
