# Suites that run inside the kernel, in place of the applications.
SUITE_SRC := $(call files,\
	$(addprefix kernel/, \
		arch.c block.c console.c futex.c heap.c hpm.c hpm_samples.c hpm_work.c mm.c msi.c nic.c panics.c \
		pmu.c sched.c spaces.c string.c suite.c swap.c telemetry.c threads.c turns.c virtio.c) \
	apps/$(ARCH)/known_loop.S)

# Programs of the test suites, bundled in test images only.
TEST_APPS := \
	advice anew asks badcalls clocks counts faults files gates kin known leaves libctest loop logs \
	mapped oom paging places priorities ratio reads regions remaps samplers sessions stress names \
	standard strings brief couples fickle forkjoin typed watchask where nested unframed
$(foreach t,$(TEST_APPS),$(eval $(t)_SRC := $(call files,apps/$(t).c)))
faults_SRC += $(call files,apps/$(ARCH)/misdeeds.c)
libctest_SRC += $(call files,apps/libctest_sync.c)
counts_SRC += $(call files,apps/$(ARCH)/known_loop.S)
known_SRC += $(call files,apps/$(ARCH)/known_loop.S)
reads_SRC += $(call files,apps/$(ARCH)/known_loop.S)
ratio_SRC += $(call files,apps/$(ARCH)/ratio_loop.S)
regions_SRC += $(call files,apps/$(ARCH)/known_loop.S)
couples_SRC += $(SERVED_SRC)
watchask_SRC += $(SERVED_SRC)
# What must be refused: a program cut short, and none at all.
BROKEN_APPS := cut-short no-program
# Each of its functions keeps a frame pointer, leaves as well.
$(O)/test/qemu/apps/nested.o: APP_CFLAGS += -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
