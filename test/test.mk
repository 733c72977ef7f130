# Tests: targets test, test-*, fuzz. Each folder's files.mk lists the tests' sources.
.PHONY: test test-host test-machine test-qemu test-tools test-docs test-long test-page-ins test-soak fuzz \
	fuzz-calls

# prove NAME, ENVIRONMENT: runs the test files that follow, with prove's options, one on each CPU.
# Notes the time of each under NAME, for test/slowest.sh.
prove = mkdir -p $(B)/times && rm -f $(B)/times/$(1).yml && \
	$(2) prove --timer -j $(shell nproc) --state=save --statefile=$(B)/times/$(1).yml

# ---- lwIP on the host ----------------------------------------------------------------------------
# With the host's C library.
define lwip_host_rule
$(call lwip_objects,$(1)) $(addprefix $(1)/,$(LWIP_TESTS:.c=.o)): $(2) += $(LWIP_INC)
$(call lwip_objects,$(1)) $(addprefix $(1)/,$(LWIP_TESTS:.c=.o)): $(LWIP)/version
$(addprefix $(1)/,$(LWIP_SRC:.c=.o)): $(2) += -w
endef
$(eval $(call lwip_host_rule,$(H),HOST_CFLAGS))
$(eval $(call lwip_host_rule,$(F),FUZZ_CFLAGS))

# lwIP's own tests, with options of their own (test/host/net/lwip_unit).
LWIP_UNIT_SRC := $(LWIP_SRC) $(LWIP)/src/core/ipv4/acd.c test/host/net/lwip_unit/run.c \
	test/host/double/lwip_host.c $(LWIP_FINDING) \
	$(addprefix $(LWIP)/test/unit/,$(addsuffix .c,$(addprefix core/test_,def netif pbuf timers) \
	dhcp/test_dhcp etharp/test_etharp ip4/test_ip4 udp/test_udp \
	$(addprefix tcp/,tcp_helper test_tcp test_tcp_oos test_tcp_state)))
lwip_unit_objects := $(addprefix $(H)/lwip_unit/,$(LWIP_UNIT_SRC:.c=.o))
$(filter-out $(LWIP_SRC),$(filter $(LWIP)/%,$(LWIP_UNIT_SRC))): $(LWIP)/version ;
$(lwip_unit_objects): HOST_CFLAGS := -Itest/host/net/lwip_unit $(HOST_CFLAGS) $(LWIP_INC) \
	-I$(LWIP)/test/unit
$(filter $(H)/lwip_unit/$(LWIP)/%,$(lwip_unit_objects)): HOST_CFLAGS += -w
$(lwip_unit_objects): $(H)/lwip_unit/%.o: %.c Makefile test/test.mk $(LWIP)/version | deps-test
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $(SANITIZE) -c $< -o $@
$(H)/test_lwip_unit: $(lwip_unit_objects)
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) $(SANITIZE) $^ $$(pkgconf --libs check) -o $@

# ---- Host tests ----------------------------------------------------------------------------------
# Objects for the host, with the address and undefined-behaviour sanitizers.
$(H)/%.o: %.c Makefile test/test.mk | deps-test
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $(SANITIZE) -c $< -o $@
# Makes a device tree an array NAME_dt_blob_start.
$(H)/%.o: %.dts Makefile test/test.mk | deps-test
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
	test_programs test_replace test_prefetch test_pool test_devtree test_cache test_phylogeny
test-host: $(addprefix $(H)/,$(SLOW_HOST_TESTS) $(filter-out $(SLOW_HOST_TESTS),$(HOST_TESTS)) \
		test_lwip_unit)
	@library=$$(dpkg-query -W -f '$${Version}' libpfm4-dev) && \
		export LIBPFM4_TABLES=$$(cat $(LIBPFM4)/version) LIBPFM4_LIBRARY=$${library%-*} && \
		$(call prove,host,CMOCKA_MESSAGE_OUTPUT=TAP) --exec '' $^

# ---- Fuzzers -------------------------------------------------------------------------------------
FUZZ_SECONDS ?= $(if $(filter 1,$(QUICK)),5,60)
$(F)/fuzz_devtree: | $(B)/corpus/fuzz_devtree/virt.dtb $(B)/corpus/fuzz_devtree/board.dtb
$(B)/corpus/fuzz_devtree/%.dtb: test/host/dev/%.dts | deps-test
	@mkdir -p $(@D)
	$(Q)dtc -q -I dts -O dtb $< -o $@

$(F)/%.o: %.c Makefile test/test.mk | deps-fuzz
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)clang -std=gnu11 -g -O1 -I. -Itest/host/double/arch $(LIBFDT_INC) -MMD -MP \
		-fsanitize=fuzzer $(SANITIZE) $(FUZZ_CFLAGS) -c $< -o $@
