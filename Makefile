# Vigil.  `make help` lists the targets.  Every target first installs what it needs and this machine lacks
# (tools/deps.sh: by package name, says what it does).  One file, explicit lists; it calls itself only to test the other
# architecture.

ARCH     ?= x86_64
MACHINE  ?= openpower720
SMP      ?=
MEM      ?= 512M
BOOTARGS ?=
TELEMETRY ?=
APPS     ?= $(ALL_APPS)
DEBUG    ?= 0
QUICK    ?= 0
V        ?= 0

MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := help

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n' $(1) $(2)
endif

# ---- Where things go -------------------------------------------------------------------------------------------------
B      ?= build
O      := $(B)/$(ARCH)
NEWLIB := $(B)/newlib-$(ARCH)
LIBFDT := $(B)/libfdt
GNUEFI := $(B)/gnu-efi-$(ARCH)
FONT   := $(B)/font
LIBPFM4 := $(B)/libpfm4
EVENTS := $(B)/events
H      := $(B)/host
OUT    := $(B)/out
# What QEMU's -kernel takes.
KERNEL_FILE_x86_64  := elf
KERNEL_FILE_aarch64 := img
KERNEL := $(O)/vigil.$(KERNEL_FILE_$(ARCH))

# ---- Packages --------------------------------------------------------------------------------------------------------
CROSS_DEPS_aarch64 := gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu
DEPS_BUILD := gcc binutils libc6-dev libdw-dev newlib-source xz-utils $(CROSS_DEPS_$(ARCH))
QEMU_x86_64  := qemu-system-x86
QEMU_aarch64 := qemu-system-arm
DEPS_RUN   := $(QEMU_$(ARCH))>=1:10 gnuplot-nox
FIRMWARE_x86_64  := ovmf
FIRMWARE_aarch64 := qemu-efi-aarch64
DEPS_EFI   := mtools $(FIRMWARE_$(ARCH))
DEPS_TRACE := babeltrace2 python3
DEPS_TEST  := libcmocka-dev libpfm4-dev device-tree-compiler perl $(DEPS_TRACE) $(DEPS_EFI)
DEPS_LINT  := clang-format
DEPS_FUZZ  := clang libclang-rt-dev

# ---- Kernel sources --------------------------------------------------------------------------------------------------
# Policy: pure, compiled for the kernel and for the host alike; nm checks that each needs nothing but panic, mem* and others.
POLICY_SRC := \
	hpm/group.c hpm/mux.c hpm/mux_turns.c hpm/estimate.c hpm/context.c hpm/plan.c sched/shmap.c sched/shmap_picture.c \
	sched/cluster.c sched/cluster_cosine.c sched/cluster_published.c sched/cluster_watch.c sched/place.c sched/place_core.c sched/place_simple.c \
	sched/balance_policy.c sched/sampling_period.c \
	kernel/telemetry/ctf.c kernel/telemetry/ctf_describe.c kernel/telemetry/events.c kernel/telemetry/ring.c
# ... of one instruction set's kernel.
POLICY_SRC_aarch64 := kernel/arch/asid.c kernel/arch/aarch64/its_layout.c hpm/pmu/spe_packets.c hpm/pmu/spe_sources.c
# ... names of events and metrics.  Tables of the PMUs' events are made from libpfm4's.
EVENTS_SRC := \
	hpm/events/bits.c hpm/events/generic.c hpm/events/generic_model.c hpm/events/identity.c hpm/events/lookup.c \
	hpm/events/metric.c hpm/events/metrics.c hpm/events/nearest.c hpm/events/request.c hpm/events/scaled.c hpm/events/words.c
EVENTS_SRC_x86_64 := \
	$(EVENTS_SRC) hpm/events/choices_x86.c hpm/events/generic_amd.c hpm/events/generic_intel.c $(EVENTS)/x86_64.c
EVENTS_SRC_aarch64 := $(EVENTS_SRC) hpm/events/choices_arm.c hpm/events/generic_arm.c $(EVENTS)/aarch64.c
ARCH_SRC_x86_64 := \
	kernel/arch/x86_64/clock.c kernel/arch/x86_64/console.c kernel/arch/x86_64/context.c kernel/arch/x86_64/cpu_init.c \
	kernel/arch/x86_64/cpus.c kernel/arch/x86_64/early.c kernel/arch/x86_64/fpu.c kernel/arch/x86_64/frame.c \
	kernel/arch/x86_64/identity.c kernel/arch/x86_64/irq.c kernel/arch/x86_64/lapic.c kernel/arch/x86_64/memory.c kernel/arch/x86_64/pci_ports.c \
	kernel/arch/x86_64/power.c kernel/arch/x86_64/pte.c kernel/arch/x86_64/pvh.c kernel/arch/x86_64/quirks.c kernel/arch/x86_64/reference.c \
	kernel/arch/x86_64/smp.c kernel/arch/x86_64/start.c kernel/arch/x86_64/topology.c kernel/arch/x86_64/trap.c \
	kernel/arch/x86_64/boot.S kernel/arch/x86_64/entry.S kernel/arch/x86_64/trampoline.S \
	kernel/arch/x86_64/usercopy_asm.S \
	hpm/pmu/amd.c hpm/pmu/amd_ibs.c hpm/pmu/intel.c hpm/pmu/intel_models.c hpm/pmu/intel_pebs.c hpm/pmu/x86_regs.c
ARCH_SRC_aarch64 := \
	kernel/arch/aarch64/cache.c kernel/arch/aarch64/console.c kernel/arch/aarch64/context.c kernel/arch/aarch64/cpu_init.c \
	kernel/arch/aarch64/frame.c kernel/arch/aarch64/hwcap.c kernel/arch/aarch64/identity.c kernel/arch/aarch64/quirks.c kernel/arch/aarch64/memory.c kernel/arch/aarch64/pci.c \
	kernel/arch/aarch64/power.c kernel/arch/aarch64/pte.c kernel/arch/aarch64/start.c kernel/arch/aarch64/trap.c \
	kernel/arch/aarch64/boot.S kernel/arch/aarch64/entry.S kernel/arch/aarch64/fpu.S \
	kernel/arch/aarch64/usercopy_asm.S
