test_acpi_SRC := kernel/firmware/acpi.c
test_acpi_platform_SRC := \
	$(addprefix kernel/firmware/,acpi.c acpi_iort.c acpi_platform.c platform.c) \
	$(call double,acpi_tables.c)
test_block_SRC := \
	$(addprefix kernel/dev/block/,block.c block_faults.c block_ram.c block_wait.c block_watch.c) \
	$(LOCK_SRC) $(call double,said.c workers.c)
test_devtree_SRC := \
	$(DEVTREE_SRC) $(LIBFDT_SRC) kernel/firmware/numa.c kernel/boot/boot_info.c \
	$(call files,virt.dts board.dts)
test_intel_ring_SRC := kernel/dev/net/intel_ring.c
test_model_disk_SRC := kernel/dev/block/model_disk.c $(call double,said.c)
test_net_device_SRC := \
	$(addprefix kernel/dev/net/,net_device.c net_queue.c) $(LOCK_SRC) $(call double,said.c)
test_numa_SRC := $(addprefix kernel/firmware/,acpi.c acpi_numa.c numa.c) $(call double,acpi_tables.c)
test_pci_SRC := $(addprefix kernel/dev/pci/,pci.c pci_bar.c) kernel/firmware/acpi.c
test_pci_msi_SRC := kernel/dev/pci/pci_msi.c
test_screen_SRC := kernel/dev/display/screen.c $(FONT_SRC)
test_smbios_SRC := $(addprefix kernel/firmware/,smbios.c acpi.c)
VIRTIO_TESTED := \
	$(addprefix kernel/dev/virtio/,virtio.c virtio_layout.c virtq.c) \
	$(call double,virtio_double.c said.c)
test_virtio_blk_SRC := $(VIRTIO_TESTED) kernel/dev/block/virtio_blk.c
test_virtio_console_SRC := $(VIRTIO_TESTED) kernel/dev/virtio/virtio_console.c
test_virtio_net_SRC := \
	$(VIRTIO_TESTED) $(addprefix kernel/dev/net/,net_hash.c virtio_net.c virtio_net_frame.c)
test_virtio_layout_SRC := kernel/dev/virtio/virtio_layout.c
test_virtq_SRC := kernel/dev/virtio/virtq.c
