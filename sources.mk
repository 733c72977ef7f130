# What each part is made of.  Paths are from the top of the repository; $(ARCH) is the architecture built for.

# ---- Kernel ----------------------------------------------------------------------------------------------------------
# Policy: pure, compiled for the kernel and for the host alike; nm checks that each needs nothing but panic, mem* and others.
POLICY_SRC := \
	$(addprefix hpm/,breakdown.c context.c criteria.c estimate.c fit.c group.c mux.c mux_turns.c period.c period_draw.c plan.c path/log.c) \
	kernel/dev/block_faults.c \
	$(addprefix mm/,demand.c lrudist.c lrustack.c mrc.c mrustack.c page_index.c prefetch.c prefetch_chooser.c prefetch_ppg.c prefetch_shadow.c prefetch_spatial.c prefetch_streams.c share.c share_divide.c slots.c track_govern.c) \
	$(addprefix kernel/telemetry/,ctf.c ctf_describe.c events.c ring.c) \
	$(addprefix mm/, \
		region_policy.c replace.c replace_arc.c replace_aside.c replace_chooser.c replace_clock.c replace_gap.c replace_lirs.c \
		replace_lru.c replace_mru.c replace_region.c replace_s3fifo.c replace_sieve.c replace_weigh.c replace_wtinylfu.c) \
	$(addprefix sched/, \
		balance_policy.c cluster.c cluster_cosine.c cluster_published.c cluster_watch.c place.c place_core.c \
		place_simple.c ready.c sampling_period.c shmap.c shmap_picture.c)
# ... of one instruction set's kernel.
POLICY_SRC_aarch64 := kernel/arch/asid.c kernel/arch/aarch64/its_layout.c $(addprefix hpm/pmu/,spe_packets.c spe_sources.c)
# ... names of events and metrics.  Tables of the PMUs' events are made from libpfm4's.
EVENTS_SRC := \
	$(addprefix hpm/events/, \
		bits.c generic.c generic_model.c identity.c list.c lookup.c metric.c metrics.c nest.c request.c scaled.c words.c)
EVENTS_SRC_x86_64 := \
	$(EVENTS_SRC) $(addprefix hpm/events/,choices_x86.c generic_amd.c generic_intel.c) $(EVENTS)/x86_64.c
EVENTS_SRC_aarch64 := $(EVENTS_SRC) $(addprefix hpm/events/,choices_arm.c generic_arm.c) $(EVENTS)/aarch64.c
# The console's font, out of a Debian package.
FONT_SRC := $(FONT)/font_data.c
# What a device tree says; libfdt is fetched and built from source.
DEVTREE_SRC := $(addprefix kernel/dev/,devtree.c devtree_numa.c devtree_platform.c devtree_read.c platform.c)
LIBFDT_SRC := $(LIBFDT)/fdt.c $(LIBFDT)/fdt_ro.c
ARCH_SRC_x86_64 := \
	$(addprefix hpm/pmu/,amd.c amd_ibs.c intel.c intel_ability.c intel_fixed.c intel_models.c intel_pebs.c x86_regs.c) \
	$(addprefix kernel/arch/x86_64/, \
		boot.S clock.c console.c context.c cpu_init.c cpus.c early.c entry.S fpu.c frame.c identity.c irq.c lapic.c \
		memory.c pci_ports.c power.c pte.c pvh.c quirks.c reference.c smp.c start.c topology.c trampoline.S trap.c \
		usercopy_asm.S)
ARCH_SRC_aarch64 := \
	$(addprefix hpm/pmu/,armv8.c armv8_regs.c armv8_spe.c armv8_spe_regs.c) \
	$(addprefix kernel/arch/aarch64/, \
		boot.S cache.c clock.c console.c context.c cpu_init.c cpus.c entry.S fpu.S frame.c gic.c gicv2.c gicv3.c \
		hwcap.c identity.c irq.c its.c lpi.c memory.c pci.c platform_find.c power.c psci.c pte.c quirks.c smp.c \
		start.c trap.c usercopy_asm.S v2m.c) \
	$(addprefix kernel/dev/,acpi_iort.c acpi_platform.c) \
	$(DEVTREE_SRC) $(LIBFDT_SRC)
