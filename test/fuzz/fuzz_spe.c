/*
 * Any bytes as records of the Statistical Profiling Extension: nothing beyond them is read, every
 * step takes some, and what is found is possible. The first byte chooses how records are aligned,
 * and how long one may be.
 */
#include <stdlib.h>
#include <string.h>
#include "hpm/pmu/arm/spe_sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t midr[] = {0x413fd0c1, 0};
    struct spe_record r;

    if (!size)
        return 0;
    uint8_t *exact = malloc(size - 1 ? size - 1 : 1); /* reading beyond it is seen */
    memcpy(exact, data + 1, size - 1);
    struct spe_bytes b = {.base = exact,
                          .size = size - 1,
                          .align = (size_t)1 << (data[0] & 7),
                          .record_max = (size_t)16 << (data[0] >> 4 & 7)};
    const struct spe_codes *codes = spe_codes_of(midr[data[0] >> 7]);
    for (size_t before = 0;; before = b.at) {
        enum spe_found found = spe_next(&b, &r);
        if (b.at > b.size || (found == SPE_NOTHING ? b.at != b.size : b.at <= before))
            abort();
        if (found == SPE_NOTHING)
            break;
        if (found == SPE_RECORD &&
            (spe_source(codes, &r) > SPE_NOT_KNOWN || r.level > 3 || r.phys >> 56))
            abort();
    }
    free(exact);
    return 0;
}
