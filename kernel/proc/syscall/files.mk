KERNEL_SRC += $(call files,clone.c console.c futex.c hpm.c mapping.c memory.c process.c table.c thread.c)
