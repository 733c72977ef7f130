KERNEL_SRC += $(call files,model.c path.c ring.c)
PURE_SRC += $(call files,ring.c)
