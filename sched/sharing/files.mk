KERNEL_SRC += $(call files,apply.c args.c detection.c detector.c report.c sampling.c shown.c)
