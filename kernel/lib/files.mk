KERNEL_SRC += $(call files,format.c string.c symbols.c words.c)