KERNEL_SRC := \
	kernel/arch/clock.c kernel/arch/cpus.c kernel/arch/fault.c kernel/arch/lookback.c kernel/arch/memory.c kernel/arch/msi.c \
	kernel/arch/place.c kernel/arch/pt.c kernel/arch/start_fail.c kernel/arch/sync.c kernel/arch/usercopy.c \
	kernel/call.c kernel/cmdline.c kernel/console.c kernel/console_thread.c kernel/cpu.c kernel/end.c kernel/format.c kernel/lock.c kernel/main.c kernel/monitor.c \
	kernel/telemetry/counters.c kernel/telemetry/record.c kernel/telemetry/stream.c \
	kernel/outputs.c kernel/panic.c kernel/printf.c kernel/quirks.c kernel/run.c kernel/string.c kernel/boot/boot_info.c kernel/dev/acpi.c \
	kernel/dev/acpi_numa.c kernel/dev/acpi_tables.c kernel/dev/machine.c kernel/dev/numa.c kernel/dev/pci.c kernel/dev/pci_bar.c kernel/dev/pci_msi.c kernel/dev/screen.c \
	kernel/dev/virtio.c kernel/dev/virtio_console.c kernel/dev/virtio_layout.c kernel/dev/virtq.c kernel/proc/bundle.c kernel/proc/children.c kernel/proc/counts.c kernel/proc/elf.c \
	kernel/proc/futex.c kernel/proc/load.c kernel/proc/place.c kernel/proc/process.c kernel/proc/sleepers.c kernel/proc/stdio.c kernel/proc/syscall.c \
	kernel/proc/sysinfo.c kernel/proc/user.c kernel/proc/userfault.c kernel/proc/uthread.c hpm/breakdown.c hpm/figures.c hpm/hpm.c \
	hpm/report.c hpm/sampling.c hpm/session.c hpm/setup.c hpm/pmu/backends.c hpm/pmu/model.c hpm/pmu/rate.c sched/balance.c sched/migrate.c sched/policies.c \
	sched/runqueue.c sched/sched.c sched/sharing.c sched/sharing_args.c sched/sharing_detect.c sched/sharing_place.c \
	sched/sharing_policies.c sched/sharing_report.c sched/thread.c sched/timer.c sched/topology.c sched/wait.c \
	sched/watchdog.c mm/bootmem.c mm/buddy.c mm/fault.c mm/frame.c mm/heap.c mm/kstack.c mm/regions.c mm/space.c \
	mm/tlb.c
KERNEL_SRC += \
	kernel/selftest/clock.c kernel/selftest/cpus.c kernel/selftest/describe.c kernel/selftest/memory.c \
	kernel/selftest/program.c kernel/selftest/selftest.c kernel/dev/smbios.c
KERNEL_SRC += kernel/image_symbols.c kernel/symbols.c
# The console's font, out of a Debian package.
FONT_SRC := $(FONT)/font_data.c
KERNEL_SRC += $(FONT_SRC)
# What a device tree says; libfdt is fetched and built from source.
DEVTREE_SRC := \
	kernel/dev/devtree.c kernel/dev/devtree_read.c kernel/dev/devtree_platform.c kernel/dev/devtree_numa.c kernel/dev/platform.c
LIBFDT_SRC  := $(LIBFDT)/fdt.c $(LIBFDT)/fdt_ro.c
ARCH_SRC_aarch64 += \
	kernel/arch/aarch64/clock.c kernel/arch/aarch64/cpus.c kernel/arch/aarch64/gic.c kernel/arch/aarch64/gicv2.c \
	kernel/arch/aarch64/gicv3.c kernel/arch/aarch64/irq.c kernel/arch/aarch64/its.c kernel/arch/aarch64/lpi.c \
	kernel/arch/aarch64/platform_find.c kernel/arch/aarch64/psci.c kernel/arch/aarch64/smp.c kernel/arch/aarch64/v2m.c kernel/dev/acpi_iort.c kernel/dev/acpi_platform.c $(DEVTREE_SRC) $(LIBFDT_SRC) \
	hpm/pmu/armv8.c hpm/pmu/armv8_regs.c hpm/pmu/armv8_spe.c hpm/pmu/armv8_spe_regs.c
KERNEL_SRC += $(ARCH_SRC_$(ARCH)) $(POLICY_SRC) $(POLICY_SRC_$(ARCH)) $(EVENTS_SRC_$(ARCH))

# ---- Applications ----------------------------------------------------------------------------------------------------
# To add one: a folder apps/NAME, a line NAME_SRC, and its name in ALL_APPS.
ALL_APPS       := hello scoreboard warehouse private phases hpmstat
COMMON_SRC     := \
	apps/common/arena.c apps/common/args.c apps/common/histogram.c apps/common/plan.c apps/common/team.c
LIBC_SRC_aarch64 := apps/libc/aarch64/auxv.c
LIBC_SRC       := \
	apps/libc/cond.c apps/libc/futex.c apps/libc/hpm.c apps/libc/malloc.c apps/libc/mutex.c apps/libc/newlib_locks.c \
	apps/libc/place.c apps/libc/start.c apps/libc/stubs.c apps/libc/thread.c apps/libc/time.c
LIBC_SRC       += apps/libc/$(ARCH)/start.S $(LIBC_SRC_$(ARCH))
hello_SRC      := apps/hello/hello.c
scoreboard_SRC := apps/scoreboard/scoreboard.c
warehouse_SRC  := \
	apps/warehouse/btree.c apps/warehouse/check.c apps/warehouse/load.c apps/warehouse/order_book.c \
	apps/warehouse/transactions.c apps/warehouse/warehouse.c
private_SRC    := apps/private/private.c
hpmstat_SRC    := apps/hpmstat/hpmstat.c
phases_SRC     := $(addprefix apps/phases/,chase.c compress.c graph.c interp.c job.c lz.c matrix.c phases.c sort.c vm.c)

