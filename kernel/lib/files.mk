KERNEL_SRC += $(call files,chacha20.c date.c format.c ipv4.c siphash.c string.c symbols.c words.c)
PURE_SRC += $(call files,siphash.c)
