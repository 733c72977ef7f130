KERNEL_SRC_x86_64 += $(call files,\
	boot.S clock.c console.c context.c cpu_init.c cpuinfo.c cpus.c entry.S fpu.c frame.c \
	identity.c irq.c lapic.c memory.c pci_ports.c power.c pte.c pvh.c quirks.c random.c reference.c rtc.c \
	signal.c smp.c start.c topology.c trampoline.S trap.c usercopy_asm.S)
