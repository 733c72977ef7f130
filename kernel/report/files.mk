KERNEL_SRC += $(call files,boot.c console_thread.c counters.c memory.c monitor.c stream.c)
