KERNEL_SRC += $(call files,args.c drivers.c handlers.c main.c run.c)
