# To add a program: a folder here with its files, its name in one of the lists.
# Those on large arrays (apps/common/spmd.h): all but spmd_main.c is tested on the host too.
SPMD_APPS := fft lu cg mg sp ocean barnes phylogeny cube
WORKLOADS := hello scoreboard warehouse chat auction private latency phases stores costs sweep falseshare
app_files = $(wildcard $(call files,$(1)/*.c $(1)/$(ARCH)/*.S))
$(foreach a,$(SPMD_APPS),$(eval \
	$(a)_SRC := $(call app_files,$(a)) $(call files,spmd_main.c) $(SPMD_SRC)))
$(foreach a,$(WORKLOADS),$(eval $(a)_SRC := $(call app_files,$(a))))
chat_SRC += $(SERVED_SRC)
auction_SRC += $(SERVED_SRC) $(BTREE_SRC)
warehouse_SRC += $(BTREE_SRC)
