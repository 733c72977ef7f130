# mm complete, but for memory, page tables and TLBs, above disks that fail.
MM_TESTED := \
	$(filter mm/pool/% mm/space/% mm/track/%,$(KERNEL_SRC)) kernel/mem/account.c \
	$(addprefix kernel/dev/block/,block.c block_faults.c block_wait.c block_watch.c) $(LOCK_SRC) \
	sched/gate.c sched/mutex.c $(PATH_TESTED) $(call double,mm_double.c mm_double_kernel.c fibers.c said.c)
$(foreach t,deadlock evict fault mapping paging pool_grow track watch,$(eval test_$(t)_SRC := $(MM_TESTED)))
test_paging_SRC += $(call files,paging_files.c paging_process.c)

test_bounded_stack_SRC := $(call double,bounded_stack.c)
test_frame_SRC := $(addprefix kernel/mem/,buddy.c bootmem.c)
test_frame_high_SRC := $(addprefix kernel/mem/,frame.c buddy.c bootmem.c) kernel/boot/boot_info.c
test_heap_SRC := kernel/mem/heap.c $(test_frame_high_SRC)
test_line_SRC := mm/pool/reclaim_line.c $(LOCK_SRC)
test_mrc_SRC := $(call double,traces.c mattson.c)
test_page_index_SRC := mm/track/page_index.c
test_pool_SRC := \
	$(addprefix mm/pool/,node.c page_done.c pool.c pool_grow.c prefetching.c reclaim.c reclaim_line.c) \
	kernel/mem/account.c $(LOCK_SRC) $(call double,pooling.c)
test_pool_parts_SRC := $(test_pool_SRC)
test_prefetch_SRC := $(PREFETCHING)
test_prefetch_chooser_SRC := $(PREFETCHING)
$(foreach t,region replace replace_adaptive replace_bound replace_gap replace_gap_time replace_queues, \
	$(eval test_$(t)_SRC := $(REPLACING)))
test_replace_chooser_SRC := $(REPLACING) $(call double,unseen.c)
test_divide_SRC := $(call double,dividing.c)
test_divide_plan_SRC := $(call double,dividing.c)
