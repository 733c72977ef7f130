/* See hpm_profiles.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "test/host/double/hpm_profiles.h"
#include "hpm/sampling.h"

struct hpm_sample taken[TAKE];
struct hpm_profile *profile;

int open_error(const char *criteria, uint32_t pid, char *why)
{
    struct hpm_profiling what = {.criteria = criteria, .pid = pid, .rate = 1000, .permille = 1000};

    return hpm_profile_open(&what, &profile, why, 160);
}

void open_profile(const char *criteria, uint32_t pid)
{
    char why[160] = "";

    if (open_error(criteria, pid, why))
        fail_msg("%s: %s", criteria, why);
}

void boot(unsigned samples)
{
    hpm_samples = samples;
    double_machine_present = true;
    with_argument("hpm.breakdown", 0);
    double_boot();
    threads_begin(1);
    host_pc = 0x1234;
    host_user = true;
}

int profile_set_up(void **state)
{
    (void)state;
    profile = NULL;
    boot(2048);
    return 0;
}

int profile_tear_down(void **state)
{
    if (profile)
        hpm_profile_close(profile);
    profile = NULL;
    with_argument("hpm.breakdown", 1);
    return threads_end(state);
}

void misses(unsigned n)
{
    for (; n; n--) {
        double_count(MACHINE_EVENT_L1D_MISSES, 1);
        double_execute(10, 100);
    }
}

size_t take_all(void)
{
    return hpm_profile_take(profile, taken, TAKE);
}

uint64_t stood_for(size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += taken[i].period;
    return sum;
}
