KERNEL_SRC += $(call files,ctf.c ctf_describe.c events.c record.c ring.c)
PURE_SRC += $(call files,ctf.c ctf_describe.c events.c ring.c)
