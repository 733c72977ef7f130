test_asid_SRC := kernel/arch/asid.c
test_cpu_place_SRC := kernel/arch/x86_64/topology.c kernel/arch/cpu_ids.c
test_its_layout_SRC := kernel/arch/aarch64/its_layout.c
test_pt_SRC := kernel/arch/pt.c
test_rtc_SRC := kernel/lib/date.c
test_sync_SRC := kernel/arch/sync.c
