KERNEL_SRC += $(call files,\
	account.c breakdown_events.c init.c interrupt.c profile.c profile_window.c \
	remote_latency.c report.c sampling.c session.c slot.c user.c)
