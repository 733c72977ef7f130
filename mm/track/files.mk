KERNEL_SRC += $(call files,\
	curve.c page_index.c path.c record.c sampled.c scan.c soft.c track.c)
PURE_SRC += $(call files,page_index.c)
