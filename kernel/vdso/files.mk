KERNEL_SRC += $(call files,vdso.c)
# What is linked to be the vDSO itself.
VDSO_SRC := $(call files,note.S)
VDSO_SRC_x86_64 := $(call files,x86_64/vdso.c)
VDSO_SRC_aarch64 := $(call files,aarch64/vdso.c aarch64/sigreturn.S)
