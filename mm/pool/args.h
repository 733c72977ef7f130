/* The boot arguments mem.* and swap.* (args.c). Those of a process (ARG_PROCESS) are read when its
 * space and pool are made; processes that it starts inherit them. */
#pragma once
#include "kernel/core/cmdline.h"
#include "mm/policy/prefetch/prefetch.h"
#include "mm/policy/replace/replace.h"

#define MEMORY_LEAST     (256 * KIB) /* of a process: one instruction may need a dozen pages */
#define MEMORY_UNLIMITED (64 * GIB)

extern uint64_t mem_process, mem_user; /* bytes */
extern uint64_t mem_pool;              /* enum mem_pool_choice */
extern uint64_t mem_accessed;          /* bool */
extern uint64_t mem_seed;
extern uint64_t mem_goal;             /* an enum divide_goal */
extern uint64_t mem_weight, mem_rate; /* of a process; mem_rate: misses a second, 0: no bound */
extern uint64_t mem_wx;               /* enum mem_wx_choice */
extern uint64_t swap_wanted;          /* enum swap_choice */
extern uint64_t swap_size;

/* Return the policies that mem.policy and mem.prefetch name. */
const struct replace_ops *memory_policy_ops(void);
const struct prefetch_ops *memory_prefetch_ops(void);

enum mem_pool_choice { MEM_POOL_LOCAL, MEM_POOL_GLOBAL };
enum mem_wx_choice { MEM_WX_AUTO, MEM_WX_ALLOW, MEM_WX_DENY };
enum swap_choice { SWAP_NONE, SWAP_ANY, SWAP_RAM, SWAP_VIRTIO, SWAP_MODEL };
