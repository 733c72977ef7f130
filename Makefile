# Vigil. `make help` lists the targets. Every target first installs packages that it needs and this
# machine lacks (tools/deps.sh, which reports them). A folder's files.mk lists its files and what is
# made of them. make calls itself only for the other architecture.
#
# Rules elsewhere: tools/fetched.mk (what is fetched), test/test.mk, test/bench/bench.mk,
# test/suites/suites.mk, tools/checks.mk (make lint).

ARCH     ?= x86_64
MACHINE  ?= openpower720
SMP      ?=
MEM      ?= 512M
BOOTARGS ?=
TELEMETRY ?=
DISK     ?=
SWAP     ?=
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
ifeq ($(filter x86_64 aarch64,$(ARCH)),)
$(error make: argument=ARCH reason=value: $(ARCH): expected x86_64 or aarch64)
endif

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n' $(1) $(2)
endif

# ---- Where things go -----------------------------------------------------------------------------
B      ?= build
O      := $(B)/$(ARCH)
NEWLIB := $(B)/newlib-$(ARCH)
LIBFDT := $(B)/libfdt
LWIP   := $(B)/lwip
GNUEFI := $(B)/gnu-efi-$(ARCH)
FONT   := $(B)/font
LIBPFM4 := $(B)/libpfm4
EVENTS := $(B)/events
H      := $(B)/host
F      := $(B)/fuzz
OUT    := $(B)/out
# The kind of file that QEMU's -kernel takes.
KERNEL_FILE_x86_64  := elf
KERNEL_FILE_aarch64 := img
KERNEL := $(O)/vigil.$(KERNEL_FILE_$(ARCH))

# ---- Packages ------------------------------------------------------------------------------------
CROSS_DEPS_aarch64 := gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu linux-libc-dev-arm64-cross
CROSS_DEPS_x86_64 := linux-libc-dev
DEPS_BUILD := gcc binutils libc6-dev libdw-dev newlib-source patch xz-utils $(CROSS_DEPS_$(ARCH))
QEMU_x86_64  := qemu-system-x86
QEMU_aarch64 := qemu-system-arm
DEPS_RUN   := $(QEMU_$(ARCH))>=1:10 gnuplot-nox
FIRMWARE_x86_64  := ovmf
FIRMWARE_aarch64 := qemu-efi-aarch64
DEPS_EFI   := mtools $(FIRMWARE_$(ARCH))
DEPS_TRACE := babeltrace2 python3
CROSS_DEPS_TEST_aarch64 := libc6-dev-arm64-cross
DEPS_TEST  := $(CROSS_DEPS_TEST_$(ARCH)) g++ libcmocka-dev check libpfm4-dev device-tree-compiler perl parallel linux-perf pkgconf $(DEPS_TRACE) $(DEPS_EFI)
DEPS_LINT  := clang-format
DEPS_FUZZ  := clang libclang-rt-dev
DEPS_FRAMES := tshark
DEPS_LOADS := curl wrk iperf3 redis-tools
DEPS_SOFTWARE := tcl make xz-utils
DEPS_LTP   := git autoconf automake m4 make pkgconf python3
# The page of watchd: its charts; its tests in a browser, by Prometheus, by Go's pprof.
DEPS_WEB := npm chromium prometheus golang-go

# ---- Sources -------------------------------------------------------------------------------------
# A folder's files.mk assigns its files to images; $(call files,NAMES) are files of that folder.
files = $(addprefix $(folder),$(1))
# Objects are linked in this order. Tests' come last, those nearest to the top folder first: others
# use their variables.
FILES_MK := $(sort $(shell find apps hpm kernel mm sched tools -name files.mk)) \
	$(shell find test -name files.mk -printf '%d %p\n' | sort | cut -d ' ' -f 2)
