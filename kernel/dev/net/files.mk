KERNEL_SRC += $(call files,net_device.c net_hash.c net_queue.c)