KERNEL_SRC := \
	$(addprefix hpm/,figures.c hpm.c profile.c profile_window.c profiles.c remote.c report.c sampling.c session.c setup.c user.c) \
	$(addprefix hpm/path/,backends.c model.c path.c) \
	$(addprefix hpm/pmu/,backends.c model.c rate.c) \
	$(addprefix kernel/arch/,clock.c cpus.c fault.c lookback.c memory.c msi.c place.c pt.c start_fail.c sync.c usercopy.c) \
	kernel/boot/boot_info.c \
	$(addprefix kernel/, \
		call.c cmdline.c console.c console_thread.c cpu.c end.c format.c image_symbols.c lock.c main.c memory_check.c monitor.c number.c \
		outputs.c panic.c printf.c quirks.c run.c string.c symbols.c words.c) \
	$(addprefix kernel/dev/, \
		acpi.c acpi_numa.c acpi_tables.c block.c block_drivers.c block_ram.c block_wait.c block_watch.c machine.c \
		model_disk.c numa.c pci.c pci_bar.c pci_msi.c screen.c smbios.c virtio.c virtio_blk.c virtio_console.c virtio_layout.c virtq.c) \
	$(addprefix kernel/proc/, \
		bundle.c children.c counts.c samples.c elf.c family.c family_sum.c futex.c load.c memory.c place.c process.c sleepers.c stdio.c syscall.c sysinfo.c \
		syscall_thread.c user.c userfault.c uthread.c visible.c) \
	$(addprefix kernel/selftest/,clock.c cpus.c describe.c memory.c program.c selftest.c) \
	$(addprefix kernel/telemetry/,counters.c memory.c record.c stream.c) \
	$(addprefix mm/, \
		account.c ahead.c area.c args.c bootmem.c buddy.c divide.c evict.c fault.c fetch.c foresee.c frame.c heap.c hot.c kstack.c pool.c pool_grow.c reclaim.c reclaim_line.c regions.c space.c space_check.c \
		space_describe.c \
		swap.c swap_done.c tlb.c track.c track_curve.c track_default.c track_path.c track_record.c track_rows.c track_sampled.c track_scan.c track_soft.c) \
	$(addprefix sched/, \
		balance.c gate.c migrate.c policies.c runqueue.c sched.c sharing.c sharing_args.c sharing_detect.c sharing_place.c \
		sharing_policies.c sharing_report.c thread.c timer.c topology.c wait.c watchdog.c) \
	$(FONT_SRC) $(ARCH_SRC_$(ARCH)) $(POLICY_SRC) $(POLICY_SRC_$(ARCH)) $(EVENTS_SRC_$(ARCH))
# Suites that run inside the kernel, in place of the applications.
SUITE_SRC := \
	$(addprefix test/qemu/kernel/, \
		arch.c block.c console.c futex.c heap.c hpm.c mm.c msi.c panics.c pmu.c sched.c spaces.c string.c suite.c swap.c telemetry.c threads.c turns.c \
		virtio.c) \
	test/qemu/apps/$(ARCH)/known_loop.S
# The UEFI loader, and what it includes.
EFI_SRC := \
	$(addprefix kernel/boot/, \
		boot_info.c boot_info.h efi.c efi_arch.h efi_base.h efi_cmdline.c efi_cmdline.h efi_$(ARCH).c gop.c gop.h)
# The host program that prints the tables of events, and what reads libpfm4's, or stands in for it.
EVENTS_TOOL_SRC := $(addprefix tools/events/,architectural.c generate.c model.c) test/machine/pmu_masks.c
EVENTS_TOOL_LIBPFM4 := $(addprefix tools/events/,amd.c arm.c intel.c intel_correct.c)
EVENTS_TOOL_WITHOUT := tools/events/without.c

