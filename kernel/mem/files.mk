KERNEL_SRC += $(call files,\
	account.c area.c bootmem.c buddy.c frame.c heap.c kstack.c memory_check.c tlb.c)
