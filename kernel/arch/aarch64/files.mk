KERNEL_SRC_aarch64 += $(call files,\
	boot.S cache.c clock.c console.c context.c cpu_init.c cpuinfo.c cpus.c entry.S fpu.S frame.c gic.c \
	gicv2.c gicv3.c identity.c irq.c its.c its_layout.c lpi.c memory.c pci.c \
	platform_find.c power.c psci.c pte.c quirks.c random.c rtc.c signal.c smp.c start.c \
	trap.c usercopy_asm.S v2m.c)
PURE_SRC_aarch64 += $(call files,its_layout.c)
