# The simulated multiprocessor, a plug-in of QEMU.
MACHINE_SRC := $(call files,\
	branch.c cache.c cache_array.c cache_check.c calls.c cells.c clock.c decode_arm.c decode_x86.c disk.c \
	disk_regs.c dma.c effects.c execute.c interrupt.c page_trace.c path.c path_regs.c plugin.c pmu.c \
	pmu_masks.c qemu.c regs.c storebuf.c tlb.c topology.c truth.c turn.c wire.c \
	wire_regs.c)
# Its own guest: exact programs and what must be counted for them.
MACHINE_GUEST_SRC := \
	$(call files,$(addprefix guest/,disk.c guest.c path.c pstates.c samples.c settings.c tests.c time.c wire.c)) \
	kernel/lib/string.c $(wildcard $(call files,$(addprefix guest/$(ARCH)/*,.S .c)))

test_branch_SRC := $(call files,branch.c)
test_cache_SRC := $(call files,topology.c cache.c cache_array.c cache_check.c cache_reference.c)
test_decode_arm_SRC := $(call files,decode_arm.c effects.c)
test_path_SRC := $(call files,path.c)
test_disk_SRC := $(call files,disk.c)
test_storebuf_SRC := $(call files,storebuf.c)
test_tlb_SRC := $(call files,tlb.c)
test_wire_SRC := $(call files,wire.c)
test_topology_SRC := $(call files,topology.c)
