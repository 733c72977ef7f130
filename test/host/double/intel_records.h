/* Records of accesses on Intel's double, and what was taken of them. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/host/double/intel_kinds.h"
#include "hpm/sampling.h"

enum { TAKE = 4096 };

#define USER_PC     0x401000
#define KERNEL_PC   0xffffffff80123456
#define HITM_REMOTE 0x04d3
#define FWD_REMOTE  0x08d3

#define ONLY(s) (1u << (s))
#define WITHIN_CHIP \
    (ONLY(SOURCE_L1) | ONLY(SOURCE_LOCAL_L2) | ONLY(SOURCE_LOCAL_L3) | ONLY(SOURCE_LOCAL_MEMORY))

/* Servers with records. */
enum { SERVERS = 4 };
extern const struct intel_kind *const servers[SERVERS];

extern struct hpm_sample taken[TAKE];

/* Boots a machine of this kind, with room for `records` records on each CPU. */
void boot(const struct intel_kind *kind, unsigned records);
/* Starts sampling in user mode, and lets every CPU follow; CPU 0 executes then. */
void sample(uint32_t sources, uint32_t period, uint32_t jitter);
/* Executes a load at USER_PC. */
void access(uint16_t event, uint8_t source, uint64_t latency, uint64_t address);
struct hpm_sample_account account(void);
/* Checks that each sample taken from the hardware was delivered or counted as lost. */
void assert_conserved(void);
