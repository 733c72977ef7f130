/*
 * Call chains of samples, by frame pointers (hpm/policy/chain.h). The interrupt that takes a sample
 * walks the stack of what it interrupted. Memory is read where it is present, without a page fault,
 * so nothing waits; a page that is not there cuts the chain. Each CPU has a table of chains for
 * each profile that wants them, and a sample has a number: the CPU's, and that of the chain in the
 * CPU's table.
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

int chains_make(struct chain_table **out)
{
    paddr_t pa;

    if (frame_alloc(table_order(), &pa))
        return -ENOMEM;
    *out = phys_to_virt(pa);
    memset(*out, 0, sizeof **out);
    return 0;
}

void chains_free(struct chain_table *t)
{
    if (t)
        frame_free(virt_to_phys(t), table_order());
}

static int read_record(const struct chain_walk *w, uint64_t at, uint64_t record[2])
{
    return w->kernel ? arch_peek64(at, &record[0]) || arch_peek64(at + 8, &record[1])
                     : arch_peek_user64(at, &record[0]) || arch_peek_user64(at + 8, &record[1]);
}

uint32_t chain_here(struct chain_table *t, const struct arch_frame *frame, unsigned cpu)
{
    struct chain_walk w;
    uint64_t at, record[2];

    if (!frame)
        return 0;
    t->work[0] = arch_frame_pc(frame);
    chain_begin(&w, arch_frame_link(frame), !arch_frame_user(frame));
    while (chain_wants(&w, modes, &at)) {
        if (read_record(&w, at, record)) {
            w.cut = true;
            break;
        }
        unsigned n = w.count;
        uint64_t address = chain_take(&w, modes, record[0], record[1]);
        if (!address)
            break;
        t->work[n] = address;
    }
    t->cut += w.cut;
    uint32_t number = chain_number(t, w.count);
    return number ? cpu << CHAIN_NUMBER | number : 0;
}
