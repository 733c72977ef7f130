KERNEL_SRC += $(call files,clock.c cpus.c describe.c memory.c program.c selftest.c)
