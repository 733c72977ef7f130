KERNEL_SRC += $(call files,\
	block.c block_faults.c block_ram.c block_wait.c block_watch.c model_disk.c virtio_blk.c)
PURE_SRC += $(call files,block_faults.c)
