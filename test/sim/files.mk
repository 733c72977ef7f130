# Simulations of policies on the host, each a benchmark: sim_NAME.c is what `make bench-NAME` runs.
# sim_NAME_SRC lists the sources a simulation is linked with beside the policies.
SIMULATIONS := $(notdir $(basename $(wildcard $(call files,sim_*.c))))
sim_clustering_SRC = $(call double,planted.c)
sim_lives_SRC = $(HPM_LIVES)
sim_mrc_SRC = $(call double,bounded_stack.c instructions.c traces.c mattson.c)
sim_pools_SRC = $(call double,traces.c)
sim_prefetch_SRC = $(PREFETCHING)
sim_regret_SRC = $(SIMULATE_SRC) $(call double,traces.c unseen.c)
