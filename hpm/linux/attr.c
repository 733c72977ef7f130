/* See attr.h. */
#include "hpm/linux/attr.h"
#include <linux/time.h>

/* Bits of one number, by their position. */
#define BELOW(n) (((uint64_t)1 << (n)) - 1)

#define SAMPLE_TYPES   ((uint64_t)PERF_SAMPLE_MAX - 1)
#define READ_FORMATS   ((uint64_t)PERF_FORMAT_MAX - 1)
#define BRANCH_TYPES   ((uint64_t)PERF_SAMPLE_BRANCH_MAX - 1)
#define BRANCH_MODES   ((uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL)
#define USER_STACK_MAX 0xffff
/* Samples that Vigil cannot make. */
#define NOT_SAMPLED (PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_AUX | PERF_SAMPLE_RAW)

int perf_attr_bytes(uint32_t size)
{
    if (!size)
        return PERF_ATTR_SIZE_VER0;
    return size < PERF_ATTR_SIZE_VER0 || size > PAGE_SIZE ? -E2BIG : (int)size;
}

static bool are_zero(const uint8_t *at, const uint8_t *end)
{
    while (at < end)
        if (*at++)
            return false;
    return true;
}

/* Checks the modes and kinds of branches that a sample is to have. */
static int check_branches(const struct perf_event_attr *a)
{
    uint64_t types = a->branch_sample_type;

    if (!(a->sample_type & PERF_SAMPLE_BRANCH_STACK))
        return 0;
    return (types & ~BRANCH_TYPES) || !(types & ~BRANCH_MODES) ? -EINVAL : 0;
}

static int check_stack(const struct perf_event_attr *a)
{
    if (!(a->sample_type & PERF_SAMPLE_STACK_USER))
        return 0;
    return a->sample_stack_user >= USER_STACK_MAX || a->sample_stack_user % sizeof(uint64_t)
               ? -EINVAL
               : 0;
}

/* Registers are bits below the number that the instruction set has at least. */
static int check_registers(const struct perf_event_attr *a)
{
    const uint64_t known = BELOW(33);

    if (a->sample_type & PERF_SAMPLE_REGS_USER &&
        (!a->sample_regs_user || (a->sample_regs_user & ~known)))
        return -EINVAL;
    if (a->sample_type & PERF_SAMPLE_REGS_INTR &&
        (!a->sample_regs_intr || (a->sample_regs_intr & ~known)))
        return -EINVAL;
    return 0;
}

static int check_bits(const struct perf_event_attr *a)
{
    if (a->__reserved_1 || a->__reserved_2 || a->__reserved_3)
        return -EINVAL;
    if ((a->sample_type & ~SAMPLE_TYPES) || (a->read_format & ~READ_FORMATS))
        return -EINVAL;
    if ((a->sample_type & PERF_SAMPLE_WEIGHT) && (a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
        return -EINVAL;
    if ((a->inherit_thread && !a->inherit) || (a->remove_on_exec && a->enable_on_exec) ||
        (a->sigtrap && !a->remove_on_exec))
        return -EINVAL;
    return 0;
}

int perf_attr_take(const void *from, size_t bytes, struct perf_event_attr *out)
{
    const uint8_t *at = from;
    size_t known = MIN(bytes, sizeof *out);

    if (!are_zero(at + known, at + bytes))
        return -E2BIG;
    *out = (struct perf_event_attr){0};
    memcpy(out, at, known);
    out->size = (uint32_t)bytes;
    return check_bits(out) ?: check_branches(out) ?: check_registers(out) ?: check_stack(out);
}

int perf_attr_check_rate(const struct perf_event_attr *a)
{
    if (a->freq)
        return a->sample_freq > PERF_FREQUENCY_MAX ? -EINVAL : 0;
    return a->sample_period >> 63 ? -EINVAL : 0;
}

int perf_attr_check_clock(const struct perf_event_attr *a)
{
    if (!a->use_clockid)
        return 0;
    switch (a->clockid) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
        return 0;
    default:
        return -EINVAL;
    }
}

int perf_attr_check_told(const struct perf_event_attr *a)
{
    if ((a->sample_type & NOT_SAMPLED) || a->aux_output || a->sigtrap)
        return -EOPNOTSUPP;
    if ((a->sample_type & PERF_SAMPLE_CALLCHAIN) && a->sample_max_stack > PERF_STACK_MAX)
        return -EOVERFLOW;
    return 0;
}

int perf_attr_check_member(const struct perf_event_attr *member, struct perf_scope of_member,
                           const struct perf_event_attr *leader, struct perf_scope of_leader)
{
    if (of_member.tid != of_leader.tid || of_member.cpu != of_leader.cpu ||
        member->inherit != leader->inherit || member->pinned || member->exclusive)
        return -EINVAL;
    return member->use_clockid != leader->use_clockid ||
                   (member->use_clockid && member->clockid != leader->clockid)
               ? -EINVAL
               : 0;
}
