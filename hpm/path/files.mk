KERNEL_SRC += $(call files,backends.c model.c path.c ring.c)
PURE_SRC += $(call files,ring.c)
