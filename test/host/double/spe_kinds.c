/* See spe_kinds.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/host/double/spe_kinds.h"

#define COUNTS .version = 4, .counters = 6, .ceid0 = 0xffffffff7fffffff, .ceid1 = 0xffffffffffffffff

const struct armv8_kind spe_known = {
    COUNTS, .midr = 0x413fd0c1,
    .spe = {.version = 1, .interval = 4, .max = 6, .align = 6, .features = ALL_FILTERS | IDR_LDS}};
const struct armv8_kind spe_packed = {
    COUNTS, .midr = 0x410fd4f1,
    .spe = {
        .version = 3, .interval = 4, .max = 7, .cuts = true, .features = ALL_FILTERS | IDR_LDS}};
const struct armv8_kind spe_unknown = {
    COUNTS, .midr = 0x480fd010,
    .spe = {.version = 4, .interval = 4, .max = 6, .align = 6, .features = ALL_FILTERS | IDR_LDS}};

#define PLACED .pc = USER_PC, .data = 0x7000128, .phys = 0x9128

const struct spe_op spe_hit = {.load = true, .coded = true, .events = HIT, .latency = 4, PLACED};
const struct spe_op spe_remote = {.load = true,
                                  .coded = true,
                                  .code = 0xd,
                                  .events = MISS | SPE_EVENT_REMOTE,
                                  .latency = 321,
                                  PLACED};
const struct spe_op spe_branch = {.events = SPE_EVENT_RETIRED, .pc = USER_PC};

void spe_start(const struct armv8_kind *kind)
{
    armv8_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
}

void sample_all(uint32_t sources, uint32_t period, uint32_t jitter, bool user, bool kernel)
{
    struct hpm_sampling config = {
        .sources = sources, .period = period, .jitter = jitter, .user = user, .kernel = kernel};

    double_run_on(0);
    assert_int_equal(one_start(&config), 0);
}

struct hpm_sample_account account(void)
{
    struct hpm_sample_account a;

    one_account(&a);
    return a;
}

size_t take_all(void)
{
    struct hpm_sample s;
    size_t n = 0;

    while (one_take(&s, 1))
        n++;
    return n;
}
