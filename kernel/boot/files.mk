KERNEL_SRC += $(call files,boot_info.c)
# The UEFI loader, and what it includes.
EFI_SRC := $(call files,\
	boot_info.c boot_info.h efi.c efi_arch.h efi_base.h efi_cmdline.c efi_cmdline.h efi_file.c \
	efi_file.h efi_initrd.c efi_initrd.h efi_$(ARCH).c gop.c gop.h) kernel/lib/date.c kernel/lib/date.h
