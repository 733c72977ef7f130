/* Any bytes as a seed and changes of what it draws: a wire between two ends of lwIP. Streams arrive
 * whole and in order, connections end, no memory is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/lib/base.h"
#include "test/host/double/lossy.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lossy l;
    const char *wrong;
    uint32_t seed = 0;

    memcpy(&seed, data, MIN(size, sizeof(seed)));
    l = lossy_draw(seed);
    l.bytes = MIN(l.bytes, (uint32_t)20000);
    if (size >= 8) {
        l.loss = data[4] % 80;
        l.twice = data[5];
        l.jitter_ms = data[6];
        l.refuse = data[7];
    }
    wrong = lossy_run(&l);
    if (wrong) {
        fprintf(stderr, "seed %u: %s\n", seed, wrong);
        abort();
    }
    return 0;
}
