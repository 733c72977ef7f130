/* What the boot arguments mem.* and swap.* say (args.c). Those that are a process's own
 * (ARG_PROCESS) are looked at when its space and pool are made; those that it starts have its
 * own. */
#pragma once
#include "kernel/core/cmdline.h"
#include "mm/policy/prefetch/prefetch.h"
#include "mm/policy/replace/replace.h"

#define MEMORY_LEAST     (256 * KIB) /* of a process: an instruction alone may need a dozen pages */
#define MEMORY_UNLIMITED (64 * GIB)

extern uint64_t memory_process_max, memory_user_max; /* bytes */
extern uint64_t memory_pool_global;                  /* 1: one pool for all */
extern uint64_t memory_accessed;                     /* bool */
extern uint64_t memory_seed;
extern uint64_t memory_goal;                /* an enum share_goal */
extern uint64_t memory_weight, memory_rate; /* of a process; misses a second, 0: any */
extern uint64_t memory_pools_always;        /* 1: even where pages can go nowhere */
extern uint64_t swap_wanted;                /* enum swap_choice */
extern uint64_t swap_bytes_max;

/* Those that mem.policy and mem.prefetch name. */
const struct replace_ops *memory_policy_ops(void);
const struct prefetch_ops *memory_prefetch_ops(void);

enum swap_choice { SWAP_NONE, SWAP_ANY, SWAP_RAM, SWAP_VIRTIO, SWAP_MODEL };
