KERNEL_SRC += $(call files,memory.c syscall.c thread.c)
