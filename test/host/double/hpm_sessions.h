/* How tests open and read sessions. */
#pragma once
#include <cmocka.h>
#include "test/host/double/hpm_threads.h"
#include "hpm/count.h"

static inline struct hpm_session *open_names(const char *names)
{
    struct hpm_session *s = NULL;
    char why[160] = "";

    if (hpm_session_open(names, &s, why, sizeof why))
        fail_msg("%s: %s", names, why);
    return s;
}

static inline struct hpm_value value(const struct hpm_session *s, unsigned i,
                                     const struct hpm_sums *sums)
{
    struct hpm_value v;

    hpm_session_value(s, i, sums, &v);
    return v;
}

static inline struct hpm_value value_of_thread(const struct hpm_session *s, unsigned i, int thread)
{
    struct hpm_sums sums = {0};

    hpm_sum_thread(&threads[thread], hpm_session_counts(s), &sums);
    return value(s, i, &sums);
}