define read_files_mk
folder := $(dir $(1))
include $(1)
endef
# Files in folders named policy, and those in PURE_SRC, are pure: they need nothing but panic, mem*
# and other pure files.
LWIP_TESTS :=
KERNEL_SRC :=
KERNEL_SRC_x86_64 :=
KERNEL_SRC_aarch64 :=
PURE_SRC :=
PURE_SRC_aarch64 :=
POLICY_SRC := $(shell find hpm kernel mm sched -path '*/policy/*.c' | sort)
$(foreach f,$(FILES_MK),$(eval $(call read_files_mk,$(f))))
KERNEL_SRC += $(KERNEL_SRC_$(ARCH)) $(POLICY_SRC)
ALL_APPS := $(WORKLOADS) $(SPMD_APPS) $(TOOLS)

# ---- Tools and flags -----------------------------------------------------------------------------
CROSS_x86_64  :=
CROSS_aarch64 := aarch64-linux-gnu-
CC     := $(CROSS_$(ARCH))gcc
LD     := $(CROSS_$(ARCH))ld
NM     := $(CROSS_$(ARCH))nm
OBJCOPY := $(CROSS_$(ARCH))objcopy
AR     := $(CROSS_$(ARCH))ar
HOSTCC := gcc

WARN   := -Wall -Wextra -Werror
# Objects name sources relative to this folder, so they do not depend on its place.
HERE   := -ffile-prefix-map=$(CURDIR)=.
COMMON := -std=gnu11 -g $(HERE) -I. $(WARN) -MD -MP -fno-stack-protector -fno-pic -fno-pie \
	-ffunction-sections
ISA_x86_64        := -fcf-protection=none
ISA_aarch64       := -mstrict-align -DSTRICT_ALIGN -moutline-atomics
KERNEL_ISA_aarch64 := $(ISA_aarch64) -mgeneral-regs-only
KERNEL_ISA_x86_64 := $(ISA_x86_64) -mcmodel=kernel -mno-red-zone -mgeneral-regs-only
LIBFDT_INC    := -Ikernel/firmware/libfdt -I$(LIBFDT)
KERNEL_CFLAGS := $(COMMON) -O2 -ffreestanding -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls -Ikernel/arch/$(ARCH) -I$(O)/linux $(LIBFDT_INC) \
	$(KERNEL_ISA_$(ARCH)) -Wframe-larger-than=1024
# The same bits on every machine, and square roots without a call.
REAL          := -ffp-contract=off -fno-math-errno
APP_CFLAGS    := $(COMMON) -O2 -Iapps/libc/include -Iapps/libc/$(ARCH) -I$(O)/linux -nostdinc \
	-isystem "$$($(CC) -print-file-name=include)" -isystem $(NEWLIB)/include -D__DYNAMIC_REENT__ \
	-D_POSIX_TIMERS -D_POSIX_MONOTONIC_CLOCK -D_POSIX_CPUTIME -D_POSIX_THREAD_CPUTIME \
	-D_GNU_SOURCE $(REAL) $(ISA_$(ARCH))
HOST_CFLAGS   := -std=gnu11 -g -O1 -I. -Iapps -Itest/host/double/arch $(LIBFDT_INC) $(WARN) \
	$(REAL) -MMD -MP
SANITIZE      := -fsanitize=address,undefined -fno-sanitize-recover=all

# ---- Targets -------------------------------------------------------------------------------------
.PHONY: help all kernel machine run plot-breakdown plot-mrc vigil-replay compile_commands clean \
	distclean deps-build deps-efi deps-run deps-test deps-web deps-lint deps-fuzz deps-hpm

