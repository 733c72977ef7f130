KERNEL_SRC += $(call files,\
	call.c cmdline.c console.c cpu.c end.c entropy.c image_symbols.c lock.c number.c outputs.c panic.c \
	printf.c wall_clock.c)
