KERNEL_SRC += $(call files,drivers.c main.c run.c)
