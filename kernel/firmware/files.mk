# What a device tree says; libfdt is fetched and built from source.
DEVTREE_SRC := $(call files,devtree.c devtree_numa.c devtree_platform.c devtree_read.c platform.c)
LIBFDT_SRC := $(LIBFDT)/fdt.c $(LIBFDT)/fdt_ro.c
KERNEL_SRC += $(call files,acpi.c acpi_numa.c acpi_tables.c numa.c smbios.c)
KERNEL_SRC_aarch64 += $(call files,acpi_iort.c acpi_platform.c) $(DEVTREE_SRC) $(LIBFDT_SRC)