# ---- Applications ----------------------------------------------------------------------------------------------------
# To add one: a folder apps/NAME, a line NAME_SRC, and its name in ALL_APPS; for one on large arrays (apps/common/spmd.h) its name in
# SPMD_APPS: all but apps/NAME/main.c is tested on the host too.
SPMD_APPS := fft lu cg mg sp ocean barnes phylogeny cube
SPMD_SRC := apps/common/real.c apps/common/spmd.c
$(foreach a,$(SPMD_APPS),$(eval $(a)_SRC := $(wildcard apps/$(a)/*.c) $(SPMD_SRC)))
ALL_APPS := hello scoreboard warehouse private latency phases hpmstat hpmrec hpmtop memstat stores costs sweep $(SPMD_APPS)
hello_SRC := apps/hello/hello.c
# ... for those that measure others.
MEASURING_SRC := $(addprefix apps/hpm/,figures.c places.c program.c recording.c shares.c table.c)
hpmrec_SRC := apps/hpmrec/hpmrec.c $(MEASURING_SRC)
hpmstat_SRC := $(addprefix apps/hpmstat/,breakdown.c hpmstat.c list.c) hpm/fit.c $(MEASURING_SRC)
hpmtop_SRC := apps/hpmtop/hpmtop.c $(MEASURING_SRC)
memstat_SRC := $(wildcard apps/memstat/*.c) apps/hpm/program.c
phases_SRC := $(addprefix apps/phases/,chase.c compress.c graph.c interp.c job.c lz.c matrix.c phases.c sort.c vm.c)
private_SRC := apps/private/private.c
latency_SRC := apps/latency/latency.c
scoreboard_SRC := apps/scoreboard/scoreboard.c
stores_SRC := apps/stores/stores.c apps/stores/$(ARCH)/loop.S
costs_SRC := apps/costs/costs.c
sweep_SRC := apps/sweep/sweep.c
warehouse_SRC := $(addprefix apps/warehouse/,btree.c check.c load.c order_book.c transactions.c warehouse.c)
# What each is linked with.
COMMON_SRC := $(addprefix apps/common/,arena.c args.c histogram.c plan.c team.c)
LIBC_SRC_x86_64 := $(addprefix apps/libc/x86_64/,string.c string_avx2.c string_sse2.c)
LIBC_SRC_aarch64 := $(addprefix apps/libc/aarch64/,auxv.c string.c strtold.c)
LIBC_SRC := \
	$(addprefix apps/libc/, \
		cond.c futex.c hpm.c hpm_region.c malloc.c malloc_map.c memory.c mman.c mutex.c newlib_locks.c place.c signal.c start.c string.c stubs.c thread.c time.c) \
	apps/libc/$(ARCH)/start.S $(LIBC_SRC_$(ARCH))

# Programs of the test suites, bundled in test images only.
TEST_APPS := advice anew badcalls counts faults gates kin known leaves libctest loop mapped oom paging places priorities ratio reads regions samplers sessions stress
TEST_APPS += names standard strings
TEST_APPS += brief typed
$(foreach t,$(TEST_APPS),$(eval $(t)_SRC := test/qemu/apps/$(t).c))
faults_SRC += test/qemu/apps/$(ARCH)/misdeeds.c
libctest_SRC += test/qemu/apps/libctest_sync.c
counts_SRC += test/qemu/apps/$(ARCH)/known_loop.S
known_SRC += test/qemu/apps/$(ARCH)/known_loop.S
reads_SRC += test/qemu/apps/$(ARCH)/known_loop.S
ratio_SRC += test/qemu/apps/$(ARCH)/ratio_loop.S
regions_SRC += test/qemu/apps/$(ARCH)/known_loop.S
# What must be refused: a program cut short, and none at all.
BROKEN_APPS := cut-short no-program

# ---- The simulated multiprocessor ------------------------------------------------------------------------------------
MACHINE_SRC := \
	$(addprefix test/machine/, \
		branch.c cache.c cache_array.c cache_check.c cells.c clock.c decode_arm.c decode_x86.c disk.c disk_regs.c effects.c execute.c \
		interrupt.c isa.c page_trace.c path.c path_regs.c plugin.c pmu.c pmu_masks.c qemu.c regs.c storebuf.c tlb.c topology.c \
		truth.c turn.c)
# Its own guest: exact programs and what must be counted for them.
MACHINE_GUEST_SRC := $(addprefix test/machine/guest/,disk.c guest.c path.c settings.c tests.c time.c) kernel/string.c \
	$(wildcard $(addprefix test/machine/guest/$(ARCH)/*,.S .c))

# Page traces of several formats, for vigil-replay.
TRACE_READING := $(addprefix tools/replay/,trace.c trace_binary.c trace_text.c)

# ---- Host tests ------------------------------------------------------------------------------------------------------
# All there are, in test/host and test/machine.  NAME_SRC lists what test NAME is linked with.
HOST_TESTS := $(notdir $(basename $(wildcard $(addsuffix /test_*.c,test/host test/machine))))

# Spinlocks, where no CPU is asked for anything.
LOCK_SRC := kernel/lock.c test/host/no_ipi.c
test_asid_SRC := kernel/arch/asid.c
test_cmdline_SRC := kernel/cmdline.c kernel/words.c kernel/format.c
test_console_SRC := $(addprefix kernel/,console.c printf.c format.c) $(LOCK_SRC)
test_cpu_place_SRC := kernel/arch/x86_64/topology.c kernel/arch/place.c
test_format_SRC := kernel/format.c
test_gop_SRC := kernel/boot/gop.c kernel/boot/boot_info.c
test_its_layout_SRC := kernel/arch/aarch64/its_layout.c
test_pt_SRC := kernel/arch/pt.c
test_symbols_SRC := kernel/symbols.c
test_sync_SRC := kernel/arch/sync.c
CTF_SRC := kernel/telemetry/ctf.c kernel/telemetry/ctf_describe.c
test_ctf_SRC := $(CTF_SRC)
test_trace_ring_SRC := kernel/telemetry/ring.c kernel/telemetry/ctf.c

test_acpi_SRC := kernel/dev/acpi.c
test_acpi_platform_SRC := $(addprefix kernel/dev/,acpi.c acpi_iort.c acpi_platform.c platform.c) test/host/acpi_tables.c
test_block_SRC := $(addprefix kernel/dev/,block.c block_faults.c block_ram.c block_wait.c block_watch.c) $(LOCK_SRC) test/host/said.c
test_devtree_SRC := \
	$(DEVTREE_SRC) $(LIBFDT_SRC) kernel/dev/numa.c kernel/boot/boot_info.c test/host/virt.dts test/host/board.dts
test_model_disk_SRC := kernel/dev/model_disk.c test/host/said.c
test_numa_SRC := $(addprefix kernel/dev/,acpi.c acpi_numa.c numa.c) test/host/acpi_tables.c
test_pci_SRC := $(addprefix kernel/dev/,pci.c pci_bar.c acpi.c)
test_pci_msi_SRC := kernel/dev/pci_msi.c
test_screen_SRC := kernel/dev/screen.c $(FONT_SRC)
test_smbios_SRC := kernel/dev/smbios.c kernel/dev/acpi.c
VIRTIO_TESTED := $(addprefix kernel/dev/,virtio.c virtio_layout.c virtq.c) test/host/virtio_double.c test/host/said.c
test_virtio_blk_SRC := $(VIRTIO_TESTED) kernel/dev/virtio_blk.c
test_virtio_console_SRC := $(VIRTIO_TESTED) kernel/dev/virtio_console.c
test_virtio_layout_SRC := kernel/dev/virtio_layout.c
test_virtq_SRC := kernel/dev/virtq.c

test_bundle_SRC := kernel/proc/bundle.c
test_elf_SRC := kernel/proc/elf.c
test_sleepers_SRC := kernel/proc/sleepers.c
test_frame_SRC := mm/buddy.c mm/bootmem.c
test_heap_SRC := mm/heap.c mm/frame.c mm/buddy.c mm/bootmem.c kernel/boot/boot_info.c
test_frame_high_SRC := mm/frame.c mm/buddy.c mm/bootmem.c kernel/boot/boot_info.c
test_space_SRC := mm/regions.c
test_lrustack_SRC := mm/lrustack.c
test_mrustack_SRC := mm/mrustack.c
PREFETCHING := $(filter mm/prefetch%,$(POLICY_SRC)) mm/lrustack.c $(addprefix test/host/,paging.c programs.c traces.c)
test_prefetch_SRC := $(PREFETCHING)
test_prefetch_chooser_SRC := $(PREFETCHING)
test_share_SRC := mm/share.c mm/share_divide.c test/host/dividing.c
test_share_epoch_SRC := $(test_share_SRC)
test_demand_SRC := mm/demand.c
test_share_loop_SRC := mm/share.c mm/share_divide.c mm/demand.c
test_lrudist_SRC := mm/lrudist.c
test_slots_SRC := mm/slots.c
MRC := $(addprefix mm/,mrc.c lrudist.c mrustack.c)
test_mrc_SRC := $(MRC) test/host/traces.c test/host/mattson.c
POOLS := $(MRC) mm/lrustack.c mm/share.c mm/share_divide.c test/host/traces.c
MRC_COMPARED := $(MRC) mm/lrustack.c test/host/traces.c test/host/mattson.c
REPLACE_SRC := $(filter mm/replace% mm/region_policy% mm/share%,$(POLICY_SRC))
SIMULATE_SRC := tools/replay/simulate.c test/machine/path.c
REPLACING := \
	$(REPLACE_SRC) tools/replay/belady.c $(SIMULATE_SRC) \
	$(addprefix test/host/,replace_random.c traces.c)
test_replace_SRC := $(REPLACING)
test_replace_adaptive_SRC := $(REPLACING)
test_replace_chooser_SRC := $(REPLACING) test/host/unseen.c
test_replace_bound_SRC := $(filter-out mm/replace_chooser.c,$(REPLACING))
test_replace_gap_SRC := $(REPLACING)
test_replace_gap_time_SRC := $(filter-out mm/replace_gap.c,$(REPLACING))
test_replace_queues_SRC := $(REPLACING)
test_region_SRC := $(REPLACING)
test_pool_SRC := \
	$(addprefix mm/,account.c pool.c pool_grow.c foresee.c reclaim.c reclaim_line.c swap_done.c slots.c lrustack.c) $(filter mm/prefetch%,$(POLICY_SRC)) $(REPLACE_SRC) \
	$(LOCK_SRC) test/host/pooling.c
test_pool_parts_SRC := $(test_pool_SRC)
test_line_SRC := mm/reclaim_line.c $(LOCK_SRC)
test_replay_SRC := $(filter-out test/host/%,$(REPLACING)) $(TRACE_READING) tools/replay/replay.c

CLUSTERING := test/host/planted.c $(filter sched/cluster%,$(POLICY_SRC)) sched/shmap.c
PLACING := test/host/placing.c $(filter sched/place%,$(POLICY_SRC))
test_balance_SRC := sched/balance_policy.c
test_cluster_SRC := $(CLUSTERING)
test_place_SRC := $(PLACING)
test_place_random_SRC := $(PLACING)
test_ready_SRC := sched/ready.c
test_sampling_period_SRC := sched/sampling_period.c
test_shmap_SRC := sched/shmap.c sched/shmap_picture.c

MUX := hpm/mux.c hpm/mux_turns.c hpm/estimate.c
PLAN := $(MUX) hpm/plan.c hpm/group.c $(EVENTS_SRC_aarch64)
test_estimate_SRC := $(MUX)
test_fit_SRC := hpm/fit.c
test_hpm_context_SRC := $(PLAN) hpm/context.c hpm/breakdown.c hpm/fit.c
test_hpm_group_SRC := hpm/group.c
test_hpm_group_cause_SRC := hpm/group.c
test_hpm_plan_SRC := $(PLAN)
test_mux_SRC := $(MUX) test/host/mux_config.c test/host/mux_work.c
test_mux_plans_SRC := $(test_mux_SRC)
test_mux_sums_SRC := $(test_mux_SRC)
test_mux_turns_SRC := hpm/mux_turns.c test/host/mux_config.c
test_page_index_SRC := mm/page_index.c
test_track_govern_SRC := mm/track_govern.c
# The simulated machine's page-access tracker.
PATH_TESTED := $(addprefix hpm/path/,log.c model.c path.c) test/host/path_double.c
test_page_log_SRC := hpm/path/log.c
test_hpm_path_none_SRC := $(PATH_TESTED) hpm/path/backends.c test/host/path_kernel.c test/host/said.c
test_hpm_path_SRC := $(test_hpm_path_none_SRC) test/host/path_threads.c
test_period_SRC := hpm/period.c hpm/period_draw.c

# mm complete, but for memory, page tables and TLBs, above disks that fail.
MM_TESTED := \
	$(filter-out $(addprefix mm/,area.c bootmem.c buddy.c frame.c heap.c kstack.c tlb.c),$(filter mm/%,$(KERNEL_SRC))) \
	$(addprefix kernel/dev/,block.c block_faults.c block_wait.c block_watch.c) $(LOCK_SRC) sched/gate.c hpm/path/backends.c $(PATH_TESTED) \
	$(addprefix test/host/,mm_double.c mm_double_kernel.c fibers.c said.c)
test_paging_SRC := $(MM_TESTED)
test_lock_SRC := kernel/lock.c
test_number_SRC := kernel/number.c $(LOCK_SRC)
test_gate_SRC := sched/gate.c $(LOCK_SRC) test/host/fibers.c
test_deadlock_SRC := $(MM_TESTED)
test_fault_SRC := $(MM_TESTED)
test_evict_SRC := $(MM_TESTED)
test_pool_grow_SRC := $(MM_TESTED)
test_track_SRC := $(MM_TESTED)
test_watch_SRC := $(MM_TESTED)

# hpm without drivers and events: a test's double says which drivers there are, in place of hpm/pmu/backends.c.
HPM_TESTED := \
	$(filter-out hpm/events/% hpm/pmu/% hpm/path/%,$(filter hpm/%,$(KERNEL_SRC))) $(LOCK_SRC) kernel/format.c \
	test/host/hpm_kernel.c test/host/hpm_threads.c
HPM_TESTED_MODEL := $(HPM_TESTED) $(EVENTS_SRC_aarch64) hpm/pmu/model.c test/host/hpm_double.c test/machine/pmu_masks.c
test_hpm_count_SRC := $(HPM_TESTED_MODEL)
HPM_LIVES := $(HPM_TESTED_MODEL) test/host/hpm_lives.c
test_hpm_lives_SRC := $(HPM_LIVES)
test_hpm_profile_SRC := $(HPM_TESTED_MODEL) test/host/hpm_profiles.c
test_hpm_profile_refused_SRC := $(test_hpm_profile_SRC)
test_hpm_sampling_SRC := $(HPM_TESTED_MODEL)
test_hpm_session_SRC := $(HPM_TESTED_MODEL)
test_hpm_session_refused_SRC := $(HPM_TESTED_MODEL)
HPM_TESTED_DRIVER := $(HPM_TESTED) hpm/pmu/rate.c test/host/hpm_driver.c
HPM_TESTED_AMD := \
	$(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64) hpm/pmu/amd.c hpm/pmu/amd_ibs.c test/host/amd_double.c test/host/amd_kinds.c
test_hpm_amd_SRC := $(HPM_TESTED_AMD)
test_hpm_amd_due_SRC := $(HPM_TESTED_AMD) test/host/hpm_due.c test/host/hpm_due_user.c
test_hpm_amd_ibs_SRC := $(HPM_TESTED_AMD)
HPM_TESTED_INTEL := \
	$(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64) $(addprefix hpm/pmu/,intel.c intel_ability.c intel_fixed.c intel_models.c intel_pebs.c) \
	test/host/intel_double.c test/host/intel_kinds.c
test_hpm_intel_SRC := $(HPM_TESTED_INTEL)
test_hpm_intel_count_SRC := $(HPM_TESTED_INTEL)
test_hpm_intel_due_SRC := $(HPM_TESTED_INTEL) test/host/hpm_due.c test/host/hpm_due_user.c
test_hpm_intel_fixed_SRC := $(HPM_TESTED_INTEL)
test_hpm_intel_records_SRC := $(HPM_TESTED_INTEL)
SPE_DECODED := hpm/pmu/spe_packets.c hpm/pmu/spe_sources.c
HPM_TESTED_ARMV8 := \
	$(HPM_TESTED_DRIVER) $(EVENTS_SRC_aarch64) hpm/pmu/armv8.c hpm/pmu/armv8_spe.c $(SPE_DECODED) \
	test/host/armv8_double.c test/host/armv8_kinds.c test/host/spe_double.c
HPM_TESTED_SPE := $(HPM_TESTED_ARMV8) test/host/spe_kinds.c
test_hpm_armv8_SRC := $(HPM_TESTED_ARMV8)
test_hpm_armv8_due_SRC := $(HPM_TESTED_ARMV8) test/host/hpm_due.c test/host/hpm_due_user.c
test_hpm_spe_SRC := $(HPM_TESTED_SPE)
test_hpm_spe_buffer_SRC := $(HPM_TESTED_SPE)
test_spe_packets_SRC := $(SPE_DECODED)

test_criteria_SRC := hpm/criteria.c $(EVENTS_SRC_x86_64) hpm/group.c
test_event_nest_SRC := $(EVENTS_SRC_aarch64) hpm/group.c
test_event_request_SRC := $(EVENTS_SRC_x86_64) hpm/group.c
test_events_arm_SRC := $(EVENTS_SRC_aarch64) hpm/group.c
test_events_libpfm4_SRC := $(EVENTS_SRC_x86_64) hpm/group.c
test_events_libpfm4_LIBS := -lpfm
test_events_without_SRC := $(filter hpm/%,$(EVENTS_SRC_x86_64)) $(EVENTS)/without/x86_64.c hpm/group.c
test_events_x86_SRC := $(EVENTS_SRC_x86_64) hpm/group.c test/machine/pmu_masks.c
test_metric_SRC := $(EVENTS_SRC_x86_64) hpm/group.c

test_args_SRC := apps/common/args.c
test_btree_SRC := apps/warehouse/btree.c apps/common/arena.c
test_histogram_SRC := apps/common/histogram.c
test_phases_SRC := $(filter-out apps/phases/phases.c,$(phases_SRC)) apps/common/arena.c
test_plan_SRC := apps/common/plan.c
SPMD_TESTED := apps/common/args.c apps/linux/memory_linux.c test/host/spmd_run.c
test_programs_SRC := $(SPMD_TESTED) $(filter-out %/main.c,$(sort $(foreach a,$(SPMD_APPS),$($(a)_SRC))))
$(foreach a,$(SPMD_APPS),$(eval test_$(a)_SRC := $(SPMD_TESTED) $(filter-out %/main.c,$($(a)_SRC))))
test_real_SRC := apps/common/real.c
test_shares_SRC := $(addprefix apps/hpm/,figures.c places.c shares.c table.c)
test_shares_LIBS := -Wl,--wrap=calloc
test_warehouse_SRC := $(filter-out apps/warehouse/warehouse.c,$(warehouse_SRC)) apps/common/arena.c

test_branch_SRC := test/machine/branch.c
test_cache_SRC := $(addprefix test/machine/,topology.c cache.c cache_array.c cache_check.c cache_reference.c)
test_decode_arm_SRC := test/machine/decode_arm.c test/machine/effects.c
test_path_SRC := test/machine/path.c
test_disk_SRC := test/machine/disk.c
test_storebuf_SRC := test/machine/storebuf.c
test_tlb_SRC := test/machine/tlb.c
test_topology_SRC := test/machine/topology.c

# ---- Fuzzers ---------------------------------------------------------------------------------------------------------
# test/host/fuzz_NAME.c feeds random bytes to a parser; fuzz_NAME_SRC lists what it needs.
FUZZERS := $(notdir $(basename $(wildcard test/host/fuzz_*.c)))
fuzz_acpi_SRC := $(addprefix kernel/dev/,acpi.c acpi_iort.c acpi_numa.c acpi_platform.c numa.c platform.c)
fuzz_bundle_SRC := kernel/proc/bundle.c
fuzz_cmdline_SRC := kernel/cmdline.c kernel/words.c kernel/format.c
fuzz_criteria_SRC := hpm/criteria.c $(EVENTS_SRC_x86_64) hpm/group.c
fuzz_devtree_SRC := $(DEVTREE_SRC) $(LIBFDT_SRC) kernel/dev/numa.c kernel/boot/boot_info.c
fuzz_elf_SRC := kernel/proc/elf.c
fuzz_event_SRC := $(EVENTS_SRC_x86_64) hpm/group.c
fuzz_metric_SRC := $(EVENTS_SRC_x86_64) hpm/group.c
fuzz_page_trace_SRC := $(TRACE_READING)
fuzz_spe_SRC := $(SPE_DECODED)
fuzz_symbols_SRC := kernel/symbols.c
