KERNEL_SRC += $(call files,chacha20.c date.c format.c ipv4.c string.c symbols.c words.c)
