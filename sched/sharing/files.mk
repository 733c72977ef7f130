KERNEL_SRC += $(call files,apply.c args.c detection.c detector.c members.c report.c sampling.c shown.c \
	trial.c)
