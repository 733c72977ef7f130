# Vigil. `make help` lists the targets. Every target first installs packages that it needs and this
# machine lacks (tools/deps.sh, which reports them). A folder's files.mk lists its files and what is
# made of them. make calls itself only for the other architecture.

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
$(error ARCH=$(ARCH): expected x86_64 or aarch64)
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
CROSS_DEPS_aarch64 := gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu
DEPS_BUILD := gcc binutils libc6-dev libdw-dev newlib-source xz-utils $(CROSS_DEPS_$(ARCH))
QEMU_x86_64  := qemu-system-x86
QEMU_aarch64 := qemu-system-arm
DEPS_RUN   := $(QEMU_$(ARCH))>=1:10 gnuplot-nox
FIRMWARE_x86_64  := ovmf
FIRMWARE_aarch64 := qemu-efi-aarch64
DEPS_EFI   := mtools $(FIRMWARE_$(ARCH))
DEPS_TRACE := babeltrace2 python3
DEPS_TEST  := libcmocka-dev libpfm4-dev device-tree-compiler perl pkgconf $(DEPS_TRACE) $(DEPS_EFI)
DEPS_LINT  := clang-format
DEPS_FUZZ  := clang libclang-rt-dev

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
	-fno-optimize-sibling-calls -Ikernel/arch/$(ARCH) $(LIBFDT_INC) \
	$(KERNEL_ISA_$(ARCH)) -Wframe-larger-than=1024
# The same bits on every machine, and square roots without a call.
REAL          := -ffp-contract=off -fno-math-errno
APP_CFLAGS    := $(COMMON) -O2 -Iapps/libc/include -Iapps/libc/$(ARCH) -nostdinc \
	-isystem "$$($(CC) -print-file-name=include)" -isystem $(NEWLIB)/include -D__DYNAMIC_REENT__ \
	-D_POSIX_TIMERS -D_POSIX_MONOTONIC_CLOCK -D_POSIX_CPUTIME -D_POSIX_THREAD_CPUTIME \
	-D_GNU_SOURCE $(REAL) $(ISA_$(ARCH))
HOST_CFLAGS   := -std=gnu11 -g -O1 -I. -Iapps -Itest/host/double/arch $(LIBFDT_INC) $(WARN) \
	$(REAL) -MMD -MP
SANITIZE      := -fsanitize=address,undefined -fno-sanitize-recover=all

# ---- Targets -------------------------------------------------------------------------------------
.PHONY: help all kernel machine run plot-breakdown plot-mrc vigil-replay compile_commands \
	bench bench-sharing bench-hpm bench-programs bench-mm results \
	test test-host test-tools test-machine test-qemu test-long test-page-ins fuzz \
	lint policy-check stack-check clean distclean \
	deps-build deps-efi deps-run deps-test deps-lint deps-fuzz

## make run               boot Vigil on the simulated machine: plain scheduling, then
##                        sharing-aware, and compare
## make plot-breakdown    draw over time where cycles went, which "hpmstat breakdown=1
##                        format=series" has printed in FILE=build/out/console.txt
## make plot-mrc          draw the miss-rate curves that "memstat format=series" has printed there,
##                        or of FILE=a trace's folder (docs/use/telemetry.md)
## make test              every test: host, simulated machine, booted kernel, on both architectures
##                        or the ARCH given (ten to twenty minutes on two CPUs)
## make test-long         the same, the soaks, and on every architecture the tests that make test
##                        runs on one
## make test-docs         the commands of README.md and docs/, except the marked ones: half an hour
## make test-page-ins     the longest soak alone: PAGE_INS=10000000 pages read from a disk and
##                        verified, from SEED=1 on; after an interruption it goes on
## make bench             every benchmark but bench-mm, which takes hours; QUICK=1: one seed, small
##                        sizes
## make all               kernel, applications, simulated machine, UEFI image
## make lint              formatting, warnings, purity of policies, order of floors, names of
##                        arguments, form and links of the docs
## make floors            draw which folder of the kernel uses which: docs/floors.svg,
##                        docs/calls.txt
## make stack-check       how deep a kernel stack can get, path by path
## make fuzz              fuzz the parsers (FUZZ_SECONDS=60 each)
## make install-policy    the policies as a library for other programs, below PREFIX=/usr/local
##                        (docs/extend/policies.md)
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
.PHONY: deps-hpm
deps-hpm: deps-run
	@tools/deps.sh python3
