KERNEL_SRC += $(call files,virtio.c virtio_9p.c virtio_console.c virtio_layout.c virtq.c)
