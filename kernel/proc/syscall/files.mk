KERNEL_SRC += $(call files,console.c hpm.c memory.c process.c table.c thread.c)