# Programs of the test suites, bundled in test images only.
TEST_APPS      := badcalls counts faults known libctest oom places sessions stress
$(foreach t,$(TEST_APPS),$(eval $(t)_SRC := test/qemu/apps/$(t).c))
faults_SRC += test/qemu/apps/$(ARCH)/misdeeds.c
counts_SRC += test/qemu/apps/$(ARCH)/known_loop.S
known_SRC += test/qemu/apps/$(ARCH)/known_loop.S
# What must be refused: a program cut short, and none at all.
BROKEN_APPS := cut-short no-program

# ---- Tools and flags -------------------------------------------------------------------------------------------------
CROSS_x86_64  :=
CROSS_aarch64 := aarch64-linux-gnu-
CC     := $(CROSS_$(ARCH))gcc
LD     := $(CROSS_$(ARCH))ld
NM     := $(CROSS_$(ARCH))nm
OBJCOPY := $(CROSS_$(ARCH))objcopy
AR     := $(CROSS_$(ARCH))ar
HOSTCC := gcc

WARN   := -Wall -Wextra -Werror
COMMON := -std=gnu11 -g -I. $(WARN) -MD -MP -fno-stack-protector -fno-pic -fno-pie -ffunction-sections
ISA_x86_64        := -fcf-protection=none
ISA_aarch64       := -mstrict-align -moutline-atomics
KERNEL_ISA_aarch64 := $(ISA_aarch64) -mgeneral-regs-only
KERNEL_ISA_x86_64 := $(ISA_x86_64) -mcmodel=kernel -mno-red-zone -mgeneral-regs-only
LIBFDT_INC    := -Ikernel/dev/libfdt -I$(LIBFDT)
KERNEL_CFLAGS := $(COMMON) -O2 -ffreestanding -fno-omit-frame-pointer -fno-optimize-sibling-calls -Ikernel/arch/$(ARCH) $(LIBFDT_INC) \
	$(KERNEL_ISA_$(ARCH))
APP_CFLAGS    := $(COMMON) -O2 -Iapps/libc/include -Iapps/libc/$(ARCH) -nostdinc \
	-isystem "$$($(CC) -print-file-name=include)" -isystem $(NEWLIB)/include -D__DYNAMIC_REENT__ \
	-D_POSIX_TIMERS -D_POSIX_MONOTONIC_CLOCK -D_GNU_SOURCE $(ISA_$(ARCH))
HOST_CFLAGS   := -std=gnu11 -g -O1 -I. -Iapps -Itest/host/arch $(LIBFDT_INC) $(WARN) -MMD -MP
SANITIZE      := -fsanitize=address,undefined -fno-sanitize-recover=all

# ---- Targets ---------------------------------------------------------------------------------------------------------
.PHONY: help all run bench-sharing bench-clustering bench-mux bench-hpm test test-host test-machine test-qemu test-long lint bench fuzz clean distclean compile_commands policy-check deps-build deps-efi deps-run \
	deps-test deps-lint deps-fuzz machine kernel

## make run               boot Vigil on the simulated machine: plain scheduling, then sharing-aware, and compare
## make test              every test: host, simulated machine, booted kernel, on both architectures or the ARCH given (ten minutes)
## make test-long         the same and the soaks
## make bench             every benchmark; QUICK=1: one seed, small sizes
## make all               kernel, applications, simulated machine, UEFI image
## make lint              formatting, warnings, purity of the policies
## make fuzz              fuzz the parsers (FUZZ_SECONDS=60 each)
## make compile_commands  compile_commands.json for editors
## make clean             remove build products (distclean: newlib and package lists too)
##
## Variables: ARCH=x86_64  MACHINE=openpower720|openpower-8chip|epyc-like|...|qemu (plain QEMU)  SMP=cpus  MEM=512M
##            BOOTARGS='key=value ... -- app args ; app args' (BOOTARGS=help lists them)  APPS='names to bundle'
##            TELEMETRY=FILE (where BOOTARGS='telemetry=all -- ...' goes)
##            DEBUG=1 (lock-order checks)  QUICK=1  V=1 (show commands)
help:
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

deps-build:
	@tools/deps.sh $(DEPS_BUILD)
deps-efi: deps-build
	@tools/deps.sh $(DEPS_EFI)
deps-run: deps-build
	@tools/deps.sh '$(firstword $(DEPS_RUN))' $(wordlist 2,9,$(DEPS_RUN))
deps-test: deps-run
	@tools/deps.sh $(DEPS_TEST)
deps-lint:
	@tools/deps.sh $(DEPS_LINT)
deps-fuzz: deps-test
	@tools/deps.sh $(DEPS_FUZZ)

# ---- newlib ----------------------------------------------------------------------------------------------------------
$(NEWLIB)/lib/libc.a: tools/newlib.sh | deps-build
	@mkdir -p $(NEWLIB)
	@tools/newlib.sh $(ARCH) $(CC) $(NEWLIB)
	@touch $@

# ---- libfdt ----------------------------------------------------------------------------------------------------------
$(LIBFDT)/libfdt.h: tools/libfdt.sh tools/source.sh tools/apt.sh | deps-build
	@tools/libfdt.sh $(LIBFDT)
	@touch $@
$(LIBFDT_SRC): $(LIBFDT)/libfdt.h ;
# Whoever includes it needs it fetched first.
devtree_objects = $(addprefix $(1)/,$(addsuffix .o,$(basename $(DEVTREE_SRC))))
$(foreach d,$(O)/fast $(O)/debug $(H),$(call devtree_objects,$(d))): | $(LIBFDT)/libfdt.h

# ---- Font ------------------------------------------------------------------------------------------------------------
FONT_FILE := $(FONT)/package/usr/share/consolefonts/Lat15-Fixed16.psf.gz
$(FONT_FILE): tools/foreign.sh | deps-build
	@tools/foreign.sh console-setup-linux all $(FONT)/package
	@touch $@
$(FONT_SRC): $(FONT_FILE) tools/font.sh
	$(call say,FONT,$@)
	$(Q)tools/font.sh $< $@

# ---- Event tables ----------------------------------------------------------------------------------------------------
$(LIBPFM4)/found.h: tools/libpfm4.sh tools/source.sh tools/apt.sh | deps-build
	@tools/libpfm4.sh $(LIBPFM4)
	@touch $@
