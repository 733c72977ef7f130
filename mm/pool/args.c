/* Boot arguments of memory: limits, pools, policies, the swap device. */
#include "mm/pool/args.h"
#include "kernel/mem/account.h"
#include "mm/mm.h"
#include "mm/policy/replace/replace.h"
#include "mm/policy/divide/plan.h"

uint64_t mem_process = MEMORY_UNLIMITED, mem_user = MEMORY_UNLIMITED;
static uint64_t mem_policy, mem_prefetch;
uint64_t mem_goal, mem_weight = 1, mem_rate;
uint64_t mem_pool, mem_accessed = 1, mem_seed = 1, mem_wx;
uint64_t swap_wanted = SWAP_NONE, swap_size = MEMORY_UNLIMITED;

static const char *const pool_names[] = {
    [MEM_POOL_LOCAL] = "local", [MEM_POOL_GLOBAL] = "global", NULL};
static const char *const wx_names[] = {
    [MEM_WX_AUTO] = "auto", [MEM_WX_ALLOW] = "allow", [MEM_WX_DENY] = "deny", NULL};
static const char *const swap_names[] = {"none", "any", "ram", "virtio", "model", NULL};

const struct replace_ops *memory_policy_ops(void)
{
    return replace_policies[mem_policy];
}

const struct prefetch_ops *memory_prefetch_ops(void)
{
    return prefetch_policies[mem_prefetch];
}

const struct arg mm_args[] = {
    {"mem.process", ARG_BYTES, &mem_process, MEMORY_LEAST, MEMORY_UNLIMITED, NULL, ARG_PROCESS,
     "memory a process keeps at most; the largest value: no limit"},
    {"mem.user", ARG_BYTES, &mem_user, MEMORY_LEAST, MEMORY_UNLIMITED, NULL, ARG_GROUP,
     "memory all processes together keep at most; the largest value: no limit"},
    {"mem.kernel", ARG_BYTES, &mem_kernel, 0, MEMORY_UNLIMITED, NULL, ARG_PROCESS,
     "kernel memory a process may take: its threads' stacks, page tables, sessions, pool's tables; "
     "0: a quarter of memory"},
    {"mem.pool", ARG_CHOICE, &mem_pool, 0, 0, pool_names, ARG_PROCESS,
     "each process has a pool of frames of its own, or all have one"},
    {"mem.goal", ARG_CHOICE, &mem_goal, 0, 0, divide_goal_names, ARG_BOOT,
     "how memory is divided among pools: evenly; by their curves so that the harmonic mean of "
     "speedups is highest, or all miss at the same rate, or the highest rate is as low as can be, "
     "or rates asked for are kept"},
    {"mem.weight", ARG_U64, &mem_weight, 1, DIVIDE_WEIGHT_MAX, NULL, ARG_PROCESS,
     "how much a process counts where memory is divided"},
    {"mem.rate", ARG_U64, &mem_rate, 0, 1000000, NULL, ARG_PROCESS,
     "mem.goal=service: misses a second that a process may have; 0: any number"},
    {"mem.policy", ARG_TABLE, &mem_policy, 0, 0, replace_policies, ARG_PROCESS,
     "which page of a pool goes when another needs its frame"},
    {"mem.prefetch", ARG_TABLE, &mem_prefetch, 0, 0, prefetch_policies, ARG_PROCESS,
     "what is read besides the page that a thread waits for: nothing, its neighbours, where a row "
     "of pages goes on, what was used together with it, or what of these has done no harm in its "
     "region"},
    {"mem.accessed", ARG_BOOL, &mem_accessed, 0, 0, NULL, ARG_PROCESS,
     "a page about to go is asked whether it was used, where no tracker sees that; else faults are "
     "all that policies hear of"},
    {"mem.seed", ARG_U64, &mem_seed, 0, UINT64_MAX, NULL, ARG_PROCESS,
     "of policies that draw or hash"},
    {"mem.wx", ARG_CHOICE, &mem_wx, 0, 0, wx_names, ARG_PROCESS,
     "whether memory may be writable and executable at once; auto: that of programs that are not "
     "bundled with the kernel"},
    {"swap", ARG_CHOICE, &swap_wanted, 0, 0, swap_names, ARG_BOOT,
     "kind of disk that pages are swapped out to; it is overwritten; any: the first there is"},
    {"swap.size", ARG_BYTES, &swap_size, MIB, MEMORY_UNLIMITED, NULL, ARG_BOOT,
     "use no more of that disk; the largest value: all of it"},
    {0},
};
