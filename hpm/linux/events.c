/* See events.h. */
#include "hpm/linux/events.h"

#define NAMES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* PERF_TYPE_HARDWARE, by config. Bus cycles have no generic event. */
static const char *const *const hardware[PERF_COUNT_HW_MAX] = {
    [PERF_COUNT_HW_CPU_CYCLES] = NAMES("cycles"),
    [PERF_COUNT_HW_INSTRUCTIONS] = NAMES("instructions"),
    [PERF_COUNT_HW_CACHE_REFERENCES] = NAMES("llc.access"),
    [PERF_COUNT_HW_CACHE_MISSES] = NAMES("llc.miss"),
    [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = NAMES("branch"),
    [PERF_COUNT_HW_BRANCH_MISSES] = NAMES("branch.miss"),
    [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = NAMES("stall.frontend"),
    [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = NAMES("stall.backend"),
    [PERF_COUNT_HW_REF_CPU_CYCLES] = NAMES("cycles.ref"),
};

/* PERF_TYPE_HW_CACHE. Names in capitals are those of the simulated machine, of Arm and of Intel. */
static const struct {
    uint8_t cache, op, result;
    const char *const *names;
} caches[] = {
#define ROW(cache, op, result, ...)                                 \
    {                                                               \
        PERF_COUNT_HW_CACHE_##cache, PERF_COUNT_HW_CACHE_OP_##op,   \
            PERF_COUNT_HW_CACHE_RESULT_##result, NAMES(__VA_ARGS__) \
    }
    ROW(L1D, READ, ACCESS, "L1D_CACHE_RD", "load"),
    ROW(L1D, READ, MISS, "L1D_LOAD_MISSES", "L1D_CACHE_REFILL_RD"),
    ROW(L1D, WRITE, ACCESS, "L1D_CACHE_WR", "store"),
    ROW(L1D, WRITE, MISS, "L1D_CACHE_REFILL_WR"),
    ROW(L1I, READ, ACCESS, "l1i.access"),
    ROW(L1I, READ, MISS, "l1i.miss"),
    ROW(LL, READ, ACCESS, "LLC_LOADS", "LL_CACHE_RD"),
    ROW(LL, READ, MISS, "LLC_LOAD_MISSES", "LL_CACHE_MISS_RD"),
    ROW(DTLB, READ, MISS, "DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK", "DTLB_LOAD_MISSES",
        "L1D_TLB_REFILL_RD"),
    ROW(DTLB, WRITE, MISS, "DTLB_STORE_MISSES:MISS_CAUSES_A_WALK", "DTLB_STORE_MISSES",
        "L1D_TLB_REFILL_WR"),
    ROW(ITLB, READ, MISS, "itlb.miss"),
    ROW(BPU, READ, ACCESS, "branch"),
    ROW(BPU, READ, MISS, "branch.miss"),
#undef ROW
};

/* PERF_TYPE_SOFTWARE, by config; PERF_NOTHING + 1: there is none, as of faults of alignment. */
#define NOT_COUNTED (PERF_NOTHING + 1)
static const uint8_t software[PERF_COUNT_SW_MAX] = {
    [PERF_COUNT_SW_CPU_CLOCK] = PERF_CPU_CLOCK,
    [PERF_COUNT_SW_TASK_CLOCK] = PERF_TASK_CLOCK,
    [PERF_COUNT_SW_PAGE_FAULTS] = PERF_FAULTS,
    [PERF_COUNT_SW_CONTEXT_SWITCHES] = PERF_SWITCHES,
    [PERF_COUNT_SW_CPU_MIGRATIONS] = PERF_MIGRATIONS,
    [PERF_COUNT_SW_PAGE_FAULTS_MIN] = PERF_FAULTS_MINOR,
    [PERF_COUNT_SW_PAGE_FAULTS_MAJ] = PERF_FAULTS_MAJOR,
    [PERF_COUNT_SW_ALIGNMENT_FAULTS] = NOT_COUNTED,
    [PERF_COUNT_SW_EMULATION_FAULTS] = NOT_COUNTED,
    [PERF_COUNT_SW_DUMMY] = PERF_NOTHING,
    [PERF_COUNT_SW_BPF_OUTPUT] = NOT_COUNTED,
    [PERF_COUNT_SW_CGROUP_SWITCHES] = NOT_COUNTED,
};

const char *const *perf_names(unsigned i)
{
    return i < ARRAY_SIZE(caches) ? caches[i].names : NULL;
}

static int find_cache(uint64_t config, struct perf_found *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(caches); i++)
        if (config == (caches[i].cache | caches[i].op << 8 | (uint32_t)caches[i].result << 16)) {
            out->names = caches[i].names;
            return 0;
        }
    return -ENOENT;
}

static int find_software(uint64_t config, struct perf_found *out)
{
    if (config >= PERF_COUNT_SW_MAX || software[config] == NOT_COUNTED)
        return -ENOENT;
    out->is_software = true;
    out->software = software[config];
    return 0;
}

/* Codes of accesses mean them if the samples are precise, or if a latency is asked for; else they
 * are counted as any. */
static int find_code(const struct perf_event_attr *a, const struct perf_pmu *pmu,
                     struct perf_found *out)
{
    bool stores = a->config == pmu->stores;
    uint64_t latency = a->config1 >> pmu->latency_shift;

    out->has_code = true;
    out->code = a->config;
    if ((!stores && a->config != pmu->loads) || (!a->precise_ip && !latency))
        return 0;
    if (latency > PERF_LATENCY_MAX)
        return -EINVAL;
    *out =
        (struct perf_found){.is_access = true, .stores = stores, .min_latency = (uint32_t)latency};
    return 0;
}

int perf_find(const struct perf_event_attr *a, const struct perf_pmu *pmu, struct perf_found *out)
{
    *out = (struct perf_found){0};
    if (a->type == PERF_TYPE_SOFTWARE)
        return find_software(a->config, out);
    if (a->type == PERF_TYPE_HW_CACHE)
        return find_cache(a->config, out);
    if (a->type == PERF_TYPE_HARDWARE) {
        out->names = a->config < PERF_COUNT_HW_MAX ? hardware[a->config] : NULL;
        return out->names ? 0 : -ENOENT;
    }
    return a->type == PERF_TYPE_RAW || a->type == pmu->type ? find_code(a, pmu, out) : -ENOENT;
}

static size_t put(char out[PERF_NAME_MAX], size_t n, const char *text)
{
    while (*text && n < PERF_NAME_MAX - 1)
        out[n++] = *text++;
    out[n] = '\0';
    return n;
}

bool perf_name(const struct perf_event_attr *a, const char *name, char out[PERF_NAME_MAX])
{
    size_t n = put(out, 0, name);

    if (a->exclude_user && a->exclude_kernel)
        return false;
    put(out, n, a->exclude_kernel ? ":u" : a->exclude_user ? ":k" : "");
    return true;
}

void perf_access_name(const struct perf_found *f, char out[PERF_NAME_MAX])
{
    size_t n = put(out, 0, "access.any");
    uint32_t unit = 10000;

    if (!f->min_latency)
        return;
    n = put(out, n, ">=");
    while (f->min_latency < unit)
        unit /= 10;
    for (; unit; unit /= 10)
        out[n++] = (char)('0' + f->min_latency / unit % 10);
    out[n] = '\0';
}

void perf_code_name(uint64_t code, char out[PERF_NAME_MAX])
{
    unsigned digits = 1;
    size_t n = put(out, 0, "r");

    while (digits < 16 && code >> 4 * digits)
        digits++;
    while (digits-- > 0)
        out[n++] = "0123456789abcdef"[code >> 4 * digits & 0xf];
    out[n] = '\0';
}
