/* See mux_config.h. */
#include "test/host/double/mux_config.h"

static uint64_t seed;

uint64_t below(uint64_t limit)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (seed >> 33) % limit;
}

int mux_set_up(void **state)
{
    (void)state;
    seed = 42;
    return 0;
}

struct mux_config config_of(unsigned passes, const uint8_t *share)
{
    struct mux_config c = {.round = ROUND, .passes = passes};

    for (unsigned g = 0; g < GROUP_MAX; g++)
        c.share[g] = share && g < GROUPS ? share[g] : 1;
    return c;
}
