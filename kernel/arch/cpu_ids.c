/* Computes dense numbers from sparse ids. See cpu_ids.h. */
#include "kernel/arch/cpu_ids.h"

/* Returns the number of different values of id >> low among the ids that are smaller than `id` and
 * equal it in the bits from `high` on. */
static uint16_t rank(const uint64_t *ids, size_t n, uint64_t id, unsigned high, unsigned low)
{
    uint16_t smaller = 0;

    for (size_t i = 0; i < n; i++) {
        if (ids[i] >> high != id >> high || ids[i] >> low >= id >> low)
            continue;
        bool counted = false;
        for (size_t j = 0; j < i && !counted; j++)
            counted = ids[j] >> low == ids[i] >> low;
        smaller += !counted;
    }
    return smaller;
}

void topology_place_all(struct topology_bits bits, const uint64_t *ids, size_t n,
                        struct topology_place *places)
{
    for (size_t i = 0; i < n; i++) {
        places[i] = (struct topology_place){
            .chip = rank(ids, n, ids[i], 63, bits.chip),
            .core = rank(ids, n, ids[i], bits.chip, bits.thread),
            .thread = rank(ids, n, ids[i], bits.thread, 0),
        };
    }
}
