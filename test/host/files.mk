# Host tests: test_NAME.c in this folder's folders and in test/machine.  test_NAME_SRC says what
# test NAME is linked with; all are linked with the policies' library.  These are in common:
double = $(addprefix test/host/double/,$(1))
# Spinlocks, where no CPU is asked for anything.
LOCK_SRC := kernel/core/lock.c $(call double,no_ipi.c)
# The simulated machine's page-access tracker.
PATH_TESTED := $(addprefix hpm/path/,ring.c model.c path.c) $(call double,path_double.c)
# hpm without drivers and events: a test's double says which drivers there are, in place of
# backends.c.
HPM_TESTED := \
	$(filter-out hpm/events/% hpm/pmu/% hpm/path/% hpm/policy/%,$(filter hpm/%,$(KERNEL_SRC))) \
	$(LOCK_SRC) kernel/lib/format.c kernel/lib/symbols.c $(call double,hpm_kernel.c hpm_threads.c)
HPM_TESTED_MODEL := \
	$(HPM_TESTED) $(EVENTS_SRC_aarch64) hpm/pmu/model.c $(call double,hpm_double.c) test/machine/pmu_masks.c
HPM_LIVES := $(HPM_TESTED_MODEL) $(call double,hpm_lives.c)
# What traces of pages are replayed with, and where they come from.
REPLAYING := tools/replay/belady.c $(SIMULATE_SRC)
REPLACING := $(REPLAYING) $(call double,replace_random.c traces.c)
PREFETCHING := $(call double,paging.c programs.c traces.c)
# lwIP with the kernel's options; they see its headers.
LWIP_FINDING := kernel/lib/siphash.c \
	$(addprefix kernel/net/lwip/,connections.c cookie.c demux.c half_open.c)
LWIP_TESTED := $(LWIP_SRC) $(LWIP_FINDING) kernel/net/lwip/timers.c $(call double,lwip_host.c)
LWIP_TESTS += $(addprefix kernel/net/lwip/,connections.c half_open.c timers.c) $(call double,lossy.c lwip_host.c packet_script.c)
