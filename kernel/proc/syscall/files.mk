KERNEL_SRC += $(call files,\
	clone.c file.c futex.c hpm.c mapping.c memory.c path.c poll.c process.c table.c thread.c)
