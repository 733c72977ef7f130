KERNEL_SRC += $(call files,fault.c readahead.c space.c space_check.c space_describe.c)
