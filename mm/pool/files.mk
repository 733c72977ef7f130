KERNEL_SRC += $(call files,\
	args.c divide.c evict.c fetch.c lineage.c object_users.c pool.c pool_grow.c prefetching.c reclaim.c \
	reclaim_line.c swap.c swap_done.c)