deps-lint:
	@tools/deps.sh $(DEPS_LINT)
deps-fuzz: deps-test
	@tools/deps.sh $(DEPS_FUZZ)

# ---- newlib --------------------------------------------------------------------------------------
# Another recipe, compiler or package makes it anew.
$(NEWLIB)/recipe: FORCE | deps-build
	@mkdir -p $(@D)
	@recipe=$$(cat tools/newlib.sh; $(CC) --version | head -n 1; ls /usr/src/newlib); \
		[ "$$recipe" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$recipe" >$@
$(NEWLIB)/lib/libc.a: $(NEWLIB)/recipe | deps-build
	@tools/newlib.sh $(ARCH) $(CC) $(NEWLIB)
	@touch $@

# ---- libfdt --------------------------------------------------------------------------------------
$(LIBFDT)/libfdt.h: tools/libfdt.sh tools/source.sh tools/apt.sh | deps-build
	@tools/libfdt.sh $(LIBFDT)
	@touch $@
$(LIBFDT_SRC): $(LIBFDT)/libfdt.h ;
# Objects that include it need it fetched first.
devtree_objects = $(addprefix $(1)/,$(addsuffix .o,$(basename $(DEVTREE_SRC))))
$(foreach d,$(O)/fast $(O)/debug $(H) $(F),$(call devtree_objects,$(d))): | $(LIBFDT)/libfdt.h

# ---- Font ----------------------------------------------------------------------------------------
FONT_FILE := $(FONT)/package/usr/share/consolefonts/Lat15-Fixed16.psf.gz
$(FONT_FILE): tools/foreign.sh | deps-build
	@tools/foreign.sh console-setup-linux all $(FONT)/package
	@touch $@
$(FONT_SRC): $(FONT_FILE) tools/font.sh
	$(call say,FONT,$@)
	$(Q)tools/font.sh $< $@

# ---- Event tables --------------------------------------------------------------------------------
$(LIBPFM4)/found.h: tools/libpfm4.sh tools/source.sh tools/apt.sh | deps-build
	@tools/libpfm4.sh $(LIBPFM4)
	@touch $@
# Includes the readers of libpfm4's tables if these could be fetched.
events_tool = $(HOSTCC) -std=gnu11 -g -O1 -I. -isystem $(LIBPFM4) $(WARN) $(EVENTS_TOOL_SRC) $(1) \
	-o $@
EVENTS_TOOL_H := $(wildcard tools/events/*.h) hpm/events/table.h hpm/events/event.h \
	kernel/dev/model/machine.h
$(EVENTS)/generate: $(EVENTS_TOOL_SRC) $(EVENTS_TOOL_LIBPFM4) $(EVENTS_TOOL_WITHOUT) \
		$(EVENTS_TOOL_H) $(LIBPFM4)/found.h
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(call events_tool,$$(test -s $(LIBPFM4)/version && \
		echo $(EVENTS_TOOL_LIBPFM4) || echo $(EVENTS_TOOL_WITHOUT)))
$(EVENTS)/without/generate: $(EVENTS_TOOL_SRC) $(EVENTS_TOOL_WITHOUT) $(EVENTS_TOOL_H) | deps-build
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(call events_tool,$(EVENTS_TOOL_WITHOUT))
$(EVENTS)/x86_64.c $(EVENTS)/aarch64.c: $(EVENTS)/%.c: $(EVENTS)/generate
	$(call say,EVENTS,$@)
	$(Q)$< $* "$$(cat $(LIBPFM4)/version)" >$@
$(EVENTS)/without/x86_64.c: $(EVENTS)/without/generate
	$(call say,EVENTS,$@)
	$(Q)$< x86_64 '' >$@

# ---- Kernel --------------------------------------------------------------------------------------
# Compiled in two flavours: fast, and debug with lock-order checks, which the tests boot.
kernel_objects = $(addprefix $(O)/$(1)/,$(addsuffix .o,$(basename $(KERNEL_SRC))))
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
define app_rule
$(1)_OBJ := $$(addprefix $(O)/,$$(addsuffix .o,$$(basename $$($(1)_SRC))))
$(O)/bin/$(1): $$($(1)_OBJ) $$(libc_objects) $(O)/apps/common.a $(NEWLIB)/lib/libc.a $(FILES_MK)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(LD) -nostdlib -static --gc-sections --build-id=none -z max-page-size=4096 \
		-z separate-code -z noexecstack -o $$@ $$($(1)_FIRST) $$(filter %.o,$$^) \
		$(O)/apps/common.a --start-group $(NEWLIB)/lib/libc.a $(NEWLIB)/lib/libm.a \
		$$$$($(CC) -print-libgcc-file-name) --end-group
endef
$(foreach a,$(ALL_APPS) $(TEST_APPS),$(eval $(call app_rule,$(a))))
$(app_objects): | $(NEWLIB)/lib/libc.a

# The program strings with glibc's string functions for AArch64 in place of the C library's, for
# comparison (test/bench/strings.sh): the variants (glibc's multiarch/*.c) that glibc chooses on the
# simulated machine's Neoverse N1.
GLIBC := $(B)/glibc-aarch64
GLIBC_LIB := $(GLIBC)/usr/aarch64-linux-gnu/lib/libc.a
GLIBC_PARTS := memcpy_advsimd memset_generic memcmp memchr_generic strlen_asimd strnlen strchr \
	strrchr strcpy strncpy strcat strcmp strncmp
GLIBC_NAMES := __memcpy_simd=memcpy __memmove_simd=memmove __memset_generic=memset \
	__strlen_asimd=strlen
$(GLIBC_LIB): tools/foreign.sh | deps-build
	@tools/foreign.sh libc6-dev-arm64-cross all $(GLIBC)
	@touch $@
$(GLIBC)/strings.o: $(GLIBC_LIB) Makefile
	$(Q)rm -rf $(GLIBC)/parts && mkdir $(GLIBC)/parts && cd $(GLIBC)/parts && \
		$(AR) x ../$(GLIBC_LIB:$(GLIBC)/%=%) $(GLIBC_PARTS:%=%.o)
	$(Q)$(LD) -r -o $@.all $(GLIBC_PARTS:%=$(GLIBC)/parts/%.o) && \
		$(OBJCOPY) $(GLIBC_NAMES:%=--redefine-sym %) $@.all $@
ifeq ($(ARCH),aarch64)
strings-glibc_SRC := $(strings_SRC)
strings-glibc_FIRST := $(GLIBC)/strings.o -z muldefs
$(eval $(call app_rule,strings-glibc))
$(O)/bin/strings-glibc: $(GLIBC)/strings.o
endif

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
$(B)/vigil-replay: $(call fast_objects,$(REPLAY_SRC)) $(H)/libvigil-policy.a
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) $^ -o $@
vigil-replay: $(B)/vigil-replay | deps-run

# ---- Images --------------------------------------------------------------------------------------
# gnu-efi's package has the files of one architecture.
DEBIAN_x86_64  := amd64
DEBIAN_aarch64 := arm64
$(GNUEFI)/usr/lib/libefi.a: tools/foreign.sh | deps-build
	@tools/foreign.sh gnu-efi $(DEBIAN_$(ARCH)) $(GNUEFI)
	@touch $@
# Tables from code to functions and lines: one for each program, in the archive's folder symbols/,
# and one for the kernel.
$(B)/symbols: tools/symbols.c kernel/lib/symbols.c kernel/lib/symbols.h kernel/proc/abi.h \
		| deps-build
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu11 -g -O1 -I. $(WARN) $(filter %.c,$^) -ldw -lelf -o $@
$(O)/symbols/%: $(O)/bin/% $(B)/symbols
	@mkdir -p $(@D)
	$(Q)$(B)/symbols $< $@
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
$(O)/$(1).pass1: $(4) $(O)/$(1).bundle.o $(O)/symbols0.o linker.ld $(FILES_MK)
	$$(Q)$$(call link_kernel,$$@,$$(filter %.o,$$^))
$(O)/$(1).symbols: $(O)/$(1).pass1 $(B)/symbols
	$$(Q)$(B)/symbols $$< $$@ image_start text_start text_end
$(O)/$(1).symbols.o: $(O)/$(1).symbols
	$$(Q)$$(call included,$$<,symbols) $$@
$(O)/$(1).elf: $(4) $(O)/$(1).bundle.o $(O)/$(1).symbols.o linker.ld $(FILES_MK)
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
$(O)/bundled/cut-short: $(O)/bundled/hello
	$(Q)head -c 5000 $< >$@
$(O)/bundled/no-program: README.md
	@mkdir -p $(@D)
	$(Q)cp $< $@
TESTED_APPS := $(ALL_APPS) $(TEST_APPS) $(BROKEN_APPS)
$(eval $(call image_rule,vigil-test,debug,$(TESTED_APPS),$(call kernel_objects,debug)))
ifeq ($(ARCH),aarch64)
$(eval $(call image_rule,vigil-glibc,debug,strings-glibc,$(call kernel_objects,debug)))
endif
suite_objects = $(filter-out %/kernel/run.o,$(call kernel_objects,debug)) \
	$(addprefix $(O)/debug/,$(addsuffix .o,$(basename $(SUITE_SRC))))
$(eval $(call image_rule,vigil-suites,debug,hello,$(suite_objects)))
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

MACHINE_GUEST_RAM_x86_64  := 0
MACHINE_GUEST_RAM_aarch64 := 0x40000000
MACHINE_GUEST_ISA_x86_64  := $(KERNEL_ISA_x86_64)
MACHINE_GUEST_ISA_aarch64 := -mgeneral-regs-only -mstrict-align -DSTRICT_ALIGN -mno-outline-atomics
$(B)/machine/guest-$(ARCH).elf: $(MACHINE_GUEST_SRC) kernel/dev/model/machine.h \
		$(wildcard $(addprefix test/machine/guest/,*.h *.ld $(ARCH)/*.h)) | deps-build
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -g -O2 -I. -Itest/machine/guest/$(ARCH) $(WARN) -ffreestanding \
		-fno-pic -no-pie -fno-stack-protector $(MACHINE_GUEST_ISA_$(ARCH)) -nostdlib -static \
		-Wl,--build-id=none,-z,noexecstack,-z,max-page-size=4096,--no-warn-rwx-segments \
		-Wl,--defsym=RAM=$(MACHINE_GUEST_RAM_$(ARCH)) \
		-T test/machine/guest/guest.ld $(MACHINE_GUEST_SRC) -o $@

# ---- Running -------------------------------------------------------------------------------------
# Quotes any text as one word for the shell.
shell_word = '$(subst ','\'',$(1))'
run: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) tools/run.sh kernel=$(KERNEL) machine=$(MACHINE) smp=$(SMP) mem=$(MEM) out=$(OUT) \
		bootargs=$(call shell_word,$(BOOTARGS)) \
		$(if $(TELEMETRY),telemetry=$(call shell_word,$(TELEMETRY))) \
		$(if $(DISK),drive=$(call shell_word,$(DISK))) $(if $(SWAP),swap=$(SWAP))
# Benchmarks run on a simulated machine.
SIMULATED := machine=$(if $(filter qemu,$(MACHINE)),openpower720,$(MACHINE)) quick=$(QUICK)
bench-sharing: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) test/bench/sharing.sh kernel=$(KERNEL) $(SIMULATED) \
		$(if $(MS),ms=$(MS)) $(if $(SEEDS),seeds=$(SEEDS))
bench-hpm: $(KERNEL) machine | deps-run deps-hpm
	@ARCH=$(ARCH) test/bench/sampling.sh kernel=$(KERNEL) $(SIMULATED)
	@ARCH=$(ARCH) test/bench/hpm.sh kernel=$(KERNEL) $(SIMULATED) $(if $(SEEDS),seeds=$(SEEDS)) \
		bias=$(if $(filter 1,$(QUICK)),build/bench/sampling-quick.txt,docs/results/sampling-$(ARCH).txt)

bench-programs: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) test/bench/programs.sh kernel=$(KERNEL) $(SIMULATED) \
		$(if $(MB),mb=$(MB)) $(if $(ONLY),only='$(ONLY)')

# Draws where cycles went over time, from a console on which hpmstat has printed it.
FILE ?= $(OUT)/console.txt
plot-breakdown: | deps-run
	@mkdir -p $(OUT)
	@tools/plot_breakdown.sh $(FILE) $(OUT)/breakdown

# Draws miss-rate curves, from a console on which memstat has printed them, or from a trace.
plot-mrc: | deps-run
	@mkdir -p $(OUT)
	@tools/plot_mrc.sh $(FILE) $(OUT)/mrc

SIMS_MM := $(addprefix $(H)/,sim_mrc sim_regret sim_prefetch)
bench-mm: $(KERNEL) machine $(B)/vigil-replay $(SIMS_MM) | deps-run deps-hpm
	@test/bench/mm.py kernel=$(KERNEL) arch=$(ARCH) $(SIMULATED) $(if $(SMALL),small=$(SMALL)) \
		$(if $(SEEDS),seeds=$(SEEDS)) $(if $(PARTS),parts=$(PARTS)) $(if $(ONLY),apps=$(ONLY)) \
		$(if $(PERCENTS),percents=$(PERCENTS)) $(if $(POLICIES),policies=$(POLICIES)) \
		$(if $(GOALS),goals=$(GOALS)) $(if $(ROUNDS),rounds=$(ROUNDS)) \
		$(if $(RESUME),resume=$(RESUME)) $(if $(RESULTS),results=$(RESULTS))

# keep NAME: keeps the output of a whole run of a benchmark on the host as docs/results/NAME.txt.
keep = $(if $(filter 1,$(QUICK))$(TRACE)$(TRIALS)$(SHAPE)$(PROGRAM),,\
	test/bench/keep.sh docs/results/$(1).txt)

# Makes all of docs/results anew, part by part (PARTS='mux hpm-x86_64'; PARTS=list names them), in
# hours. After an interruption it goes on with the next part.
results:
	@test/bench/results.sh $(if $(PARTS),parts='$(PARTS)')

bench: bench-sharing bench-hpm bench-programs $(SIMULATIONS:sim_%=bench-%)
all: $(KERNEL) $(O)/vigil.efi machine

# ---- Host tests ----------------------------------------------------------------------------------
# prove NAME, ENVIRONMENT: runs the test files that follow, with prove's options, one on each CPU.
# Notes the time of each under NAME, for test/slowest.sh.
prove = mkdir -p $(B)/times && rm -f $(B)/times/$(1).yml && \
	$(2) prove --timer -j $(shell nproc) --state=save --statefile=$(B)/times/$(1).yml
# Objects for the host, with the address and undefined-behaviour sanitizers.
$(H)/%.o: %.c Makefile | deps-test
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $(SANITIZE) -c $< -o $@
# Makes a device tree an array NAME_dt_blob_start.
$(H)/%.o: %.dts Makefile | deps-test
	$(call say,DTC,$<)
	@mkdir -p $(@D)
	$(Q)dtc -q -I dts -O asm $< | $(HOSTCC) -x assembler -Wa,--noexecstack -c - -o $@
	$(Q)objcopy --prefix-symbols=$(notdir $*)_ $@
# The policies' library, sanitized.
$(H)/policy.a: $(addprefix $(H)/,$(addsuffix .o,$(basename $(POLICY_SRC)))) $(FILES_MK)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
HOST_TEST_MAINS := $(wildcard test/host/*/test_*.c test/machine/test_*.c)
HOST_TESTS := $(notdir $(basename $(HOST_TEST_MAINS)))
define host_test_rule
$(1)_MAIN := $$(filter %/$(1).c,$(HOST_TEST_MAINS))
$(H)/$(1): $$(addprefix $(H)/,$$(addsuffix .o,$$(basename $$($(1)_MAIN) $$($(1)_SRC)))) \
		$(H)/policy.a
	$$(call say,HOSTLD,$$@)
	$$(Q)$(HOSTCC) $(SANITIZE) $$^ -lcmocka -lm $$($(1)_LIBS) -o $$@
endef
$(foreach t,$(HOST_TESTS),$(eval $(call host_test_rule,$(t))))

# The longest first. The tables may be from another version of libpfm4 than the library.
SLOW_HOST_TESTS := test_replace_chooser test_replace_queues test_paging test_prefetch_chooser \
	test_programs test_devtree
test-host: $(addprefix $(H)/,$(SLOW_HOST_TESTS) $(filter-out $(SLOW_HOST_TESTS),$(HOST_TESTS)))
	@library=$$(dpkg-query -W -f '$${Version}' libpfm4-dev) && \
		export LIBPFM4_TABLES=$$(cat $(LIBPFM4)/version) LIBPFM4_LIBRARY=$${library%-*} && \
		$(call prove,host,CMOCKA_MESSAGE_OUTPUT=TAP) --exec '' $^

# ---- Simulations on the host ---------------------------------------------------------------------
# test/sim/sim_NAME.c is a benchmark of its own, `make bench-NAME`. Its first lines describe it, and
# name the variables it takes from the environment: TRIALS, SHAPE, SEED, PROGRAM or TRACE.
define simulation_rule
$(H)/$(1): $$(call fast_objects,test/sim/$(1).c $$($(1)_SRC)) $(H)/libvigil-policy.a
	$$(call say,HOSTLD,$$@)
	$$(Q)$(HOSTCC) $$^ -lm -o $$@
.PHONY: $(1:sim_%=bench-%)
$(1:sim_%=bench-%): $(H)/$(1)
	@QUICK=$(QUICK) $$(call keep,$(1:sim_%=%)) $$<
endef
$(foreach s,$(SIMULATIONS),$(eval $(call simulation_rule,$(s))))

# ---- Fuzzers -------------------------------------------------------------------------------------
FUZZ_SECONDS ?= $(if $(filter 1,$(QUICK)),5,60)
$(F)/fuzz_devtree: | $(B)/corpus/fuzz_devtree/virt.dtb $(B)/corpus/fuzz_devtree/board.dtb
$(B)/corpus/fuzz_devtree/%.dtb: test/host/dev/%.dts | deps-test
	@mkdir -p $(@D)
	$(Q)dtc -q -I dts -O dtb $< -o $@

$(F)/%.o: %.c Makefile | deps-fuzz
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)clang -std=gnu11 -g -O1 -I. $(LIBFDT_INC) -MMD -MP -fsanitize=fuzzer $(SANITIZE) -c $< -o $@
define fuzzer_rule
$(F)/$(1): $$(addprefix $(F)/,$$(addsuffix .o,$$(basename \
		test/fuzz/$(1).c $$($(1)_SRC) $(POLICY_SRC)))) $(FILES_MK)
	$$(call say,FUZZLD,$$@)
	$$(Q)clang -fsanitize=fuzzer $(SANITIZE) $$(filter %.o,$$^) -o $$@
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer_rule,$(f))))
fuzz: $(addprefix $(F)/,$(FUZZERS))
	@for f in $^; do mkdir -p $(B)/corpus/$${f##*/}; echo "fuzz: $$f for $(FUZZ_SECONDS) s"; \
		$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 \
		-artifact_prefix=$(B)/corpus/ $(B)/corpus/$${f##*/} \
		|| exit 1; done; echo "fuzz: nothing found"

# ---- Tests in the booted kernel ------------------------------------------------------------------
# All tests, the longest first. One runs on each CPU, as QEMU's vCPUs take turns on one. Tests named
# *.long.t are for test-long.
SLOW_TESTS := $(patsubst %,test/qemu/%.t,hpmrec paging policies hpmstat sharing block divide \
	framebuffer telemetry memory uefi stress sched programs libc track selftest hpm)
QEMU_TESTS := $(SLOW_TESTS) $(filter-out $(SLOW_TESTS) %.long.t,$(sort $(wildcard test/qemu/*.t)))
TEST_IMAGES := $(foreach i,vigil vigil-test vigil-suites,\
	$(O)/$(i).$(KERNEL_FILE_$(ARCH)) $(O)/$(i).efi)
test-qemu: $(TEST_IMAGES) machine | deps-test
	@$(call prove,$(ARCH),ARCH=$(ARCH) B=$(B)) $(QEMU_TESTS)

test-machine: $(B)/machine/guest-$(ARCH).elf machine | deps-test
	@$(call prove,$(ARCH)-machine,ARCH=$(ARCH)) test/machine/machine.t

# Both architectures, or the one given.
TEST_ARCHS := $(if $(filter file,$(origin ARCH)),x86_64 aarch64,$(ARCH))
# Tools of the host.
test-tools: $(B)/vigil-replay $(H)/libvigil-policy.a $(KERNEL) machine \
		$(O)/vigil-test.$(KERNEL_FILE_$(ARCH)) | deps-test
	@$(call prove,tools,env -u MAKEFLAGS -u MAKELEVEL ARCH=$(ARCH) B=$(B)) $(wildcard test/tools/*.t)
test: test-host
	@failed=; for arch in $(TEST_ARCHS); do \
		$(MAKE) -k --no-print-directory ARCH=$$arch test-machine test-qemu policy-check stack-check || \
		failed="$$failed $$arch"; done; \
		$(MAKE) --no-print-directory ARCH=$(firstword $(TEST_ARCHS)) test-tools || \
		failed="$$failed tools"; \
		test/slowest.sh $(B)/times; \
		[ -z "$$failed" ] || { echo "test: failed on$$failed" >&2; exit 1; }
# Commands that the docs show, page by page. They share $(OUT), so one runs at a time.
DOCS := README.md $(shell find docs -name '*.md' -not -path 'docs/results/*' | sort)
.PHONY: test-docs
test-docs: $(KERNEL) machine $(B)/vigil-replay | deps-test
	@$(call prove,docs) -j 1 --exec test/docs/commands.sh $(DOCS)
# Reads pages in and checks them, by seeds from SEED on. After an interruption it goes on there.
PAGE_INS ?= 10000000
SEED     ?= 1
test-page-ins: $(foreach arch,$(TEST_ARCHS),test-page-ins-$(arch))
test-page-ins-%: | deps-test
	@$(MAKE) --no-print-directory ARCH=$* $(B)/$*/vigil-test.$(KERNEL_FILE_$*)
	@ARCH=$* B=$(B) PAGE_INS=$(PAGE_INS) SEED=$(SEED) prove --timer --verbose test/qemu/page_ins.sh
test-long: test
	@LONG=1 $(H)/test_replace_chooser
	@export B=$(B); for arch in $(TEST_ARCHS); do \
		ARCH=$$arch ROUNDS=1000 prove --timer test/qemu/stress.t $(wildcard test/qemu/*.long.t) || \
		exit 1; [ $$arch = x86_64 ] || ARCH=$$arch EVERYWHERE=1 \
		prove --timer $$(grep -l 'once;\|once ||' test/qemu/*.t) || exit 1; done
	@$(MAKE) --no-print-directory test-page-ins $(if $(filter file,$(origin ARCH)),,ARCH=$(ARCH))
	@$(MAKE) --no-print-directory test-docs

# Policies are pure. CALLS_OUT: members of their headers that are pointers to functions, but not in
# their own tables (struct *_ops, *_policy).
POLICY_H := $(shell find hpm kernel mm sched -path '*/policy/*.h' | sort)
CALLS_OUT := demand_epoch.misses prefetch_pages.node_of prefetch_pages.is_out
policy-check: $(pure_objects)
	@tools/policy_check.sh $(NM) '$(CALLS_OUT)' $(POLICY_H) -- $^

# The graph of the kernel's folders, of both instruction sets, by docs/floors.txt.
$(O)/fast/objects: $(call kernel_objects,fast)
	@echo $^ >$@
floors_of = tools/floors.py docs/floors.txt \
	$(foreach a,x86_64 aarch64,$(CROSS_$(a))nm=$(B)/$(a)/fast/objects)
.PHONY: floors floors-check floors-objects
floors-objects: | deps-hpm
	@for arch in x86_64 aarch64; do \
		$(MAKE) --no-print-directory ARCH=$$arch $(B)/$$arch/fast/objects || exit 1; done
floors: floors-objects
	@$(floors_of) svg=docs/floors.svg calls=docs/calls.txt
floors-check: floors-objects
	@$(floors_of) check=docs/calls.txt

compile_commands: | deps-build
	@tools/deps.sh bear
	@$(MAKE) clean >/dev/null && bear -- $(MAKE) kernel $(addprefix $(H)/,$(HOST_TESTS))

# Finds the deepest path on a stack, from frames and calls of every file of the kernel: it must fit
# with an interrupt on top. ccache does not keep .ci files.
stack_objects = $(addprefix $(O)/stack/,$(addsuffix .o,$(basename $(filter %.c,$(KERNEL_SRC)))))
$(O)/stack/%.o: export CCACHE_DISABLE := 1
$(O)/stack/%.o: %.c Makefile | deps-build
	$(call compile,$(KERNEL_CFLAGS) -fcallgraph-info=su)
$(call devtree_objects,$(O)/stack): | $(LIBFDT)/libfdt.h
stack-check: $(stack_objects) | deps-hpm
	@tools/stack_depth.py $(ARCH) $(^:.o=.ci)

lint: deps-lint policy-check floors-check
	@tools/docs.py
	@clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')
	@git ls-files '*.c' '*.h' '*.S' | xargs awk 'length > 100 { wide = 1; \
		print FILENAME ":" FNR ": wider than 100 columns" } END { exit wide }'
	@tools/check_args.py $$(git ls-files 'kernel/*.c' 'hpm/*.c' 'sched/*.c' 'mm/*.c')
	@! git grep -niwE '[n]obody|[s]omebody|[a]nybody|[e]verybody|[w]hoever|[s]o (many|much)' -- \
		':!docs/results' || { echo 'lint: name the thread, pool or number instead' >&2; exit 1; }
	@echo "lint: formatting is clean, boot arguments have their variables' names"

clean:
	rm -rf $(B)/x86_64* $(B)/aarch64* $(H) $(F) $(OUT) $(B)/machine
distclean:
	rm -rf $(B) compile_commands.json

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
