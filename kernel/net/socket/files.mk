KERNEL_SRC += $(call files,data.c families.c options.c socket.c)
