# What perf_event_open(2) asks for and returns: layouts, checks, names.
PERF_SRC := $(call files,attr.c count.c events.c record.c)
KERNEL_SRC += $(PERF_SRC)
PURE_SRC += $(PERF_SRC)
