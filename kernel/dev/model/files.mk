KERNEL_SRC += $(call files,machine.c)
