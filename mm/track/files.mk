KERNEL_SRC += $(call files,\
	curve.c default.c page_index.c path.c record.c rows.c sampled.c scan.c soft.c track.c)
PURE_SRC += $(call files,page_index.c)
