/* See access_users.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "test/host/double/access_users.h"
#include "hpm/sampling.h"

static struct user {
    struct hpm_access *handle;
    struct hpm_sampling want;
    uint64_t truth, sum, samples;
} users[USERS_MAX];
static unsigned count;

void users_begin(const struct hpm_sampling *wants, unsigned n)
{
    count = n;
    memset(users, 0, sizeof users);
    for (unsigned u = 0; u < n; u++) {
        users[u].want = wants[u];
        assert_int_equal(hpm_access_open("user", &users[u].handle), 0);
        assert_int_equal(hpm_access_start(users[u].handle, &wants[u]), 0);
    }
}

/* As the PMU tells it: one that does not tell some sources apart gives all of them. */
static bool wanted(const struct hpm_sampling *want, const struct hpm_sample *s)
{
    struct hpm_sampling c = *want;

    if (c.sources & hpm_state.pmu.sample_alike)
        c.sources |= hpm_state.pmu.sample_alike;
    return sample_wanted(&c, s);
}

void users_note(const struct hpm_sample *is, uint64_t n)
{
    for (unsigned u = 0; u < count; u++)
        users[u].truth += wanted(&users[u].want, is) ? n : 0;
}

void users_take(void)
{
    static struct hpm_sample taken[4096];

    for (unsigned u = 0; u < count; u++) {
        size_t n = hpm_access_take(users[u].handle, taken, ARRAY_SIZE(taken));
        users[u].samples += n;
        for (size_t i = 0; i < n; i++) {
            assert_true(wanted(&users[u].want, &taken[i]));
            users[u].sum += taken[i].period;
        }
    }
}

void users_end(unsigned samples_least)
{
    struct hpm_sample_account a;

    users_take();
    for (unsigned u = 0; u < count; u++) {
        const struct user *it = &users[u];
        double period = it->want.period, truth = (double)it->truth, sum = (double)it->sum,
               off = 3 * sqrt(period * truth) + 2 * DOUBLE_CPUS * period;
        hpm_access_account(it->handle, &a);
        assert_int_equal(a.taken, a.delivered + a.lost_hardware + a.lost_buffer);
        assert_int_equal(a.delivered, it->samples);
        if (it->samples < samples_least || fabs(sum - truth) > off)
            fail_msg("user %u: %llu samples stand for %.0f of %.0f, +-%.0f", u,
                     (unsigned long long)it->samples, sum, truth, off);
        hpm_access_close(it->handle);
    }
}
