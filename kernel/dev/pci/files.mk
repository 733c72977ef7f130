KERNEL_SRC += $(call files,pci.c pci_bar.c pci_msi.c)
