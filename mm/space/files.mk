KERNEL_SRC += $(call files,\
	drop.c fault.c fault_try.c fill.c fork.c locked.c map.c move.c object.c object_holes.c object_map.c object_size.c object_sync.c protect.c readahead.c source.c space.c space_check.c space_describe.c)
