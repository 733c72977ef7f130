# What each part is made of.  Paths are from the top of the repository; $(ARCH) is the architecture built for.

# ---- Kernel ----------------------------------------------------------------------------------------------------------
# Policy: pure, compiled for the kernel and for the host alike; nm checks that each needs nothing but panic, mem* and others.
POLICY_SRC :=  hpm/policy/breakdown.c hpm/policy/context.c hpm/policy/criteria.c hpm/policy/estimate.c hpm/policy/fit.c hpm/events/group.c hpm/policy/mux.c hpm/policy/mux_turns.c hpm/policy/period.c hpm/policy/period_draw.c hpm/policy/plan.c hpm/path/ring.c  kernel/dev/block/block_faults.c  mm/policy/divide/demand.c mm/policy/curve/lrudist.c mm/policy/curve/lrustack.c mm/policy/curve/mrc.c mm/policy/curve/mrustack.c mm/track/page_index.c mm/policy/prefetch/prefetch.c mm/policy/prefetch/chooser.c mm/policy/prefetch/ppg.c mm/policy/prefetch/shadow.c mm/policy/prefetch/spatial.c mm/policy/prefetch/streams.c mm/policy/divide/plan.c mm/policy/divide/solve.c mm/policy/slots.c mm/policy/track_governor.c  kernel/trace/ctf.c kernel/trace/ctf_describe.c kernel/trace/events.c kernel/trace/ring.c  mm/policy/replace/region_choice.c mm/policy/replace/policies.c mm/policy/replace/arc.c mm/policy/replace/aside.c mm/policy/replace/chooser.c mm/policy/replace/clock.c mm/policy/replace/gap.c mm/policy/replace/lirs.c mm/policy/replace/lru.c mm/policy/replace/mru.c mm/policy/replace/region.c mm/policy/replace/s3fifo.c mm/policy/replace/sieve.c mm/policy/replace/weigh.c mm/policy/replace/wtinylfu.c  sched/policy/balance.c sched/sharing/policy/cluster.c sched/sharing/policy/cluster_cosine.c sched/sharing/policy/cluster_published.c sched/sharing/policy/cluster_watch.c sched/sharing/policy/assign.c sched/sharing/policy/assign_cores.c sched/sharing/policy/assign_simple.c sched/policy/ready.c sched/sharing/policy/sampling_period.c sched/sharing/policy/shmap.c sched/sharing/policy/shmap_picture.c
# ... of one instruction set's kernel.
POLICY_SRC_aarch64 := kernel/arch/asid.c kernel/arch/aarch64/its_layout.c hpm/pmu/arm/spe_packets.c hpm/pmu/arm/spe_sources.c
# ... names of events and metrics.  Tables of the PMUs' events are made from libpfm4's.
EVENTS_SRC :=  hpm/events/bits.c hpm/events/generic.c hpm/events/generic_model.c hpm/events/identity.c hpm/events/list.c hpm/events/lookup.c hpm/events/metric.c hpm/events/metrics.c hpm/events/nest.c hpm/events/request.c hpm/events/scaled.c hpm/events/words.c
EVENTS_SRC_x86_64 :=  $(EVENTS_SRC) hpm/events/choices_x86.c hpm/events/generic_amd.c hpm/events/generic_intel.c $(EVENTS)/x86_64.c
EVENTS_SRC_aarch64 := $(EVENTS_SRC) hpm/events/choices_arm.c hpm/events/generic_arm.c $(EVENTS)/aarch64.c
# The console's font, out of a Debian package.
FONT_SRC := $(FONT)/font_data.c
# What a device tree says; libfdt is fetched and built from source.
DEVTREE_SRC := kernel/firmware/devtree.c kernel/firmware/devtree_numa.c kernel/firmware/devtree_platform.c kernel/firmware/devtree_read.c kernel/firmware/platform.c
LIBFDT_SRC := $(LIBFDT)/fdt.c $(LIBFDT)/fdt_ro.c
ARCH_SRC_x86_64 :=  hpm/pmu/x86/amd.c hpm/pmu/x86/amd_ibs.c hpm/pmu/x86/intel.c hpm/pmu/x86/intel_ability.c hpm/pmu/x86/intel_fixed.c hpm/pmu/x86/intel_models.c hpm/pmu/x86/intel_pebs.c hpm/pmu/x86/x86_regs.c  kernel/arch/x86_64/boot.S kernel/arch/x86_64/clock.c kernel/arch/x86_64/console.c kernel/arch/x86_64/context.c kernel/arch/x86_64/cpu_init.c kernel/arch/x86_64/cpus.c kernel/arch/x86_64/early.c kernel/arch/x86_64/entry.S kernel/arch/x86_64/fpu.c kernel/arch/x86_64/frame.c kernel/arch/x86_64/identity.c kernel/arch/x86_64/irq.c kernel/arch/x86_64/lapic.c kernel/arch/x86_64/memory.c kernel/arch/x86_64/pci_ports.c kernel/arch/x86_64/power.c kernel/arch/x86_64/pte.c kernel/arch/x86_64/pvh.c kernel/arch/x86_64/quirks.c kernel/arch/x86_64/reference.c kernel/arch/x86_64/smp.c kernel/arch/x86_64/start.c kernel/arch/x86_64/topology.c kernel/arch/x86_64/trampoline.S kernel/arch/x86_64/trap.c kernel/arch/x86_64/usercopy_asm.S
ARCH_SRC_aarch64 :=  hpm/pmu/arm/armv8.c hpm/pmu/arm/armv8_regs.c hpm/pmu/arm/armv8_spe.c hpm/pmu/arm/armv8_spe_regs.c  kernel/arch/aarch64/boot.S kernel/arch/aarch64/cache.c kernel/arch/aarch64/clock.c kernel/arch/aarch64/console.c kernel/arch/aarch64/context.c kernel/arch/aarch64/cpu_init.c kernel/arch/aarch64/cpus.c kernel/arch/aarch64/entry.S kernel/arch/aarch64/fpu.S kernel/arch/aarch64/frame.c kernel/arch/aarch64/gic.c kernel/arch/aarch64/gicv2.c kernel/arch/aarch64/gicv3.c kernel/arch/aarch64/hwcap.c kernel/arch/aarch64/identity.c kernel/arch/aarch64/irq.c kernel/arch/aarch64/its.c kernel/arch/aarch64/lpi.c kernel/arch/aarch64/memory.c kernel/arch/aarch64/pci.c kernel/arch/aarch64/platform_find.c kernel/arch/aarch64/power.c kernel/arch/aarch64/psci.c kernel/arch/aarch64/pte.c kernel/arch/aarch64/quirks.c kernel/arch/aarch64/smp.c kernel/arch/aarch64/start.c kernel/arch/aarch64/trap.c kernel/arch/aarch64/usercopy_asm.S kernel/arch/aarch64/v2m.c  kernel/firmware/acpi_iort.c kernel/firmware/acpi_platform.c  $(DEVTREE_SRC) $(LIBFDT_SRC)
KERNEL_SRC :=  hpm/breakdown_events.c hpm/account.c hpm/slot.c hpm/profile_window.c hpm/profile.c hpm/remote_latency.c hpm/report.c hpm/sampling.c hpm/session.c hpm/init.c hpm/user.c  hpm/path/backends.c hpm/path/model.c hpm/path/path.c  hpm/backends.c hpm/pmu/model.c hpm/pmu/rate.c  kernel/arch/clock.c kernel/arch/cpus.c kernel/arch/fault.c kernel/arch/lookback.c kernel/arch/memory.c kernel/arch/msi.c kernel/arch/cpu_ids.c kernel/arch/pt.c kernel/arch/start_fail.c kernel/arch/sync.c kernel/arch/usercopy.c  kernel/boot/boot_info.c  kernel/core/call.c kernel/core/cmdline.c kernel/core/console.c kernel/report/console_thread.c kernel/core/cpu.c kernel/core/end.c kernel/lib/format.c kernel/core/image_symbols.c kernel/core/lock.c kernel/main.c kernel/mem/memory_check.c kernel/report/monitor.c kernel/core/number.c kernel/core/outputs.c kernel/core/panic.c kernel/core/printf.c kernel/report/quirks.c kernel/run.c kernel/lib/string.c kernel/lib/symbols.c kernel/lib/words.c  kernel/firmware/acpi.c kernel/firmware/acpi_numa.c kernel/firmware/acpi_tables.c kernel/dev/block/block.c kernel/drivers.c kernel/dev/block/block_ram.c kernel/dev/block/block_wait.c kernel/dev/block/block_watch.c kernel/dev/model/machine.c kernel/dev/block/model_disk.c kernel/firmware/numa.c kernel/dev/pci/pci.c kernel/dev/pci/pci_bar.c kernel/dev/pci/pci_msi.c kernel/dev/display/screen.c kernel/firmware/smbios.c kernel/dev/virtio/virtio.c kernel/dev/block/virtio_blk.c kernel/dev/virtio/virtio_console.c kernel/dev/virtio/virtio_layout.c kernel/dev/virtio/virtq.c  kernel/proc/bundle.c kernel/proc/children.c kernel/proc/count_session.c kernel/proc/sample_session.c kernel/proc/elf.c kernel/proc/family.c kernel/proc/family_sum.c kernel/proc/futex.c kernel/proc/load.c kernel/proc/syscall/memory.c kernel/proc/symbolize.c kernel/proc/process.c kernel/proc/sleepers.c kernel/proc/stdio.c kernel/proc/syscall/syscall.c kernel/proc/sysinfo.c kernel/proc/syscall/thread.c kernel/proc/user.c kernel/proc/userfault.c kernel/proc/uthread.c kernel/proc/visible.c  kernel/selftest/clock.c kernel/selftest/cpus.c kernel/selftest/describe.c kernel/selftest/memory.c kernel/selftest/program.c kernel/selftest/selftest.c  kernel/report/counters.c kernel/report/memory.c kernel/trace/record.c kernel/report/stream.c  kernel/mem/account.c mm/space/readahead.c kernel/mem/area.c mm/pool/args.c kernel/mem/bootmem.c kernel/mem/buddy.c mm/pool/divide.c mm/pool/evict.c mm/space/fault.c mm/pool/fetch.c mm/pool/prefetching.c kernel/mem/frame.c kernel/mem/heap.c mm/pool/hot.c kernel/mem/kstack.c mm/pool/pool.c mm/pool/pool_grow.c mm/pool/reclaim.c mm/pool/reclaim_line.c mm/policy/region/region.c mm/space/space.c mm/space/space_check.c mm/space/space_describe.c mm/pool/swap.c mm/pool/swap_done.c kernel/mem/tlb.c mm/track/track.c mm/track/curve.c mm/track/default.c mm/track/path.c mm/track/record.c mm/track/rows.c mm/track/sampled.c mm/track/scan.c mm/track/soft.c  sched/balance.c sched/gate.c sched/migrate.c sched/policies.c sched/runqueue.c sched/sched.c sched/sharing/detector.c sched/sharing/args.c sched/sharing/detection.c sched/sharing/apply.c sched/sharing/policies.c sched/sharing/report.c sched/thread.c sched/timer.c sched/topology.c sched/wait.c sched/watchdog.c  $(FONT_SRC) $(ARCH_SRC_$(ARCH)) $(POLICY_SRC) $(POLICY_SRC_$(ARCH)) $(EVENTS_SRC_$(ARCH))
# Suites that run inside the kernel, in place of the applications.
SUITE_SRC :=  test/qemu/kernel/arch.c test/qemu/kernel/block.c test/qemu/kernel/console.c test/qemu/kernel/futex.c test/qemu/kernel/heap.c test/qemu/kernel/hpm.c test/qemu/kernel/mm.c test/qemu/kernel/msi.c test/qemu/kernel/panics.c test/qemu/kernel/pmu.c test/qemu/kernel/sched.c test/qemu/kernel/spaces.c test/qemu/kernel/string.c test/qemu/kernel/suite.c test/qemu/kernel/swap.c test/qemu/kernel/telemetry.c test/qemu/kernel/threads.c test/qemu/kernel/turns.c test/qemu/kernel/virtio.c  test/qemu/apps/$(ARCH)/known_loop.S
# The UEFI loader, and what it includes.
EFI_SRC :=  $(addprefix kernel/boot/,  boot_info.c boot_info.h efi.c efi_arch.h efi_base.h efi_cmdline.c efi_cmdline.h efi_$(ARCH).c gop.c gop.h)
# The host program that prints the tables of events, and what reads libpfm4's, or stands in for it.
EVENTS_TOOL_SRC := tools/events/architectural.c tools/events/generate.c tools/events/model.c test/machine/pmu_masks.c
EVENTS_TOOL_LIBPFM4 := tools/events/amd.c tools/events/arm.c tools/events/intel.c tools/events/intel_correct.c
EVENTS_TOOL_WITHOUT := tools/events/without.c