EVENTS_TOOL_SRC := $(addprefix tools/events/,amd.c arm.c generate.c intel.c intel_correct.c model.c) test/machine/pmu_masks.c
$(EVENTS)/generate: $(EVENTS_TOOL_SRC) tools/events/intel_correct.h tools/events/source.h hpm/events/table.h hpm/events/event.h kernel/dev/machine.h $(LIBPFM4)/found.h
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -g -O1 -I. -isystem $(LIBPFM4) $(WARN) $(EVENTS_TOOL_SRC) -o $@
$(EVENTS)/x86_64.c $(EVENTS)/aarch64.c: $(EVENTS)/%.c: $(EVENTS)/generate
	$(call say,EVENTS,$@)
	$(Q)$< $* "$$(cat $(LIBPFM4)/version)" >$@

# ---- Kernel ----------------------------------------------------------------------------------------------------------
# Compiled in two flavours: fast, and debug with lock-order checks, which the tests boot.
kernel_objects = $(addprefix $(O)/$(1)/,$(addsuffix .o,$(basename $(KERNEL_SRC))))
policy_objects = $(addprefix $(O)/fast/,$(addsuffix .o,$(basename $(POLICY_SRC) $(POLICY_SRC_aarch64) $(EVENTS_SRC_$(ARCH)))))

define compile
$(call say,CC,$<)
@mkdir -p $(@D)
$(Q)$(CC) $(1) -c $< -o $@
endef
$(O)/fast/%.o: %.c Makefile | deps-build
	$(call compile,$(KERNEL_CFLAGS))
$(O)/fast/%.o: %.S Makefile | deps-build
	$(call compile,$(KERNEL_CFLAGS))
$(O)/debug/%.o: %.c Makefile | deps-build
	$(call compile,$(KERNEL_CFLAGS) -DDEBUG)
$(O)/debug/%.o: %.S Makefile | deps-build
	$(call compile,$(KERNEL_CFLAGS) -DDEBUG)

# ---- Applications ----------------------------------------------------------------------------------------------------
libc_objects = $(addprefix $(O)/,$(addsuffix .o,$(basename $(LIBC_SRC))))
$(O)/apps/%.o: apps/%.c Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
$(O)/apps/%.o: apps/%.S Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
$(O)/test/qemu/apps/%.o: test/qemu/apps/%.c Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
$(O)/test/qemu/apps/%.o: test/qemu/apps/%.S Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
app_objects = $(libc_objects) $(foreach a,$(ALL_APPS) $(TEST_APPS),$($(a)_OBJ))

define app_rule
$(1)_OBJ := $$(addprefix $(O)/,$$(addsuffix .o,$$(basename $$($(1)_SRC) $$(COMMON_SRC))))
$(O)/bin/$(1): $$($(1)_OBJ) $$(libc_objects) $(NEWLIB)/lib/libc.a
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(LD) -nostdlib -static --gc-sections --build-id=none -z max-page-size=4096 -z separate-code -z noexecstack -o $$@ \
		$$(filter %.o,$$^) \
		--start-group $(NEWLIB)/lib/libc.a $(NEWLIB)/lib/libm.a $$$$($(CC) -print-libgcc-file-name) --end-group
endef
$(foreach a,$(ALL_APPS) $(TEST_APPS),$(eval $(call app_rule,$(a))))
$(app_objects): | $(NEWLIB)/lib/libc.a

# ---- Images ----------------------------------------------------------------------------------------------------------
EFI_SRC := \
	kernel/boot/boot_info.c kernel/boot/boot_info.h kernel/boot/efi.c kernel/boot/efi_arch.h kernel/boot/efi_base.h \
	kernel/boot/efi_cmdline.c kernel/boot/efi_cmdline.h kernel/boot/efi_$(ARCH).c kernel/boot/gop.c kernel/boot/gop.h
# gnu-efi's package has the files of its own architecture only.
DEBIAN_x86_64  := amd64
DEBIAN_aarch64 := arm64
$(GNUEFI)/usr/lib/libefi.a: tools/foreign.sh | deps-build
	@tools/foreign.sh gnu-efi $(DEBIAN_$(ARCH)) $(GNUEFI)
	@touch $@
# From code to functions and lines: a table for each program, in the archive's folder symbols/, and one for the kernel.
$(B)/symbols: tools/symbols.c kernel/symbols.c kernel/symbols.h kernel/proc/abi.h | deps-build
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -g -O1 -I. $(WARN) $(filter %.c,$^) -ldw -lelf -o $@
$(O)/symbols/%: $(O)/bin/% $(B)/symbols
	@mkdir -p $(@D)
	$(Q)$(B)/symbols $< $@
