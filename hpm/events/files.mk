# Names of events and metrics.  Tables of the PMUs' events are made from libpfm4's.
EVENTS_SRC := $(call files,\
	bits.c fit.c generic.c generic_model.c group.c identity.c list.c lookup.c metric.c metrics.c \
	nest.c request.c request_text.c scaled.c words.c)
EVENTS_SRC_x86_64 := \
	$(EVENTS_SRC) $(call files,choices_x86.c generic_amd.c generic_intel.c) $(EVENTS)/x86_64.c
EVENTS_SRC_aarch64 := $(EVENTS_SRC) $(call files,choices_arm.c generic_arm.c) $(EVENTS)/aarch64.c
KERNEL_SRC += $(EVENTS_SRC_$(ARCH))
PURE_SRC += $(EVENTS_SRC_$(ARCH))
