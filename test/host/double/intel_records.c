/* See intel_records.h. */
#include "test/host/double/intel_records.h"
#include "test/host/double/hpm_driver.h"

const struct intel_kind *const servers[SERVERS] = {&intel_broadwell_ep, &intel_skylake,
                                                   &intel_icelake, &intel_sapphire};

struct hpm_sample taken[TAKE];

void boot(const struct intel_kind *kind, unsigned records)
{
    hpm_records = records;
    hpm_samples = 2048;
    intel_machine(kind);
    kernel_start_hpm();
    threads_begin(1);
}

void sample(uint32_t sources, uint32_t period, uint32_t jitter)
{
    struct hpm_sampling c = {.sources = sources, .period = period, .jitter = jitter, .user = true};

    assert_int_equal(one_start(&c), 0);
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        tick(cpu);
    double_run_on(0);
}

void access(uint16_t event, uint8_t source, uint64_t latency, uint64_t address)
{
    struct intel_load l = {
        .event = event, .source = source, .latency = latency, .address = address, .pc = USER_PC};

    intel_load(&l);
}

struct hpm_sample_account account(void)
{
    struct hpm_sample_account a;

    one_account(&a);
    return a;
}

void assert_conserved(void)
{
    struct hpm_sample_account a = account();

    assert_int_equal(a.taken, a.delivered + a.lost_hardware + a.lost_buffer);
}
