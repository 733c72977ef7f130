# The host program that prints the tables of events, and what reads libpfm4's, or stands in for it.
EVENTS_TOOL_SRC := $(call files,architectural.c generate.c model.c) test/machine/pmu_masks.c
EVENTS_TOOL_LIBPFM4 := $(call files,amd.c arm.c intel.c intel_correct.c)
EVENTS_TOOL_WITHOUT := $(call files,without.c)
