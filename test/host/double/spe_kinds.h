/* Kinds of processors with statistical profiling, operations, and what the tests of both use. */
#pragma once
#include "test/host/double/armv8_double.h"
#include "hpm/pmu/arm/armv8_spe.h"
#include "hpm/sampling.h"

#define ALL_FILTERS (IDR_FE | IDR_FT)
#define USER_PC     0x401000
#define HIT         (SPE_EVENT_RETIRED | SPE_EVENT_L1)
#define MISS        (HIT | SPE_EVENT_L1_MISS)

/* Like a Neoverse N1, with records of 64 bytes, each at a multiple; with records one behind the
 * other; with unknown source codes. */
extern const struct armv8_kind spe_known, spe_packed, spe_unknown;
/* A load that hits the L1; one that another chip's cache serves; an operation without access. */
extern const struct spe_op spe_hit, spe_remote, spe_branch;

/* Starts hpm and threads on a machine with CPUs of this kind. */
void spe_start(const struct armv8_kind *kind);
void sample_all(uint32_t sources, uint32_t period, uint32_t jitter, bool user, bool kernel);
struct hpm_sample_account account(void);
/* Takes all samples. Returns their number. */
size_t take_all(void);