# ---- Applications ----------------------------------------------------------------------------------------------------
# To add one: a folder apps/NAME, a line NAME_SRC, and its name in ALL_APPS; for one on large arrays (apps/common/spmd.h) its name in
# SPMD_APPS: all but apps/NAME/main.c is tested on the host too.
SPMD_APPS := fft lu cg mg sp ocean barnes phylogeny cube
SPMD_SRC := apps/common/real.c apps/common/spmd.c
$(foreach a,$(SPMD_APPS),$(eval $(a)_SRC := $(wildcard apps/$(a)/*.c) $(SPMD_SRC)))
ALL_APPS := hello scoreboard warehouse private latency phases hpmstat hpmrec hpmtop memstat stores costs sweep $(SPMD_APPS)
hello_SRC := apps/workloads/hello/hello.c
# ... for those that measure others.
MEASURING_SRC := apps/tools/measuring/figures.c apps/tools/measuring/places.c apps/tools/measuring/program.c apps/tools/measuring/recording.c apps/tools/measuring/shares.c apps/tools/measuring/table.c
hpmrec_SRC := apps/tools/hpmrec/hpmrec.c $(MEASURING_SRC)
hpmstat_SRC := apps/tools/hpmstat/breakdown.c apps/tools/hpmstat/hpmstat.c apps/tools/hpmstat/list.c hpm/policy/fit.c $(MEASURING_SRC)
hpmtop_SRC := apps/tools/hpmtop/hpmtop.c $(MEASURING_SRC)
memstat_SRC := $(wildcard apps/tools/memstat/*.c) apps/tools/measuring/program.c
phases_SRC := apps/workloads/phases/chase.c apps/workloads/phases/compress.c apps/workloads/phases/graph.c apps/workloads/phases/interp.c apps/workloads/phases/job.c apps/workloads/phases/lz.c apps/workloads/phases/matrix.c apps/workloads/phases/phases.c apps/workloads/phases/sort.c apps/workloads/phases/vm.c
private_SRC := apps/workloads/private/private.c
latency_SRC := apps/workloads/latency/latency.c
scoreboard_SRC := apps/workloads/scoreboard/scoreboard.c
stores_SRC := apps/workloads/stores/stores.c apps/workloads/stores/$(ARCH)/loop.S
costs_SRC := apps/workloads/costs/costs.c
sweep_SRC := apps/workloads/sweep/sweep.c
warehouse_SRC := apps/workloads/warehouse/btree.c apps/workloads/warehouse/check.c apps/workloads/warehouse/load.c apps/workloads/warehouse/order_book.c apps/workloads/warehouse/transactions.c apps/workloads/warehouse/warehouse.c
# What each is linked with.
COMMON_SRC := apps/common/arena.c apps/common/args.c apps/common/histogram.c apps/common/plan.c apps/common/team.c
LIBC_SRC_x86_64 := apps/libc/x86_64/string.c apps/libc/x86_64/string_avx2.c apps/libc/x86_64/string_sse2.c
LIBC_SRC_aarch64 := apps/libc/aarch64/auxv.c apps/libc/aarch64/string.c apps/libc/aarch64/strtold.c
LIBC_SRC :=  apps/libc/cond.c apps/libc/futex.c apps/libc/hpm.c apps/libc/hpm_region.c apps/libc/malloc.c apps/libc/malloc_map.c apps/libc/memory.c apps/libc/mman.c apps/libc/mutex.c apps/libc/newlib_locks.c apps/libc/place.c apps/libc/signal.c apps/libc/start.c apps/libc/string.c apps/libc/stubs.c apps/libc/thread.c apps/libc/time.c  apps/libc/$(ARCH)/start.S $(LIBC_SRC_$(ARCH))

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
MACHINE_SRC :=  test/machine/branch.c test/machine/cache.c test/machine/cache_array.c test/machine/cache_check.c test/machine/cells.c test/machine/clock.c test/machine/decode_arm.c test/machine/decode_x86.c test/machine/disk.c test/machine/disk_regs.c test/machine/effects.c test/machine/execute.c test/machine/interrupt.c test/machine/isa.c test/machine/page_trace.c test/machine/path.c test/machine/path_regs.c test/machine/plugin.c test/machine/pmu.c test/machine/pmu_masks.c test/machine/qemu.c test/machine/regs.c test/machine/storebuf.c test/machine/tlb.c test/machine/topology.c test/machine/truth.c test/machine/turn.c
# Its own guest: exact programs and what must be counted for them.
MACHINE_GUEST_SRC := test/machine/guest/disk.c test/machine/guest/guest.c test/machine/guest/path.c test/machine/guest/settings.c test/machine/guest/tests.c test/machine/guest/time.c kernel/lib/string.c  $(wildcard $(addprefix test/machine/guest/$(ARCH)/*,.S .c))

# Page traces of several formats, for vigil-replay.
TRACE_READING := tools/replay/trace.c tools/replay/trace_binary.c tools/replay/trace_text.c

# ---- Host tests ------------------------------------------------------------------------------------------------------
# All there are, in test/host and test/machine.  NAME_SRC lists what test NAME is linked with.
HOST_TESTS := $(notdir $(basename $(wildcard $(addsuffix /test_*.c,test/host test/machine))))

# Spinlocks, where no CPU is asked for anything.
LOCK_SRC := kernel/core/lock.c test/host/double/no_ipi.c
test_asid_SRC := kernel/arch/asid.c
test_cmdline_SRC := kernel/core/cmdline.c kernel/lib/words.c kernel/lib/format.c
test_console_SRC := kernel/core/console.c kernel/core/printf.c kernel/lib/format.c $(LOCK_SRC)
test_cpu_place_SRC := kernel/arch/x86_64/topology.c kernel/arch/cpu_ids.c
test_format_SRC := kernel/lib/format.c
test_gop_SRC := kernel/boot/gop.c kernel/boot/boot_info.c
test_its_layout_SRC := kernel/arch/aarch64/its_layout.c
test_pt_SRC := kernel/arch/pt.c
test_symbols_SRC := kernel/lib/symbols.c
test_sync_SRC := kernel/arch/sync.c
CTF_SRC := kernel/trace/ctf.c kernel/trace/ctf_describe.c
test_ctf_SRC := $(CTF_SRC)
test_trace_ring_SRC := kernel/trace/ring.c kernel/trace/ctf.c

test_acpi_SRC := kernel/firmware/acpi.c
test_acpi_platform_SRC := kernel/firmware/acpi.c kernel/firmware/acpi_iort.c kernel/firmware/acpi_platform.c kernel/firmware/platform.c test/host/double/acpi_tables.c
test_block_SRC := kernel/dev/block/block.c kernel/dev/block/block_faults.c kernel/dev/block/block_ram.c kernel/dev/block/block_wait.c kernel/dev/block/block_watch.c $(LOCK_SRC) test/host/double/said.c
test_devtree_SRC :=  $(DEVTREE_SRC) $(LIBFDT_SRC) kernel/firmware/numa.c kernel/boot/boot_info.c test/host/dev/virt.dts test/host/dev/board.dts
test_model_disk_SRC := kernel/dev/block/model_disk.c test/host/double/said.c
test_numa_SRC := kernel/firmware/acpi.c kernel/firmware/acpi_numa.c kernel/firmware/numa.c test/host/double/acpi_tables.c
test_pci_SRC := kernel/dev/pci/pci.c kernel/dev/pci/pci_bar.c kernel/firmware/acpi.c
test_pci_msi_SRC := kernel/dev/pci/pci_msi.c
test_screen_SRC := kernel/dev/display/screen.c $(FONT_SRC)
test_smbios_SRC := kernel/firmware/smbios.c kernel/firmware/acpi.c
VIRTIO_TESTED := kernel/dev/virtio/virtio.c kernel/dev/virtio/virtio_layout.c kernel/dev/virtio/virtq.c test/host/double/virtio_double.c test/host/double/said.c
test_virtio_blk_SRC := $(VIRTIO_TESTED) kernel/dev/block/virtio_blk.c
test_virtio_console_SRC := $(VIRTIO_TESTED) kernel/dev/virtio/virtio_console.c
test_virtio_layout_SRC := kernel/dev/virtio/virtio_layout.c
test_virtq_SRC := kernel/dev/virtio/virtq.c

test_bundle_SRC := kernel/proc/bundle.c
test_elf_SRC := kernel/proc/elf.c
test_sleepers_SRC := kernel/proc/sleepers.c
test_frame_SRC := kernel/mem/buddy.c kernel/mem/bootmem.c
test_heap_SRC := kernel/mem/heap.c kernel/mem/frame.c kernel/mem/buddy.c kernel/mem/bootmem.c kernel/boot/boot_info.c
test_frame_high_SRC := kernel/mem/frame.c kernel/mem/buddy.c kernel/mem/bootmem.c kernel/boot/boot_info.c
test_space_SRC := mm/policy/region/region.c
test_lrustack_SRC := mm/policy/curve/lrustack.c
test_mrustack_SRC := mm/policy/curve/mrustack.c
PREFETCHING := $(filter mm/prefetch%,$(POLICY_SRC)) mm/policy/curve/lrustack.c test/host/double/paging.c test/host/double/programs.c test/host/double/traces.c
test_prefetch_SRC := $(PREFETCHING)
test_prefetch_chooser_SRC := $(PREFETCHING)
test_share_SRC := mm/policy/divide/plan.c mm/policy/divide/solve.c test/host/double/dividing.c
test_share_epoch_SRC := $(test_share_SRC)
test_demand_SRC := mm/policy/divide/demand.c
test_share_loop_SRC := mm/policy/divide/plan.c mm/policy/divide/solve.c mm/policy/divide/demand.c
test_lrudist_SRC := mm/policy/curve/lrudist.c
test_slots_SRC := mm/policy/slots.c
MRC := mm/policy/curve/mrc.c mm/policy/curve/lrudist.c mm/policy/curve/mrustack.c
test_mrc_SRC := $(MRC) test/host/double/traces.c test/host/double/mattson.c
POOLS := $(MRC) mm/policy/curve/lrustack.c mm/policy/divide/plan.c mm/policy/divide/solve.c test/host/double/traces.c
MRC_COMPARED := $(MRC) mm/policy/curve/lrustack.c test/host/double/traces.c test/host/double/mattson.c
REPLACE_SRC := $(filter mm/replace% mm/region_policy% mm/share%,$(POLICY_SRC))
SIMULATE_SRC := tools/replay/simulate.c test/machine/path.c
REPLACING :=  $(REPLACE_SRC) tools/replay/belady.c $(SIMULATE_SRC)  test/host/double/replace_random.c test/host/double/traces.c
test_replace_SRC := $(REPLACING)
test_replace_adaptive_SRC := $(REPLACING)
test_replace_chooser_SRC := $(REPLACING) test/host/double/unseen.c
test_replace_bound_SRC := $(filter-out mm/policy/replace/chooser.c,$(REPLACING))
test_replace_gap_SRC := $(REPLACING)
test_replace_gap_time_SRC := $(filter-out mm/policy/replace/gap.c,$(REPLACING))
test_replace_queues_SRC := $(REPLACING)
test_region_SRC := $(REPLACING)
test_pool_SRC :=  kernel/mem/account.c mm/pool/pool.c mm/pool/pool_grow.c mm/pool/prefetching.c mm/pool/reclaim.c mm/pool/reclaim_line.c mm/pool/swap_done.c mm/policy/slots.c mm/policy/curve/lrustack.c $(filter mm/prefetch%,$(POLICY_SRC)) $(REPLACE_SRC)  $(LOCK_SRC) test/host/double/pooling.c
test_pool_parts_SRC := $(test_pool_SRC)
test_line_SRC := mm/pool/reclaim_line.c $(LOCK_SRC)
test_replay_SRC := $(filter-out test/host/%,$(REPLACING)) $(TRACE_READING) tools/replay/replay.c

CLUSTERING := test/host/double/planted.c $(filter sched/cluster%,$(POLICY_SRC)) sched/sharing/policy/shmap.c
PLACING := test/host/double/placing.c $(filter sched/place%,$(POLICY_SRC))
test_balance_SRC := sched/policy/balance.c
test_cluster_SRC := $(CLUSTERING)
test_place_SRC := $(PLACING)
test_place_random_SRC := $(PLACING)
test_ready_SRC := sched/policy/ready.c
test_sampling_period_SRC := sched/sharing/policy/sampling_period.c
test_shmap_SRC := sched/sharing/policy/shmap.c sched/sharing/policy/shmap_picture.c

MUX := hpm/policy/mux.c hpm/policy/mux_turns.c hpm/policy/estimate.c
PLAN := $(MUX) hpm/policy/plan.c hpm/events/group.c $(EVENTS_SRC_aarch64)
test_estimate_SRC := $(MUX)
test_fit_SRC := hpm/policy/fit.c
test_hpm_context_SRC := $(PLAN) hpm/policy/context.c hpm/policy/breakdown.c hpm/policy/fit.c
test_hpm_group_SRC := hpm/events/group.c
test_hpm_group_cause_SRC := hpm/events/group.c
test_hpm_plan_SRC := $(PLAN)
test_mux_SRC := $(MUX) test/host/double/mux_config.c test/host/double/mux_work.c
test_mux_plans_SRC := $(test_mux_SRC)
test_mux_sums_SRC := $(test_mux_SRC)
test_mux_turns_SRC := hpm/policy/mux_turns.c test/host/double/mux_config.c
test_page_index_SRC := mm/track/page_index.c
test_track_govern_SRC := mm/policy/track_governor.c
# The simulated machine's page-access tracker.
PATH_TESTED := hpm/path/ring.c hpm/path/model.c hpm/path/path.c test/host/double/path_double.c
test_page_log_SRC := hpm/path/ring.c
test_hpm_path_none_SRC := $(PATH_TESTED) hpm/path/backends.c test/host/double/path_kernel.c test/host/double/said.c
test_hpm_path_SRC := $(test_hpm_path_none_SRC) test/host/double/path_threads.c
test_period_SRC := hpm/policy/period.c hpm/policy/period_draw.c

# mm complete, but for memory, page tables and TLBs, above disks that fail.
MM_TESTED :=  $(filter-out kernel/mem/area.c kernel/mem/bootmem.c kernel/mem/buddy.c kernel/mem/frame.c kernel/mem/heap.c kernel/mem/kstack.c kernel/mem/tlb.c,$(filter mm/%,$(KERNEL_SRC)))  kernel/dev/block/block.c kernel/dev/block/block_faults.c kernel/dev/block/block_wait.c kernel/dev/block/block_watch.c $(LOCK_SRC) sched/gate.c hpm/path/backends.c $(PATH_TESTED)  test/host/double/mm_double.c test/host/double/mm_double_kernel.c test/host/double/fibers.c test/host/double/said.c
test_paging_SRC := $(MM_TESTED)
test_lock_SRC := kernel/core/lock.c
test_number_SRC := kernel/core/number.c $(LOCK_SRC)
test_gate_SRC := sched/gate.c $(LOCK_SRC) test/host/double/fibers.c
test_deadlock_SRC := $(MM_TESTED)
test_fault_SRC := $(MM_TESTED)
test_evict_SRC := $(MM_TESTED)
test_pool_grow_SRC := $(MM_TESTED)
test_track_SRC := $(MM_TESTED)
test_watch_SRC := $(MM_TESTED)

# hpm without drivers and events: a test's double says which drivers there are, in place of hpm/backends.c.
HPM_TESTED :=  $(filter-out hpm/events/% hpm/pmu/% hpm/path/%,$(filter hpm/%,$(KERNEL_SRC))) $(LOCK_SRC) kernel/lib/format.c  test/host/double/hpm_kernel.c test/host/double/hpm_threads.c
HPM_TESTED_MODEL := $(HPM_TESTED) $(EVENTS_SRC_aarch64) hpm/pmu/model.c test/host/double/hpm_double.c test/machine/pmu_masks.c
test_hpm_count_SRC := $(HPM_TESTED_MODEL)
HPM_LIVES := $(HPM_TESTED_MODEL) test/host/double/hpm_lives.c
test_hpm_lives_SRC := $(HPM_LIVES)
test_hpm_profile_SRC := $(HPM_TESTED_MODEL) test/host/double/hpm_profiles.c
test_hpm_profile_refused_SRC := $(test_hpm_profile_SRC)
test_hpm_sampling_SRC := $(HPM_TESTED_MODEL)
test_hpm_session_SRC := $(HPM_TESTED_MODEL)
test_hpm_session_refused_SRC := $(HPM_TESTED_MODEL)
HPM_TESTED_DRIVER := $(HPM_TESTED) hpm/pmu/rate.c test/host/double/hpm_driver.c
HPM_TESTED_AMD :=  $(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64) hpm/pmu/x86/amd.c hpm/pmu/x86/amd_ibs.c test/host/double/amd_double.c test/host/double/amd_kinds.c
test_hpm_amd_SRC := $(HPM_TESTED_AMD)
test_hpm_amd_due_SRC := $(HPM_TESTED_AMD) test/host/double/hpm_due.c test/host/double/hpm_due_user.c
test_hpm_amd_ibs_SRC := $(HPM_TESTED_AMD)
HPM_TESTED_INTEL :=  $(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64) hpm/pmu/x86/intel.c hpm/pmu/x86/intel_ability.c hpm/pmu/x86/intel_fixed.c hpm/pmu/x86/intel_models.c hpm/pmu/x86/intel_pebs.c  test/host/double/intel_double.c test/host/double/intel_kinds.c
test_hpm_intel_SRC := $(HPM_TESTED_INTEL)
test_hpm_intel_count_SRC := $(HPM_TESTED_INTEL)
test_hpm_intel_due_SRC := $(HPM_TESTED_INTEL) test/host/double/hpm_due.c test/host/double/hpm_due_user.c
test_hpm_intel_fixed_SRC := $(HPM_TESTED_INTEL)
test_hpm_intel_records_SRC := $(HPM_TESTED_INTEL)
SPE_DECODED := hpm/pmu/arm/spe_packets.c hpm/pmu/arm/spe_sources.c
HPM_TESTED_ARMV8 :=  $(HPM_TESTED_DRIVER) $(EVENTS_SRC_aarch64) hpm/pmu/arm/armv8.c hpm/pmu/arm/armv8_spe.c $(SPE_DECODED)  test/host/double/armv8_double.c test/host/double/armv8_kinds.c test/host/double/spe_double.c
HPM_TESTED_SPE := $(HPM_TESTED_ARMV8) test/host/double/spe_kinds.c
test_hpm_armv8_SRC := $(HPM_TESTED_ARMV8)
test_hpm_armv8_due_SRC := $(HPM_TESTED_ARMV8) test/host/double/hpm_due.c test/host/double/hpm_due_user.c
test_hpm_spe_SRC := $(HPM_TESTED_SPE)
test_hpm_spe_buffer_SRC := $(HPM_TESTED_SPE)
test_spe_packets_SRC := $(SPE_DECODED)

test_criteria_SRC := hpm/policy/criteria.c $(EVENTS_SRC_x86_64) hpm/events/group.c
test_event_nest_SRC := $(EVENTS_SRC_aarch64) hpm/events/group.c
test_event_request_SRC := $(EVENTS_SRC_x86_64) hpm/events/group.c
test_events_arm_SRC := $(EVENTS_SRC_aarch64) hpm/events/group.c
test_events_libpfm4_SRC := $(EVENTS_SRC_x86_64) hpm/events/group.c
test_events_libpfm4_LIBS := -lpfm
test_events_without_SRC := $(filter hpm/%,$(EVENTS_SRC_x86_64)) $(EVENTS)/without/x86_64.c hpm/events/group.c
test_events_x86_SRC := $(EVENTS_SRC_x86_64) hpm/events/group.c test/machine/pmu_masks.c
test_metric_SRC := $(EVENTS_SRC_x86_64) hpm/events/group.c

test_args_SRC := apps/common/args.c
test_btree_SRC := apps/workloads/warehouse/btree.c apps/common/arena.c
test_histogram_SRC := apps/common/histogram.c
test_phases_SRC := $(filter-out apps/workloads/phases/phases.c,$(phases_SRC)) apps/common/arena.c
test_plan_SRC := apps/common/plan.c
SPMD_TESTED := apps/common/args.c apps/linux/memory_linux.c test/host/double/spmd_run.c
test_programs_SRC := $(SPMD_TESTED) $(filter-out %/main.c,$(sort $(foreach a,$(SPMD_APPS),$($(a)_SRC))))
$(foreach a,$(SPMD_APPS),$(eval test_$(a)_SRC := $(SPMD_TESTED) $(filter-out %/main.c,$($(a)_SRC))))
test_real_SRC := apps/common/real.c
test_shares_SRC := apps/tools/measuring/figures.c apps/tools/measuring/places.c apps/tools/measuring/shares.c apps/tools/measuring/table.c
test_shares_LIBS := -Wl,--wrap=calloc
test_warehouse_SRC := $(filter-out apps/workloads/warehouse/warehouse.c,$(warehouse_SRC)) apps/common/arena.c

test_branch_SRC := test/machine/branch.c
test_cache_SRC := test/machine/topology.c test/machine/cache.c test/machine/cache_array.c test/machine/cache_check.c test/machine/cache_reference.c
test_decode_arm_SRC := test/machine/decode_arm.c test/machine/effects.c
test_path_SRC := test/machine/path.c
test_disk_SRC := test/machine/disk.c
test_storebuf_SRC := test/machine/storebuf.c
test_tlb_SRC := test/machine/tlb.c
test_topology_SRC := test/machine/topology.c

# ---- Fuzzers ---------------------------------------------------------------------------------------------------------
# test/host/fuzz_NAME.c feeds random bytes to a parser; fuzz_NAME_SRC lists what it needs.
FUZZERS := $(notdir $(basename $(wildcard test/host/fuzz_*.c)))
fuzz_acpi_SRC := kernel/firmware/acpi.c kernel/firmware/acpi_iort.c kernel/firmware/acpi_numa.c kernel/firmware/acpi_platform.c kernel/firmware/numa.c kernel/firmware/platform.c
fuzz_bundle_SRC := kernel/proc/bundle.c
fuzz_cmdline_SRC := kernel/core/cmdline.c kernel/lib/words.c kernel/lib/format.c
fuzz_criteria_SRC := hpm/policy/criteria.c $(EVENTS_SRC_x86_64) hpm/events/group.c
fuzz_devtree_SRC := $(DEVTREE_SRC) $(LIBFDT_SRC) kernel/firmware/numa.c kernel/boot/boot_info.c
fuzz_elf_SRC := kernel/proc/elf.c
fuzz_event_SRC := $(EVENTS_SRC_x86_64) hpm/events/group.c
fuzz_metric_SRC := $(EVENTS_SRC_x86_64) hpm/events/group.c
fuzz_page_trace_SRC := $(TRACE_READING)
fuzz_spe_SRC := $(SPE_DECODED)
fuzz_symbols_SRC := kernel/lib/symbols.c
