KERNEL_SRC += $(call files,\
	args.c divide.c evict.c fetch.c lineage.c node.c object_users.c page_done.c page_io.c pool.c pool_grow.c \
	prefetching.c reclaim.c reclaim_line.c swap.c)
