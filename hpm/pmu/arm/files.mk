KERNEL_SRC_aarch64 += $(call files,\
	amu.c amu_regs.c armv8.c armv8_regs.c armv8_spe.c armv8_spe_regs.c backends.c spe_packets.c spe_sources.c)
PURE_SRC_aarch64 += $(call files,spe_packets.c spe_sources.c)
