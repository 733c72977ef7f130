KERNEL_SRC += $(call files,model.c rate.c)
