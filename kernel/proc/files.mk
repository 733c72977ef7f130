KERNEL_SRC += $(call files,\
	bundle.c children.c count_session.c elf.c family.c family_sum.c figures.c futex.c load.c \
	process.c sample_session.c session.c sleepers.c stdio.c symbolize.c sysinfo.c user.c \
	userfault.c uthread.c visible.c)