## make run               boot Vigil on the simulated machine: plain scheduling, then
##                        sharing-aware, and compare
## make plot-breakdown    draw over time where cycles went, which "hpmstat breakdown=1
##                        format=series" has printed in FILE=build/out/console.txt
## make plot-mrc          draw the miss-rate curves that "memstat format=series" has printed there,
##                        or of FILE=a trace's folder (docs/use/telemetry.md)
## make test              every test: host, simulated machine, booted kernel, on both architectures
##                        or the ARCH given (about twenty-five minutes on two CPUs)
## make test-long         the same, the soaks, and on every architecture the tests that make test
##                        runs on one
## make test-docs         the commands of README.md and docs/, except the marked ones: a quarter of
##                        an hour
## make test-page-ins     the longest soak alone: PAGE_INS=10000000 pages read from a disk and
##                        verified, from SEED=1 on; after an interruption it goes on
## make conformance       a suite of programs from elsewhere under Vigil and under Linux, compared:
##                        SUITE=posix|libc-test DIR=its-sources (docs/trust/conformance.md)
## make bench-ltp         the Linux Test Project's tests of system calls in Vigil, counted, with a line
##                        for each that fails; ONLY='glob,glob' (docs/trust/conformance.md)
## make bench-software    programs of Debian in Vigil, such as PostgreSQL, git, gcc and Python's own
##                        tests, each by a script; ONLY=REGEX (docs/trust/conformance.md)
## make bench             every benchmark but bench-mm, which takes hours; QUICK=1: one seed, small
##                        sizes
## make all               kernel, applications, simulated machine, UEFI image
## make lint              formatting, warnings, purity of policies, order of floors, names of
##                        arguments, form and links of the docs
## make floors            draw which folder of the kernel uses which: docs/floors.svg,
##                        docs/calls.txt
## make stack-check       how deep a kernel stack can get, path by path
## make fuzz              fuzz the parsers (FUZZ_SECONDS=60 each)
## make fuzz-calls        fuzz the system calls of the booted kernel: CALLS=10000000 on SMP=8 CPUs
## make install-policy    the policies as a library for other programs, below PREFIX=/usr/local
##                        (docs/extend/policies.md)
## make install-sdk       compiler's wrapper, C library and vigil.h for programs elsewhere, below
##                        PREFIX=/usr/local (docs/use/sdk.md)
## make instrumented    programs of APPS whose calls can be recorded, in build/ARCH/instrumented
##                        (docs/use/phases.md)
## make vigil-replay      build/vigil-replay: page traces through replacement policies on the host
## make compile_commands  compile_commands.json for editors
## make clean             remove build products (distclean: newlib and package lists, too)
##
## Variables: ARCH=x86_64  SMP=cpus  MEM=512M
##            MACHINE=openpower720|openpower-8chip|epyc-like|...|qemu (plain QEMU)
##            BOOTARGS='key=value ... -- app args ; app args' (BOOTARGS=help lists them)
##            APPS='names to bundle'
##            TELEMETRY=FILE (where BOOTARGS='telemetry=all -- ...' goes)
##            DISK=FILE (a disk image to attach, raw)  SWAP=64M (a scratch disk of that size)
##            WEB=1 (a live page of the run, at port 8080 or the port given)
##            DEBUG=1 (lock-order checks)  QUICK=1  V=1 (show commands)
help:
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

deps-build:
	@tools/deps.sh $(DEPS_BUILD)
deps-efi: deps-build
	@tools/deps.sh $(DEPS_EFI)
deps-run: deps-build
	@tools/deps.sh '$(firstword $(DEPS_RUN))' $(wordlist 2,9,$(DEPS_RUN))
deps-test: deps-run deps-web
	@tools/deps.sh $(DEPS_TEST) $(DEPS_FRAMES) $(DEPS_LOADS)
deps-web:
	@command -v npm >/dev/null || tools/deps.sh $(firstword $(DEPS_WEB))
	@tools/deps.sh $(wordlist 2,9,$(DEPS_WEB))
deps-hpm: deps-run
	@tools/deps.sh python3
deps-lint:
	@tools/deps.sh $(DEPS_LINT)
deps-fuzz: deps-test
	@tools/deps.sh $(DEPS_FUZZ)

include tools/fetched.mk

# ---- Linux's numbers -----------------------------------------------------------------------------
LINUX := $(O)/linux
$(LINUX)/linux_calls.h: tools/calls.sh kernel/proc/syscall/calls.def | deps-build
	@mkdir -p $(@D)
	$(Q)tools/calls.sh $(CC) kernel/proc/syscall/calls.def >$@
