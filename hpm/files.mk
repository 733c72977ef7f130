KERNEL_SRC += $(call files,\
	access.c account.c breakdown_events.c chain.c dump.c exact.c frequency.c init.c interrupt.c log.c \
	profile.c profile_window.c raw.c remote_latency.c report.c session.c slot.c user.c wanted.c \
	watch.c weigh.c)
