KERNEL_SRC_x86_64 += $(call files,\
	amd.c amd_ibs.c backends.c frequency.c intel.c intel_ability.c intel_fixed.c intel_models.c intel_pebs.c \
	x86_regs.c)
