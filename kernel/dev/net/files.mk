KERNEL_SRC += $(call files,\
	intel.c intel_kinds.c intel_ring.c model_wire.c net_device.c net_hash.c net_queue.c \
	net_ring.c virtio_net.c virtio_net_frame.c)
PURE_SRC += $(call files,net_hash.c)
