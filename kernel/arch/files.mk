KERNEL_SRC += $(call files,\
	clock.c cpu_ids.c cpus.c fault.c lookback.c memory.c msi.c pt.c start_fail.c sync.c \
	usercopy.c)
KERNEL_SRC_aarch64 += $(call files,asid.c)
PURE_SRC_aarch64 += $(call files,asid.c)
