/*
 * Any words as the memory that a chain's walk reads: it ends, reads only aligned records of the
 * mode that it is in, of the program's at rising addresses, and never the kernel's after a
 * program's. The first byte says which mode was interrupted; then come the link, and the words of
 * the records. The chains go into a table, which gives back what it was given.
 */
#include <stdlib.h>
#include <string.h>
#include "hpm/policy/chain.h"

#define KERNEL 0xffff800000000000u

static const struct chain_mode mode[CHAIN_MODES] = {
    [CHAIN_USER] = {0x10000, 0x7fffffbef000, 0x10000, 0x7ffffffff000, (1ull << 47) - 1},
    [CHAIN_KERNEL] = {KERNEL, UINT64_MAX, 0xffffffff80000000u, UINT64_MAX, UINT64_MAX},
};
static struct chain_table table;

static uint64_t take_word(const uint8_t **data, size_t *size)
{
    uint64_t word = 0;

    memcpy(&word, *data, MIN(*size, sizeof word));
    *data += MIN(*size, sizeof word);
    *size -= MIN(*size, sizeof word);
    return word;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void store_and_read(unsigned count)
{
    uint64_t out[CHAIN_MAX];
    uint32_t number = chain_number(&table, count);

    if (!number) {
        memset(&table, 0, sizeof table);
        return;
    }
    check(chain_read(&table, number, out, CHAIN_MAX) == count);
    check(!memcmp(out, table.work, count * sizeof *out));
    check(chain_number(&table, count) == number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chain_walk w;
    uint64_t at, before = 0;

    if (!size)
        return 0;
    bool kernel = *data++ & 1;
    size--;
    chain_begin(&w, take_word(&data, &size), kernel);
    table.work[0] = 1;
    while (chain_wants(&w, mode, &at)) {
        check(w.count < CHAIN_MAX && !(at % 8));
        check(kernel ? w.kernel == (at >= KERNEL) : !w.kernel);
        check(w.kernel || (at >= 0x10000 && at + 16 <= 0x7fffffbef000 && at >= before));
        before = w.kernel ? 0 : at + 16;
        bool was = w.kernel;
        unsigned n = w.count;
        uint64_t address = chain_take(&w, mode, take_word(&data, &size), take_word(&data, &size));
        check(was || !w.kernel);
        if (!address)
            break;
        check(address >> 63 ? was && address >= 0xffffffff80000000u : address < 0x7ffffffff000);
        check(w.count == n + 1);
        table.work[n] = address;
    }
    store_and_read(w.count);
    return 0;
}
