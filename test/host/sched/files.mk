CLUSTERING := $(call double,planted.c)
test_cluster_SRC := $(CLUSTERING)
test_gate_SRC := sched/gate.c sched/mutex.c $(LOCK_SRC) $(call double,fibers.c)
test_place_SRC := $(call double,placing.c)
test_place_random_SRC := $(call double,placing.c)
test_sharing_sampling_SRC := \
	$(addprefix sched/sharing/,args.c detection.c sampling.c) $(HPM_TESTED_MODEL)