# included FILE, NAME: the assembly of a section .NAME with what is in the file between NAME_start and NAME_end.
included = printf '.section .$(2),"a"\n.balign 4096\n.globl $(2)_start, $(2)_end\n$(2)_start:\n.incbin "%s"\n$(2)_end:\n.section .note.GNU-stack,"",%%progbits\n' $(1) | $(CC) -x assembler -c - -o
# image_rule NAME FLAVOUR APPLICATIONS OBJECTS: $(O)/NAME.elf, with the applications inside as one ustar archive, and NAME.efi, the
# UEFI loader with that image inside.  Linked twice: the table of symbols of the first link becomes part of the second.
# $(1): output, $(2): objects.  libgcc has the functions by which atomics are single instructions on the CPUs that have them
# (-moutline-atomics).
link_kernel = $(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack --no-warn-rwx-segments -T linker.ld -o $(1) $(2) \
	$$($(CC) -print-libgcc-file-name)
define image_rule
$(O)/$(1).names: FORCE
	@mkdir -p $$(@D)
	@echo '$(2) $(3)' | cmp -s - $$@ || echo '$(2) $(3)' >$$@
$(1)_TABLES := $(addprefix symbols/,$(filter-out $(BROKEN_APPS),$(3)))
$(O)/$(1).tar: $(addprefix $(O)/bin/,$(3)) $$(addprefix $(O)/,$$($(1)_TABLES)) $(O)/$(1).names
	$$(Q)tar --format=ustar --owner=0 --group=0 --mtime=@0 -cf $$@ -C $(O)/bin $(3) -C .. $$($(1)_TABLES)
$(O)/$(1).bundle.o: $(O)/$(1).tar
	$$(Q)$$(call included,$$<,bundle) $$@
$(O)/$(1).pass1: $(4) $(O)/$(1).bundle.o $(O)/symbols0.o linker.ld
	$$(Q)$$(call link_kernel,$$@,$$(filter %.o,$$^))
$(O)/$(1).symbols: $(O)/$(1).pass1 $(B)/symbols
	$$(Q)$(B)/symbols $$< $$@ image_start text_start text_end
$(O)/$(1).symbols.o: $(O)/$(1).symbols
	$$(Q)$$(call included,$$<,symbols) $$@
$(O)/$(1).elf: $(4) $(O)/$(1).bundle.o $(O)/$(1).symbols.o linker.ld
	$$(call say,LINK,$$@)
	$$(Q)$$(call link_kernel,$$@,$$(filter %.o,$$^))
$(O)/$(1).img: $(O)/$(1).elf
	$$(Q)$(OBJCOPY) -O binary $$< $$@
$(O)/$(1).efi: $(O)/$(1).elf $(GNUEFI)/usr/lib/libefi.a tools/efi.sh $(EFI_SRC) | deps-efi
	$$(call say,EFI,$$@)
	$$(Q)tools/efi.sh $(ARCH) $(CC) $(GNUEFI) $$< $$@
endef
$(eval $(call image_rule,vigil,$(if $(filter 1,$(DEBUG)),debug,fast),$(APPS),$(call kernel_objects,$(if $(filter 1,$(DEBUG)),debug,fast))))
$(O)/bin/cut-short: $(O)/bin/hello
	$(Q)head -c 5000 $< >$@
$(O)/bin/no-program: README.md
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(eval $(call image_rule,vigil-test,debug,$(ALL_APPS) $(TEST_APPS) $(BROKEN_APPS),$(call kernel_objects,debug)))
# Suites that run inside the kernel, in place of the applications.
SUITE_SRC := \
	test/qemu/kernel/arch.c test/qemu/kernel/console.c test/qemu/kernel/futex.c test/qemu/kernel/hpm.c test/qemu/kernel/mm.c test/qemu/kernel/msi.c test/qemu/kernel/panics.c \
	test/qemu/kernel/pmu.c test/qemu/kernel/sched.c test/qemu/kernel/spaces.c test/qemu/kernel/suite.c test/qemu/kernel/telemetry.c test/qemu/kernel/threads.c test/qemu/kernel/virtio.c \
	test/qemu/apps/$(ARCH)/known_loop.S
suite_objects = $(addprefix $(O)/debug/,$(addsuffix .o,$(basename $(SUITE_SRC))))
$(eval $(call image_rule,vigil-suites,debug,hello,$(filter-out %/kernel/run.o,$(call kernel_objects,debug)) $(suite_objects)))
$(O)/symbols0.o: Makefile | deps-build
	@mkdir -p $(@D) && : >$(O)/nothing
	$(Q)$(call included,$(O)/nothing,symbols) $@
kernel: $(KERNEL)
FORCE:

# ---- The simulated multiprocessor ------------------------------------------------------------------------------------
# Runs inside QEMU as a plug-in, on the host, so it is compiled for the host.
MACHINE_MAIN := topologies
MACHINE_SRC  := \
	test/machine/branch.c test/machine/cache.c test/machine/cache_array.c test/machine/cache_check.c \
	test/machine/clock.c test/machine/decode_arm.c test/machine/decode_x86.c test/machine/effects.c test/machine/execute.c \
	test/machine/interrupt.c test/machine/isa.c test/machine/plugin.c test/machine/pmu.c test/machine/pmu_masks.c \
	test/machine/qemu.c test/machine/regs.c test/machine/storebuf.c test/machine/tlb.c test/machine/topology.c \
	test/machine/truth.c test/machine/turn.c
machine_objects = $(addprefix $(B)/machine/,$(addsuffix .o,$(basename $(MACHINE_SRC))))
$(B)/machine/%.o: %.c Makefile | deps-build
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -g -O2 -flto -fPIC -fno-semantic-interposition -fvisibility=hidden -I. $(WARN) -MMD -MP -c $< -o $@
$(B)/machine/machine.so: $(machine_objects)
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) -O2 -flto=auto -fPIC -shared $^ -o $@.new && mv $@.new $@
$(B)/machine/topologies: $(addprefix $(B)/machine/test/machine/,topologies.o topology.o)
	$(Q)$(HOSTCC) $^ -o $@
machine: $(B)/machine/machine.so $(B)/machine/topologies

