test_allocations_SRC := apps/tools/measuring/allocations.c
test_args_SRC := apps/common/args.c
test_auction_SRC := \
	$(addprefix apps/workloads/auction/,site.c draw.c) $(addprefix apps/common/,arena.c btree.c)
test_btree_SRC := apps/common/btree.c apps/common/arena.c
test_chat_SRC := $(addprefix apps/workloads/chat/,room.c text.c) apps/common/arena.c
test_chat_users_SRC := $(addprefix apps/workloads/chat/,room.c server.c text.c users.c) \
	$(addprefix apps/common/,arena.c connection.c)
test_elf_names_SRC := $(addprefix apps/tools/measuring/,elf_lines.c elf_names.c images.c)
test_histogram_SRC := apps/common/histogram.c
test_lines_SRC := apps/tools/c2c/lines.c apps/tools/measuring/table.c
test_lines_LIBS := -Wl,--wrap=calloc
test_http_SRC := apps/tools/watchd/http.c
test_output_SRC := $(addprefix apps/tools/watchd/,output.c text.c)
test_phases_SRC := $(filter-out %/phases/phases.c,$(phases_SRC)) apps/common/arena.c
test_plan_SRC := apps/common/plan.c
SPMD_TESTED := apps/common/args.c apps/linux/memory_linux.c $(call double,spmd_run.c)
test_programs_SRC := \
	$(SPMD_TESTED) $(filter-out %/spmd_main.c,$(sort $(foreach a,$(SPMD_APPS),$($(a)_SRC))))
$(foreach a,$(SPMD_APPS),$(eval \
	test_$(a)_SRC := $(SPMD_TESTED) $(filter-out %/spmd_main.c,$($(a)_SRC))))
test_real_SRC := apps/common/real.c
test_records_SRC := apps/tools/measuring/record.c
test_shares_SRC := $(addprefix apps/tools/measuring/,figures.c places.c shares.c table.c)
test_shares_LIBS := -Wl,--wrap=calloc
test_warehouse_SRC := $(filter-out %/warehouse/warehouse.c,$(warehouse_SRC)) apps/common/arena.c