$(LINUX)/linux_errnos.h: tools/numbers.sh | deps-build
	@mkdir -p $(@D)
	$(Q)tools/numbers.sh $(CC) asm/errno.h E >$@
$(LINUX)/linux_signals.h: tools/numbers.sh | deps-build
	@mkdir -p $(@D)
	$(Q)tools/numbers.sh $(CC) asm/signal.h SIG >$@
$(LINUX)/linux_constants.h: tools/constants.sh apps/libc/linux.def | deps-build
	@mkdir -p $(@D)
	$(Q)tools/constants.sh $(CC) apps/libc/linux.def >$@
$(foreach d,fast debug stack,$(patsubst %,$(O)/$(d)/kernel/proc/syscall/%.o,\
	$(basename $(notdir $(wildcard kernel/proc/syscall/*.c))))): $(LINUX)/linux_calls.h

# ---- Kernel --------------------------------------------------------------------------------------
# Compiled in two flavours: fast, and debug with lock-order checks, which the tests boot.
kernel_objects = $(addprefix $(O)/$(1)/,$(addsuffix .o,$(basename $(KERNEL_SRC))) $(INSTANCE_COPIES))
pure_objects = $(addprefix $(O)/fast/,$(addsuffix .o,$(basename \
	$(POLICY_SRC) $(PURE_SRC) $(PURE_SRC_aarch64))))

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

# lwIP once more for each further instance.
define instances_rule
$(addprefix $(O)/$(1)/,$(INSTANCE_COPIES)) &: tools/instances.sh Makefile \
		$(addprefix $(O)/$(1)/,$(INSTANCE_SRC:.c=.o))
	$$(call say,COPY,$(O)/$(1)/kernel/net/lwip)
	$$(Q)LD=$(LD) NM=$(NM) OBJCOPY=$(OBJCOPY) tools/instances.sh $$(filter %.o,$$^) -- \
		$(addprefix $(O)/$(1)/,$(INSTANCE_COPIES))
endef
$(foreach f,fast debug,$(eval $(call instances_rule,$(f))))

# A program of Linux's interface, also for programs of packages (tools/launch/pack.py).
$(O)/beside: tools/beside.c tools/linux-machine.h kernel/proc/abi.h kernel/dev/model/machine.h \
		Makefile | deps-build
	@tools/deps.sh $(CROSS_DEPS_TEST_$(ARCH))
	$(call say,LINUX,$@)
	$(Q)$(CC) -std=gnu11 -O2 -I. $(WARN) -static -s $< -o $@

# ---- vDSO ----------------------------------------------------------------------------------------
# A shared object for programs (kernel/vdso/vdso.h), in the kernel's image. It must need nothing, not
# even relocation.
VDSO_CFLAGS := -std=gnu11 -g $(HERE) -I. $(WARN) -MD -MP -O2 -ffreestanding -fPIC -fno-builtin \
	-Ikernel/vdso/$(ARCH) -fno-stack-protector -fno-plt -fasynchronous-unwind-tables \
	-fno-optimize-sibling-calls $(ISA_$(ARCH)) -mgeneral-regs-only
vdso_objects := $(addprefix $(O)/vdso/,$(addsuffix .o,$(basename $(VDSO_SRC) $(VDSO_SRC_$(ARCH)))))
$(O)/vdso/%.o: %.c Makefile | deps-build
	$(call compile,$(VDSO_CFLAGS))
$(O)/vdso/%.o: %.S Makefile | deps-build
	$(call compile,$(VDSO_CFLAGS))
$(O)/vdso.so: $(vdso_objects) kernel/vdso/vdso.lds kernel/vdso/$(ARCH)/names.map tools/vdso_check.sh
	$(call say,LINK,$@)
	$(Q)$(LD) -shared -nostdlib --no-undefined -soname linux-vdso.so.1 --hash-style=both \
		--build-id=none --eh-frame-hdr -z max-page-size=4096 -z noexecstack --strip-debug \
		--version-script kernel/vdso/$(ARCH)/names.map -T kernel/vdso/vdso.lds $(vdso_objects) -o $@
	$(Q)tools/vdso_check.sh $@
$(O)/vdso.o: $(O)/vdso.so
	$(Q)$(call included,$<,vdso) $@

# ---- Applications --------------------------------------------------------------------------------
libc_objects = $(addprefix $(O)/,$(addsuffix .o,$(basename $(LIBC_SRC))))
$(O)/apps/%.o: apps/%.c Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
$(O)/apps/%.o: apps/%.S Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
$(O)/test/qemu/apps/%.o: test/qemu/apps/%.c Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
# Policies that programs use, too.
$(O)/hpm/%.o: hpm/%.c Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
$(O)/test/qemu/apps/%.o: test/qemu/apps/%.S Makefile | deps-build
	$(call compile,$(APP_CFLAGS))
common_objects = $(addprefix $(O)/,$(addsuffix .o,$(basename $(COMMON_SRC))))
app_objects = $(libc_objects) $(common_objects) $(foreach a,$(ALL_APPS) $(TEST_APPS),$($(a)_OBJ))

$(O)/apps/common.a: $(common_objects) $(FILES_MK)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
# link_app PROGRAM, OBJECTS
define link_app
$(call say,LINK,$(1))
@mkdir -p $(@D)
$(Q)$(LD) -nostdlib -static --gc-sections --build-id=none -z max-page-size=4096 \
	-z separate-code -z noexecstack -o $(1) $(2) \
	$(O)/apps/common.a --start-group $(NEWLIB)/lib/libc.a $(NEWLIB)/lib/libm.a \
	$$($(CC) -print-libgcc-file-name) --end-group
endef
define app_rule
$(1)_OBJ := $$(addprefix $(O)/,$$(addsuffix .o,$$(basename $$($(1)_SRC))))
$(O)/bin/$(1): $$($(1)_OBJ) $$(libc_objects) $(O)/apps/common.a $(NEWLIB)/lib/libc.a $(FILES_MK)
	$$(call link_app,$$@,$$($(1)_FIRST) $$(filter %.o,$$^))
endef
$(foreach a,$(ALL_APPS) $(TEST_APPS),$(eval $(call app_rule,$(a))))
$(app_objects): | $(NEWLIB)/lib/libc.a \
	$(addprefix $(LINUX)/linux_,calls.h constants.h errnos.h signals.h)

# Applications whose functions' calls are recorded (docs/use/phases.md), and the library for it: of
# newlib, and of the ordinary compiler for programs of Linux.
CALLS_SRC := apps/sdk/calls.c apps/sdk/calls_empty.c
CALLED_APPS := $(WORKLOADS) $(SPMD_APPS)
CALLS_CFLAGS := -std=gnu11 -g $(HERE) -O2 -I. -Iapps/libc/$(ARCH) $(WARN) -MD -MP -fPIC
$(O)/linux-calls/apps/sdk/calls.o: apps/sdk/calls.c Makefile | deps-build
	$(call compile,$(CALLS_CFLAGS))
$(O)/linux-calls/apps/sdk/calls_empty.o: apps/sdk/calls_empty.c Makefile | deps-build
	$(call compile,$(CALLS_CFLAGS) -finstrument-functions)
calls_objects = $(addprefix $(O)/$(1)/,$(CALLS_SRC:.c=.o))
$(O)/libvigil-calls.a: $(call calls_objects,linux-calls)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
# Loaded into programs of Linux by ./vigil c2c: it notes where they allocate memory.
$(O)/libvigil-allocations.so: apps/sdk/allocations.c apps/libc/allocation_log.c \
		apps/libc/allocation_log.h Makefile | deps-build
	$(call say,LINUX,$@)
	$(Q)$(CC) -std=gnu11 -O2 $(WARN) -I. -Iapps/libc/$(ARCH) -fPIC -fvisibility=hidden \
		-ftls-model=initial-exec -shared -pthread $(filter %.c,$^) -o $@
# The same for programs that are linked statically: a library, and what the linker is told.
allocations_linked_objects := $(addprefix $(O)/linux-calls/apps/,\
	sdk/allocations_linked.o sdk/allocations_linked_new.o libc/allocation_log.o)
$(allocations_linked_objects): $(O)/linux-calls/%.o: %.c Makefile | deps-build
	$(call compile,$(CALLS_CFLAGS))
$(O)/libvigil-allocations.a: $(allocations_linked_objects) $(O)/libvigil-allocations.link
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
$(O)/libvigil-allocations.link: apps/sdk/allocations_linked.c apps/sdk/allocations_linked_new.c
	@mkdir -p $(@D)
	$(Q)sed -n 's/^WRAPPED(\([^,]*\),.*/-Wl,--wrap=\1/p' $^ >$@
	$(Q)printf '%s\n' -Wl,--wrap=posix_memalign -Wl,-u,__wrap_malloc >>$@
# instrumented_rules FOLDER FLAGS, instrumented_rule FOLDER APPLICATION: in folder `selected`, which
# ./vigil phases -f makes anew, functions are not recorded in whose names one of CALLS_EXCLUDE is,
# names with commas between them; in `plain` none are.
define instrumented_rules
$(O)/$(1)/%.o: %.c Makefile | deps-build
	$$(call compile,$$(APP_CFLAGS) $(2))
$(O)/$(1)/%.o: %.S Makefile | deps-build
	$$(call compile,$$(APP_CFLAGS))
$(O)/$(1)/apps/sdk/calls.o: apps/sdk/calls.c Makefile | deps-build
	$$(call compile,$$(APP_CFLAGS))
$(O)/$(1)/apps/sdk/calls_empty.o: apps/sdk/calls_empty.c Makefile | deps-build
	$$(call compile,$$(APP_CFLAGS) -finstrument-functions)
endef
define instrumented_rule
$(2)_$(1) := $$(addprefix $(O)/$(1)/,$$(addsuffix .o,$$(basename $$($(2)_SRC)))) \
	$(call calls_objects,$(1))
$$($(2)_$(1)): | $(NEWLIB)/lib/libc.a \
	$(addprefix $(LINUX)/linux_,calls.h constants.h errnos.h signals.h)
$(O)/$(1)/$(2): $$($(2)_$(1)) $$(libc_objects) $(O)/apps/common.a $(NEWLIB)/lib/libc.a $(FILES_MK)
	$$(call link_app,$$@,$$($(2)_FIRST) $$(filter %.o,$$^))
endef
$(eval $(call instrumented_rules,instrumented,-finstrument-functions))
$(eval $(call instrumented_rules,plain,))
SELECTED_CFLAGS := -finstrument-functions \
	$(if $(CALLS_EXCLUDE),-finstrument-functions-exclude-function-list=$(CALLS_EXCLUDE))
$(eval $(call instrumented_rules,selected,$$(SELECTED_CFLAGS)))
$(foreach f,instrumented selected plain,$(foreach a,$(CALLED_APPS),\
	$(eval $(call instrumented_rule,$(f),$(a)))))
$(O)/instrumented/libvigil-calls.a: $(call calls_objects,instrumented)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
.PHONY: instrumented
instrumented: $(addprefix $(O)/instrumented/,$(filter $(CALLED_APPS),$(APPS)))

# ---- Policies on the host ------------------------------------------------------------------------
# Compiled for the host as they are in the kernel, as a library: vigil-replay and the simulations
# are linked with it.
fast_objects = $(addprefix $(B)/fast/,$(addsuffix .o,$(basename $(1))))
$(B)/fast/%.o: %.c Makefile | deps-build
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(filter-out -O1,$(HOST_CFLAGS)) -O2 -c $< -o $@
LIBRARY_SRC := $(POLICY_SRC) $(EVENTS_SRC_$(ARCH))
$(H)/libvigil-policy.names: FORCE
	@mkdir -p $(@D)
	@echo '$(LIBRARY_SRC)' | cmp -s - $@ || echo '$(LIBRARY_SRC)' >$@
$(H)/libvigil-policy.a: $(call fast_objects,$(LIBRARY_SRC)) $(H)/libvigil-policy.names
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
PREFIX ?= /usr/local
.PHONY: install-policy
install-policy: $(H)/libvigil-policy.a
	@tools/install_policy.sh $(PREFIX) $< $(LIBRARY_SRC)
# What programs are built with outside this tree, for ARCH.
.PHONY: install-sdk
install-sdk: $(libc_objects) $(NEWLIB)/lib/libc.a $(O)/libvigil-calls.a \
		$(O)/instrumented/libvigil-calls.a
	@tools/install_sdk.sh $(PREFIX) $(ARCH) $(CC) '$(ISA_$(ARCH))' $(NEWLIB) $(O) \
		$(libc_objects)
$(B)/vigil-replay: $(call fast_objects,$(REPLAY_SRC)) $(H)/libvigil-policy.a
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) $^ -o $@
vigil-replay: $(B)/vigil-replay | deps-run

# ---- Images --------------------------------------------------------------------------------------
# Tables from code to functions and lines: one for each program, in the archive's folder symbols/,
# and one for the kernel.
$(B)/symbols: tools/symbols.c kernel/lib/symbols.c kernel/lib/symbols.h kernel/proc/abi.h \
		| deps-build
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -g -O1 -I. $(WARN) $(filter %.c,$^) -ldw -lelf -o $@
$(O)/symbols/%: $(O)/bin/% $(B)/symbols
	@mkdir -p $(@D)
	$(Q)$(B)/symbols -d $< $@
# included FILE, NAME: assembles a section .NAME with the file's contents between NAME_start and
# NAME_end.
included = printf '%s\n' '.section .$(2),"a"' '.balign 4096' '.globl $(2)_start, $(2)_end' \
	'$(2)_start:' '.incbin "$(strip $(1))"' '$(2)_end:' '.section .note.GNU-stack,"",%progbits' | \
	$(CC) -x assembler -c - -o
# Programs travel without debugging information, which is five times the rest.
$(O)/bundled/%: $(O)/bin/%
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) --strip-debug $< $@
# link_kernel OUTPUT, OBJECTS. libgcc has the functions by which atomics are single instructions on
# CPUs that have them (-moutline-atomics).
link_kernel = $(LD) -nostdlib -static -z max-page-size=4096 -z noexecstack \
	--no-warn-rwx-segments -T linker.ld -o $(1) $(2) $$($(CC) -print-libgcc-file-name)
# image_rule NAME FLAVOUR APPLICATIONS OBJECTS: $(O)/NAME.elf, with the applications inside as one
# ustar archive, and NAME.efi, the UEFI loader with that image inside. The kernel is linked twice:
# the table of symbols of the first link becomes part of the second.
define image_rule
$(O)/$(1).names: FORCE
	@mkdir -p $$(@D)
	@echo '$(2) $(3)' | cmp -s - $$@ || echo '$(2) $(3)' >$$@
$(1)_TABLES := $(addprefix symbols/,$(filter-out $(BROKEN_APPS),$(3)))
$(O)/$(1).tar: $(addprefix $(O)/bundled/,$(3)) $$(addprefix $(O)/,$$($(1)_TABLES)) $(O)/$(1).names
	$$(Q)tar --format=ustar --owner=0 --group=0 --mtime=@0 -cf $$@ \
		-C $(O)/bundled $(3) -C .. $$($(1)_TABLES)
$(O)/$(1).bundle.o: $(O)/$(1).tar
	$$(Q)$$(call included,$$<,bundle) $$@
$(O)/$(1).pass1: $(4) $(O)/$(1).bundle.o $(O)/vdso.o $(O)/symbols0.o linker.ld $(FILES_MK)
	$$(Q)$$(call link_kernel,$$@,$$(filter %.o,$$^))
$(O)/$(1).symbols: $(O)/$(1).pass1 $(B)/symbols
	$$(Q)$(B)/symbols -k $$< $$@ image_start text_start text_end
$(O)/$(1).symbols.o: $(O)/$(1).symbols
	$$(Q)$$(call included,$$<,symbols) $$@
$(O)/$(1).elf: $(4) $(O)/$(1).bundle.o $(O)/vdso.o $(O)/$(1).symbols.o linker.ld $(FILES_MK)
	$$(call say,LINK,$$@)
	$$(Q)$$(call link_kernel,$$@,$$(filter %.o,$$^))
$(O)/$(1).img: $(O)/$(1).elf
	$$(Q)$(OBJCOPY) -O binary $$< $$@
$(O)/$(1).efi: $(O)/$(1).elf $(GNUEFI)/usr/lib/libefi.a tools/efi.sh $(EFI_SRC) | deps-efi
	$$(call say,EFI,$$@)
	$$(Q)tools/efi.sh $(ARCH) $(CC) $(GNUEFI) $$< $$@
endef
FLAVOUR := $(if $(filter 1,$(DEBUG)),debug,fast)
$(eval $(call image_rule,vigil,$(FLAVOUR),$(APPS),$(call kernel_objects,$(FLAVOUR))))
$(O)/symbols0.o: Makefile | deps-build
	@mkdir -p $(@D) && : >$(O)/nothing
	$(Q)$(call included,$(O)/nothing,symbols) $@
kernel: $(KERNEL)
.PHONY: FORCE

# ---- The simulated multiprocessor ----------------------------------------------------------------
# A plug-in of QEMU, compiled for the host.
machine_objects = $(addprefix $(B)/machine/,$(addsuffix .o,$(basename $(MACHINE_SRC))))
$(B)/machine/%.o: %.c Makefile | deps-build
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -g -O2 -flto -fPIC -fno-semantic-interposition \
		-fvisibility=hidden -I. $(WARN) -MMD -MP -c $< -o $@
$(B)/machine/machine.so: $(machine_objects) $(FILES_MK)
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) -O2 -flto=auto -fPIC -shared $(filter %.o,$^) -o $@.new && mv $@.new $@
$(B)/machine/topologies: $(addprefix $(B)/machine/test/machine/,topologies.o topology.o)
	$(Q)$(HOSTCC) $^ -o $@
machine: $(B)/machine/machine.so $(B)/machine/topologies

# ---- Running -------------------------------------------------------------------------------------
# Quotes any text as one word for the shell.
shell_word = '$(subst ','\'',$(1))'
run: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) tools/run.sh kernel=$(KERNEL) machine=$(MACHINE) smp=$(SMP) mem=$(MEM) out=$(OUT) \
		bootargs=$(call shell_word,$(BOOTARGS)) \
		$(if $(TELEMETRY),telemetry=$(call shell_word,$(TELEMETRY))) \
		$(if $(DISK),drive=$(call shell_word,$(DISK))) $(if $(SWAP),swap=$(SWAP)) \
		$(if $(WEB),web=$(WEB))

# Draws where cycles went over time, from a console on which hpmstat has printed it.
FILE ?= $(OUT)/console.txt
plot-breakdown: | deps-run
	@mkdir -p $(OUT)
	@tools/plot_breakdown.sh $(FILE) $(OUT)/breakdown

# Draws miss-rate curves, from a console on which memstat has printed them, or from a trace.
plot-mrc: | deps-run
	@mkdir -p $(OUT)
	@tools/plot_mrc.sh $(FILE) $(OUT)/mrc

all: $(KERNEL) $(O)/vigil.efi machine

include test/test.mk test/bench/bench.mk test/suites/suites.mk tools/checks.mk

compile_commands: | deps-build
	@tools/deps.sh bear
	@$(MAKE) clean >/dev/null && bear -- $(MAKE) kernel $(addprefix $(H)/,$(HOST_TESTS))

clean:
	rm -rf $(B)/x86_64* $(B)/aarch64* $(H) $(F) $(OUT) $(B)/machine
distclean:
	rm -rf $(B) compile_commands.json

-include $(shell find $(B) -path $(B)/run -prune -o -name '*.d' -type f -print 2>/dev/null)