$(F)/policy.a: $(addprefix $(F)/,$(addsuffix .o,$(basename $(POLICY_SRC)))) $(FILES_MK)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
define fuzzer_rule
$(F)/$(1): $$(addprefix $(F)/,$$(addsuffix .o,$$(basename test/fuzz/$(1).c $$($(1)_SRC)))) \
		$(F)/policy.a $(FILES_MK)
	$$(call say,FUZZLD,$$@)
	$$(Q)clang -fsanitize=fuzzer $(SANITIZE) $$(filter %.o %.a,$$^) -o $$@
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer_rule,$(f))))
fuzz: $(addprefix $(F)/,$(FUZZERS))
	@for f in $^; do mkdir -p $(B)/corpus/$${f##*/}; echo "fuzz: $$f for $(FUZZ_SECONDS) s"; \
		$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 \
		-artifact_prefix=$(B)/corpus/ $(B)/corpus/$${f##*/} \
		|| exit 1; done; echo "fuzz: nothing found"

# ---- The simulated multiprocessor's own guest ----------------------------------------------------
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

# ---- Images with tests ---------------------------------------------------------------------------
$(O)/bundled/cut-short: $(O)/bundled/hello
	$(Q)head -c 5000 $< >$@
$(O)/bundled/no-program: README.md
	@mkdir -p $(@D)
	$(Q)cp $< $@
TESTED_APPS := $(ALL_APPS) $(TEST_APPS) $(BROKEN_APPS)
$(eval $(call image_rule,vigil-test,debug,$(TESTED_APPS),$(call kernel_objects,debug)))
suite_objects = $(filter-out %/kernel/run.o,$(call kernel_objects,debug)) \
	$(addprefix $(O)/debug/,$(addsuffix .o,$(basename $(SUITE_SRC))))
$(eval $(call image_rule,vigil-suites,debug,hello,$(suite_objects)))

# ---- Programs of Linux ---------------------------------------------------------------------------
# An initrd with each program in three kinds, dynamic ones with the files that they need.
LINUX_FLAGS_static  := -static
LINUX_FLAGS_pie     := -static-pie -fPIE
LINUX_FLAGS_dynamic := -pie -fPIE
LINUX_KINDS := static pie dynamic
LINUX_INTERPRETER_x86_64  := /lib64/ld-linux-x86-64.so.2
LINUX_INTERPRETER_aarch64 := /lib/ld-linux-aarch64.so.1
LT := $(O)/linux-tests
define linux_test_rule
$(LT)/test/$(1).$(2): $(LINUX_TESTS_FOLDER)$(1).c test/qemu/apps/tap.h Makefile | deps-test
	$$(call say,LINUX,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CC) -std=gnu11 -O2 -g -I. $(WARN) -pthread $(LINUX_FLAGS_$(2)) $$< -o $$@
endef
$(foreach t,$(LINUX_TESTS),$(foreach k,$(LINUX_KINDS),$(eval $(call linux_test_rule,$(t),$(k)))))
LINUX_TEST_FILES := $(foreach t,$(LINUX_TESTS),$(LINUX_KINDS:%=$(LT)/test/$(t).%))
$(O)/linux-tests.tar: $(LINUX_TEST_FILES) test/qemu/linux/tree.sh
	$(Q)test/qemu/linux/tree.sh $(CC) $(LINUX_INTERPRETER_$(ARCH)) $(LT)
	$(Q)tar --format=ustar --owner=0 --group=0 --mtime=@0 --sort=name -cf $@ -C $(LT) .

# Seeded system calls (test/linux/callfuzz), an initrd of its own.
CALLFUZZ := $(O)/callfuzz/callfuzz
$(CALLFUZZ): $(wildcard test/linux/callfuzz/*.[ch] test/linux/callfuzz/$(ARCH)/*.c) \
		$(LINUX)/linux_calls.h kernel/proc/abi.h | deps-test
	$(call say,LINUX,$@)
	@mkdir -p $(@D)/root
	$(Q)$(CC) -std=gnu11 -O2 -g -I. -I$(LINUX) $(WARN) -fno-stack-protector -static -pthread \
		$(filter %.c,$^) -o $@
$(O)/callfuzz.tar: $(CALLFUZZ)
	$(Q)cp $< $(<D)/root/ && tar --format=ustar --owner=0 --group=0 --mtime=@0 --sort=name \
		-cf $@ -C $(<D)/root .
# CALLS calls and a tenth as many frames of signals, on SMP CPUs (8).
CALLS ?= 10000000
fuzz-calls: $(O)/vigil-test.$(KERNEL_FILE_$(ARCH)) $(O)/callfuzz.tar | deps-test
	@ARCH=$(ARCH) B=$(B) CALLS=$(CALLS) FUZZ_SMP=$(or $(SMP),8) test/qemu/callfuzz.long.t

# ---- Tests in the booted kernel ------------------------------------------------------------------
# All tests, the longest first. One runs on each CPU, as QEMU's vCPUs take turns on one. Tests named
# *.long.t are for test-long.
SLOW_TESTS := $(patsubst %,test/qemu/%.t,hpmrec hpmstat paging policies sharing sched divide \
	uefi framebuffer telemetry memory block stress track libc programs selftest hpm)
QEMU_TESTS := $(SLOW_TESTS) $(filter-out $(SLOW_TESTS) %.long.t,$(sort $(wildcard test/qemu/*.t)))
TEST_IMAGES := $(foreach i,vigil vigil-test vigil-suites,\
	$(O)/$(i).$(KERNEL_FILE_$(ARCH)) $(O)/$(i).efi)
test-qemu: $(TEST_IMAGES) $(O)/linux-tests.tar $(O)/callfuzz.tar machine | deps-test
	@$(call prove,$(ARCH),ARCH=$(ARCH) B=$(B)) $(QEMU_TESTS)

test-machine: $(B)/machine/guest-$(ARCH).elf machine | deps-test
	@$(call prove,$(ARCH)-machine,ARCH=$(ARCH)) test/machine/machine.t

# ---- All tests, docs, soaks ----------------------------------------------------------------------
# Both architectures, or the one given.
TEST_ARCHS := $(if $(filter file,$(origin ARCH)),x86_64 aarch64,$(ARCH))
# Tools of the host.
TOOL_TESTS = $(wildcard test/tools/*.t)
test-tools: $(O)/callfuzz/callfuzz $(B)/vigil-replay $(H)/libvigil-policy.a $(KERNEL) machine \
		$(O)/vigil-test.$(KERNEL_FILE_$(ARCH)) $(addprefix $(O)/libvigil-,allocations.so calls.a) | deps-test
	@$(call prove,tools,env -u MAKEFLAGS -u MAKELEVEL ARCH=$(ARCH) B=$(B)) $(TOOL_TESTS)
test: test-host
	@failed=; for arch in $(TEST_ARCHS); do \
		$(MAKE) -k --no-print-directory ARCH=$$arch test-machine test-qemu policy-check stack-check || \
		failed="$$failed $$arch"; done; \
		$(MAKE) --no-print-directory ARCH=$(firstword $(TEST_ARCHS)) test-tools || \
		failed="$$failed tools"; \
		for arch in $(wordlist 2,9,$(TEST_ARCHS)); do \
		$(MAKE) --no-print-directory ARCH=$$arch test-tools \
		TOOL_TESTS="test/tools/run.t test/tools/iproute.t test/tools/perf.t test/tools/chains.t test/tools/verbs.t test/tools/phases.t" || \
		failed="$$failed tools-$$arch"; done; \
		test/slowest.sh $(B)/times; \
		[ -z "$$failed" ] || { echo "test: failed on$$failed" >&2; exit 1; }

# Commands that the docs show, page by page. They share $(OUT), so one runs at a time.
DOCS := README.md $(shell find docs -name '*.md' -not -path 'docs/results/*' | sort)
test-docs: $(KERNEL) machine $(B)/vigil-replay | deps-test
	@$(call prove,docs) -j 1 --exec test/docs/commands.sh $(DOCS)

# Reads pages in and checks them, by seeds from SEED on. After an interruption it goes on there.
PAGE_INS ?= 10000000
SEED     ?= 1
test-page-ins: $(foreach arch,$(TEST_ARCHS),test-page-ins-$(arch))
test-page-ins-%: | deps-test
	@$(MAKE) --no-print-directory ARCH=$* $(B)/$*/vigil-test.$(KERNEL_FILE_$*)
	@ARCH=$* B=$(B) PAGE_INS=$(PAGE_INS) SEED=$(SEED) prove --timer --verbose test/qemu/page_ins.sh

# CONNECTIONS connections over loopback on SMP CPUs (4), and whether memory is as before.
CONNECTIONS ?= 1000000
test-soak: $(KERNEL) | deps-test
	$(Q)$(CC) -O1 -static -pthread -o $(O)/soak test/linux/soak.c
	@./vigil run --no-report --machine qemu --smp $(or $(SMP),4) --timeout 7200 -- \
		$(O)/soak $(CONNECTIONS)

test-long: test
	@LONG=1 $(H)/test_replace_chooser
	@export B=$(B); for arch in $(TEST_ARCHS); do \
		ARCH=$$arch ROUNDS=1000 prove --timer test/qemu/stress.t $(wildcard test/qemu/*.long.t) || \
		exit 1; [ $$arch = x86_64 ] || ARCH=$$arch EVERYWHERE=1 \
		prove --timer $$(grep -l 'once;\|once ||' test/qemu/*.t) || exit 1; done
	@$(MAKE) --no-print-directory test-page-ins $(if $(filter file,$(origin ARCH)),,ARCH=$(ARCH))
	@$(MAKE) --no-print-directory test-docs