# The machine's own guest: exact programs and what must be counted for them.
MACHINE_GUEST_SRC := $(addprefix test/machine/guest/,guest.c settings.c tests.c) kernel/string.c \
	$(wildcard $(addprefix test/machine/guest/$(ARCH)/*,.S .c))
MACHINE_GUEST_RAM_x86_64  := 0
MACHINE_GUEST_RAM_aarch64 := 0x40000000
MACHINE_GUEST_ISA_x86_64  := $(KERNEL_ISA_x86_64)
MACHINE_GUEST_ISA_aarch64 := -mgeneral-regs-only -mstrict-align -mno-outline-atomics
$(B)/machine/guest-$(ARCH).elf: $(MACHINE_GUEST_SRC) $(wildcard test/machine/guest/*.h test/machine/guest/*.ld test/machine/guest/$(ARCH)/*.h) kernel/dev/machine.h | deps-build
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -g -O2 -I. -Itest/machine/guest/$(ARCH) $(WARN) -ffreestanding -fno-pic -no-pie -fno-stack-protector \
		$(MACHINE_GUEST_ISA_$(ARCH)) -nostdlib -static \
		-Wl,--build-id=none,-z,noexecstack,-z,max-page-size=4096,--no-warn-rwx-segments,--defsym=RAM=$(MACHINE_GUEST_RAM_$(ARCH)) \
		-T test/machine/guest/guest.ld $(MACHINE_GUEST_SRC) -o $@

# ---- Running ---------------------------------------------------------------------------------------------------------
run: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) tools/run.sh kernel=$(KERNEL) machine=$(MACHINE) smp=$(SMP) mem=$(MEM) out=$(OUT) bootargs='$(BOOTARGS)' $(if $(TELEMETRY),telemetry=$(TELEMETRY))
bench-sharing: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) test/bench/sharing.sh kernel=$(KERNEL) machine=$(if $(filter qemu,$(MACHINE)),openpower720,$(MACHINE)) quick=$(QUICK) \
		$(if $(MS),ms=$(MS)) $(if $(SEEDS),seeds=$(SEEDS))
bench-hpm: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) test/bench/hpm.sh kernel=$(KERNEL) machine=$(if $(filter qemu,$(MACHINE)),openpower720,$(MACHINE)) quick=$(QUICK) \
		$(if $(SEEDS),seeds=$(SEEDS))

bench: bench-sharing bench-clustering bench-mux bench-hpm
all: $(KERNEL) $(O)/vigil.efi machine

# ---- Host tests ------------------------------------------------------------------------------------------------------
PROVE := prove --timer -j $(shell nproc)
# One line a test: NAME_SRC lists what it tests; test/host/NAME.c or test/machine/NAME.c is the test itself.
HOST_TESTS := \
	test_acpi test_acpi_platform test_args test_asid test_balance test_btree test_bundle test_cluster test_cmdline test_console test_cpu_place test_devtree test_elf \
	test_event_request test_events_arm test_events_libpfm4 test_events_x86 test_metric \
	test_estimate test_fixed test_format test_frame test_frame_high test_histogram test_hpm_amd test_hpm_amd_ibs test_hpm_armv8 test_hpm_context test_hpm_count test_hpm_group test_hpm_group_cause test_hpm_intel test_hpm_intel_count test_hpm_intel_records test_hpm_plan test_hpm_sampling test_hpm_session test_hpm_session_refused test_hpm_spe test_hpm_spe_buffer test_its_layout \
	test_mux test_mux_turns test_numa test_pci test_pci_msi test_place test_place_random \
	test_plan test_pt test_sampling_period test_shmap test_sleepers test_space test_spe_packets test_virtio_layout test_virtq test_warehouse test_branch test_cache test_decode_arm test_storebuf test_tlb test_topology \
	test_gop test_screen test_smbios test_sync
test_cmdline_SRC   := kernel/cmdline.c kernel/format.c
test_console_SRC   := kernel/console.c kernel/printf.c kernel/format.c kernel/lock.c
test_acpi_SRC      := kernel/dev/acpi.c
test_devtree_SRC   := $(DEVTREE_SRC) $(LIBFDT_SRC) kernel/dev/numa.c kernel/boot/boot_info.c test/host/virt.dts test/host/board.dts
test_cpu_place_SRC := kernel/arch/x86_64/topology.c kernel/arch/place.c
test_acpi_platform_SRC := kernel/dev/acpi.c kernel/dev/acpi_iort.c kernel/dev/acpi_platform.c kernel/dev/platform.c test/host/acpi_tables.c
test_numa_SRC      := kernel/dev/acpi.c kernel/dev/acpi_numa.c kernel/dev/numa.c test/host/acpi_tables.c
test_format_SRC    := kernel/format.c
test_asid_SRC      := kernel/arch/asid.c
test_gop_SRC       := kernel/boot/gop.c kernel/boot/boot_info.c
test_smbios_SRC    := kernel/dev/smbios.c kernel/dev/acpi.c
test_sync_SRC      := kernel/arch/sync.c
test_screen_SRC    := kernel/dev/screen.c $(FONT_SRC)
test_its_layout_SRC := kernel/arch/aarch64/its_layout.c
test_pci_msi_SRC   := kernel/dev/pci_msi.c
test_pci_SRC       := kernel/dev/pci.c kernel/dev/pci_bar.c kernel/dev/acpi.c
HOST_TESTS += test_ctf test_trace_ring
CTF_SRC            := kernel/telemetry/ctf.c kernel/telemetry/ctf_describe.c
test_ctf_SRC       := $(CTF_SRC)
test_trace_ring_SRC := kernel/telemetry/ring.c kernel/telemetry/ctf.c
test_virtio_layout_SRC := kernel/dev/virtio_layout.c
HOST_TESTS += test_virtio_console
test_virtio_console_SRC := $(addprefix kernel/dev/,virtio.c virtio_console.c virtio_layout.c virtq.c)
test_virtq_SRC     := kernel/dev/virtq.c
test_pt_SRC        := kernel/arch/pt.c
test_balance_SRC   := sched/balance_policy.c
CLUSTERING         := test/host/planted.c sched/shmap.c sched/cluster.c sched/cluster_cosine.c sched/cluster_published.c sched/cluster_watch.c
test_sampling_period_SRC := sched/sampling_period.c
test_shmap_SRC     := sched/shmap.c sched/shmap_picture.c
test_cluster_SRC   := $(CLUSTERING)
PLACING            := test/host/placing.c sched/place.c sched/place_core.c sched/place_simple.c
test_place_SRC     := $(PLACING)
test_place_random_SRC := $(PLACING)
test_frame_SRC     := mm/buddy.c mm/bootmem.c
test_frame_high_SRC := mm/frame.c mm/buddy.c mm/bootmem.c kernel/boot/boot_info.c
test_space_SRC     := mm/regions.c
test_sleepers_SRC  := kernel/proc/sleepers.c
test_elf_SRC       := kernel/proc/elf.c
test_bundle_SRC    := kernel/proc/bundle.c
test_args_SRC      := apps/common/args.c
CACHE_MODEL        := $(addprefix test/machine/,topology.c cache.c cache_array.c cache_check.c)
test_cache_SRC     := $(CACHE_MODEL) test/machine/cache_reference.c
test_topology_SRC  := test/machine/topology.c
test_tlb_SRC       := test/machine/tlb.c
test_branch_SRC    := test/machine/branch.c
test_storebuf_SRC  := test/machine/storebuf.c
test_decode_arm_SRC := test/machine/decode_arm.c test/machine/effects.c
# hpm without drivers and events: a test's double says which drivers there are, in place of hpm/pmu/backends.c.
HPM_TESTED         := $(filter-out hpm/events/% hpm/pmu/%,$(filter hpm/%,$(KERNEL_SRC))) kernel/lock.c kernel/format.c test/host/hpm_kernel.c test/host/hpm_threads.c
HPM_TESTED_MODEL   := $(HPM_TESTED) $(EVENTS_SRC_aarch64) hpm/pmu/model.c test/host/hpm_double.c test/machine/pmu_masks.c
HPM_TESTED_DRIVER  := $(HPM_TESTED) hpm/pmu/rate.c test/host/hpm_driver.c
HPM_TESTED_ARM     := $(HPM_TESTED_DRIVER) $(EVENTS_SRC_aarch64)
HPM_TESTED_X86     := $(HPM_TESTED_DRIVER) $(EVENTS_SRC_x86_64)
test_hpm_group_SRC    := hpm/group.c
test_hpm_group_cause_SRC := hpm/group.c
MUX                := hpm/mux.c hpm/mux_turns.c hpm/estimate.c
test_mux_SRC       := $(MUX) test/host/mux_config.c
test_mux_turns_SRC := hpm/mux_turns.c test/host/mux_config.c
test_estimate_SRC  := $(MUX)
PLAN                  := $(MUX) hpm/plan.c hpm/group.c $(EVENTS_SRC_aarch64)
test_hpm_context_SRC  := $(PLAN) hpm/context.c hpm/breakdown.c
test_hpm_plan_SRC     := $(PLAN)
test_hpm_session_SRC  := $(HPM_TESTED_MODEL)
test_hpm_session_refused_SRC := $(HPM_TESTED_MODEL)
test_hpm_count_SRC    := $(HPM_TESTED_MODEL)
test_hpm_sampling_SRC := $(HPM_TESTED_MODEL)
HPM_AMD_TESTED        := $(HPM_TESTED_X86) hpm/pmu/amd.c hpm/pmu/amd_ibs.c test/host/amd_double.c test/host/amd_kinds.c
test_hpm_amd_SRC      := $(HPM_AMD_TESTED)
test_hpm_amd_ibs_SRC  := $(HPM_AMD_TESTED)
SPE_DECODED           := hpm/pmu/spe_packets.c hpm/pmu/spe_sources.c
HPM_ARMV8_TESTED      := $(HPM_TESTED_ARM) hpm/pmu/armv8.c hpm/pmu/armv8_spe.c $(SPE_DECODED) test/host/armv8_double.c test/host/spe_double.c
HPM_SPE_TESTED        := $(HPM_ARMV8_TESTED) test/host/spe_kinds.c
test_hpm_armv8_SRC    := $(HPM_ARMV8_TESTED)
test_hpm_spe_SRC      := $(HPM_SPE_TESTED)
test_hpm_spe_buffer_SRC := $(HPM_SPE_TESTED)
HPM_INTEL_TESTED      := $(HPM_TESTED_X86) $(addprefix hpm/pmu/,intel.c intel_models.c intel_pebs.c) test/host/intel_double.c test/host/intel_kinds.c
test_hpm_intel_SRC    := $(HPM_INTEL_TESTED)
test_hpm_intel_count_SRC := $(HPM_INTEL_TESTED)
test_hpm_intel_records_SRC := $(HPM_INTEL_TESTED)
test_spe_packets_SRC  := $(SPE_DECODED)
test_events_x86_SRC     := $(EVENTS_SRC_x86_64) hpm/group.c test/machine/pmu_masks.c
test_events_arm_SRC     := $(EVENTS_SRC_aarch64) hpm/group.c
test_events_libpfm4_SRC := $(EVENTS_SRC_x86_64) hpm/group.c
test_events_libpfm4_LIBS := -lpfm
test_metric_SRC         := $(EVENTS_SRC_x86_64) hpm/group.c
test_event_request_SRC  := $(EVENTS_SRC_x86_64) hpm/group.c
test_histogram_SRC := apps/common/histogram.c
test_btree_SRC     := apps/warehouse/btree.c apps/common/arena.c
test_plan_SRC      := apps/common/plan.c
HOST_TESTS += test_phases test_symbols
test_symbols_SRC   := kernel/symbols.c
test_phases_SRC    := $(filter-out apps/phases/phases.c,$(phases_SRC)) apps/common/arena.c
test_warehouse_SRC := $(filter-out apps/warehouse/warehouse.c,$(warehouse_SRC)) apps/common/arena.c

# Objects for the host, with the address and undefined-behaviour sanitizers.
$(H)/%.o: %.c Makefile | deps-test
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $(SANITIZE) -c $< -o $@
# A device tree as an array NAME_dt_blob_start.
$(H)/%.o: %.dts Makefile | deps-test
	$(call say,DTC,$<)
	@mkdir -p $(@D)
	$(Q)dtc -q -I dts -O asm $< | $(HOSTCC) -x assembler -Wa,--noexecstack -c - -o $@
	$(Q)objcopy --prefix-symbols=$(notdir $*)_ $@
define host_test_rule
$(1)_MAIN := $$(wildcard test/host/$(1).c test/machine/$(1).c)
$(H)/$(1): $$(addprefix $(H)/,$$(addsuffix .o,$$(basename $$($(1)_MAIN) $$($(1)_SRC))))
	$$(call say,HOSTLD,$$@)
	$$(Q)$(HOSTCC) $(SANITIZE) $$(filter %.o,$$^) -lcmocka -lm $$($(1)_LIBS) -o $$@
endef
$(foreach t,$(HOST_TESTS),$(eval $(call host_test_rule,$(t))))

test-host: $(addprefix $(H)/,$(HOST_TESTS))
	@CMOCKA_MESSAGE_OUTPUT=TAP $(PROVE) --exec '' $^

# How many samples right clusters take, on planted sharing (TRIALS, SHAPE and SEED from the environment).
$(H)/sim_sharing: test/host/sim_sharing.c $(CLUSTERING) $(wildcard sched/cluster*.h sched/shmap.h test/host/planted.h)
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -O2 -I. $(WARN) $(filter %.c,$^) -o $@
bench-clustering: $(H)/sim_sharing
	@QUICK=$(QUICK) $(H)/sim_sharing $(if $(filter 1,$(QUICK)),,| tee docs/results/clustering.txt)

# How good multiplexed counts are: intervals and distances on simulated events (TRIALS and SEED from the environment).
$(H)/sim_mux: test/host/sim_mux.c $(MUX) hpm/mux.h hpm/estimate.h hpm/group.h kernel/fixed.h
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -O2 -I. $(WARN) $(filter %.c,$^) -lm -o $@
bench-mux: $(H)/sim_mux
	@QUICK=$(QUICK) $(H)/sim_mux $(if $(filter 1,$(QUICK)),,| tee docs/results/mux.txt)

# ---- Fuzzers ---------------------------------------------------------------------------------------------------------
# test/host/fuzz_NAME.c feeds random bytes to a parser; fuzz_NAME_SRC lists what it needs.
FUZZERS := fuzz_acpi fuzz_bundle fuzz_cmdline fuzz_devtree fuzz_elf fuzz_event fuzz_metric fuzz_spe fuzz_symbols
FUZZ_SECONDS ?= $(if $(filter 1,$(QUICK)),5,60)
fuzz_cmdline_SRC := kernel/cmdline.c kernel/format.c
fuzz_elf_SRC     := kernel/proc/elf.c
fuzz_bundle_SRC  := kernel/proc/bundle.c
fuzz_symbols_SRC := kernel/symbols.c
fuzz_acpi_SRC    := \
	kernel/dev/acpi.c kernel/dev/acpi_iort.c kernel/dev/acpi_numa.c kernel/dev/acpi_platform.c kernel/dev/numa.c kernel/dev/platform.c
fuzz_devtree_SRC := $(DEVTREE_SRC) $(LIBFDT_SRC) kernel/dev/numa.c kernel/boot/boot_info.c
fuzz_event_SRC   := $(EVENTS_SRC_x86_64) hpm/group.c
fuzz_metric_SRC  := $(EVENTS_SRC_x86_64) hpm/group.c
fuzz_spe_SRC     := $(SPE_DECODED)
$(H)/fuzz_event $(H)/fuzz_metric: | $(EVENTS)/x86_64.c
$(H)/fuzz_devtree: | $(LIBFDT)/libfdt.h $(B)/corpus/fuzz_devtree/virt.dtb $(B)/corpus/fuzz_devtree/board.dtb
$(B)/corpus/fuzz_devtree/%.dtb: test/host/%.dts | deps-test
	@mkdir -p $(@D)
	$(Q)dtc -q -I dts -O dtb $< -o $@

$(H)/fuzz_%: test/host/fuzz_%.c Makefile | deps-fuzz
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)clang -std=gnu11 -g -O1 -I. $(LIBFDT_INC) -fsanitize=fuzzer,address,undefined $< $(fuzz_$*_SRC) -o $@
fuzz: $(addprefix $(H)/,$(FUZZERS))
	@for f in $^; do mkdir -p $(B)/corpus/$${f##*/}; echo "fuzz: $$f for $(FUZZ_SECONDS) s"; \
		$$f -max_total_time=$(FUZZ_SECONDS) -verbosity=0 -artifact_prefix=$(B)/corpus/ $(B)/corpus/$${f##*/} \
		|| exit 1; done; echo "fuzz: nothing found"

# ---- Tests in the booted kernel --------------------------------------------------------------------------------------
# All there are, the longest first, for as many run at a time as there are CPUs: QEMU's vCPUs take turns on one.
LONG_TESTS := $(patsubst %,test/qemu/%.t,stress framebuffer uefi selftest sched memory hpm sharing hpmstat telemetry)
QEMU_TESTS := $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(sort $(wildcard test/qemu/*.t)))
test-qemu: $(foreach i,vigil vigil-test vigil-suites,$(O)/$(i).$(KERNEL_FILE_$(ARCH))) $(O)/vigil.efi $(O)/vigil-test.efi $(O)/vigil-suites.efi machine | deps-test
	@ARCH=$(ARCH) B=$(B) $(PROVE) $(QEMU_TESTS)

test-machine: $(B)/machine/guest-$(ARCH).elf machine | deps-test
	@ARCH=$(ARCH) prove --timer test/machine/machine.t

# Both architectures, or the one asked for.
TEST_ARCHS := $(if $(filter file,$(origin ARCH)),x86_64 aarch64,$(ARCH))
test: test-host
	@failed=; for arch in $(TEST_ARCHS); do \
		$(MAKE) --no-print-directory ARCH=$$arch test-machine test-qemu policy-check || failed="$$failed $$arch"; done; \
		[ -z "$$failed" ] || { echo "test: failed on$$failed" >&2; exit 1; }
test-long: test
	@for arch in $(TEST_ARCHS); do ARCH=$$arch ROUNDS=1000 prove --timer test/qemu/stress.t || exit 1; done

# __aarch64_*: the compiler's way to an atomic instruction or, on CPUs without it, a loop.
policy-check: $(policy_objects)
	@pure=" panic memcpy memmove memset memcmp $$($(NM) --defined-only -g $^ | awk 'NF == 3 { print $$3 }' | tr '\n' ' ') "; \
	for o in $^; do for name in $$($(NM) -u $$o | awk '$$2 !~ /^__aarch64_/ { print $$2 }'); do case $$pure in *" $$name "*) ;; \
		*) echo "policy-check: $$o needs $$name: a policy may use only panic, mem* and other policies" >&2; exit 1 ;; esac; done; done
	@echo "policy-check: $(words $(policy_objects)) policies need nothing but panic, mem* and each other"

compile_commands: | deps-build
	@tools/deps.sh bear
	@$(MAKE) clean >/dev/null && bear -- $(MAKE) kernel $(addprefix $(H)/,$(HOST_TESTS))

lint: deps-lint policy-check
	@clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h') && echo "lint: formatting is clean"

clean:
	rm -rf $(B)/x86_64* $(B)/aarch64* $(H) $(OUT) $(B)/machine
distclean:
	rm -rf $(B) compile_commands.json

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
