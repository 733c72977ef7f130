/* See figures.h. */
#include "apps/tools/measuring/figures.h"
#include <inttypes.h>
#include <stdio.h>

const char *figure_grouped(uint64_t n, char out[FIGURE_MAX])
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

const char *figure_time(uint64_t ns, char out[FIGURE_MAX])
{
    if (ns < 1000)
        snprintf(out, FIGURE_MAX, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(out, FIGURE_MAX, "%.3f us", (double)ns / 1e3);
    else
        snprintf(out, FIGURE_MAX, "%.3f ms", (double)ns / 1e6);
    return out;
}

uint64_t figure_scaled(uint64_t part, uint64_t seen, uint64_t all)
{
    return seen ? (uint64_t)((unsigned __int128)part * all / seen) : part;
}

double figure_percent(uint64_t part, uint64_t all)
{
    return all ? (double)part * 100 / (double)all : 0;
}
