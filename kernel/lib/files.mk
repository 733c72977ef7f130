KERNEL_SRC += $(call files,chacha20.c format.c string.c symbols.c words.c)
