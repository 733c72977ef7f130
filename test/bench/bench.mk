# Benchmarks: targets bench, bench-*, results.
.PHONY: bench bench-sharing bench-costs bench-quanta bench-steady bench-frequency bench-functions bench-hpm bench-programs bench-twins bench-elsewhere bench-mm \
	bench-servers bench-connections bench-pairs bench-wire bench-files results

# ---- On the simulated machine --------------------------------------------------------------------
SIMULATED := machine=$(if $(filter qemu,$(MACHINE)),openpower720,$(MACHINE)) quick=$(QUICK)
bench-sharing: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) test/bench/sharing.sh kernel=$(KERNEL) $(SIMULATED) \
		$(if $(MS),ms=$(MS)) $(if $(SEEDS),seeds=$(SEEDS)) $(if $(ONLY),only='$(ONLY)') \
		$(if $(RESULTS),results=$(RESULTS))
# A Linux program under Linux and under Vigil. Not part of `bench`: it fetches Debian's kernel.
bench-costs: $(KERNEL) machine | deps-run
	@test/bench/costs.sh arch=$(ARCH) $(firstword $(SIMULATED)) $(if $(RUNS),runs=$(RUNS)) \
		$(if $(ROUNDS),rounds=$(ROUNDS))

# What telemetry=quanta costs workloads.
bench-quanta: $(KERNEL) machine | deps-run
	@test/bench/quanta.sh arch=$(ARCH) $(firstword $(SIMULATED)) $(if $(RUNS),runs=$(RUNS))

# When programs become steady: ten boots each.
bench-steady: $(KERNEL) machine | deps-run
	@test/bench/steady.sh arch=$(ARCH) $(if $(RUNS),boots=$(RUNS))

# Frequencies of CPUs: time by cycles, a forced drop, the cost of a switch. Both instruction sets.
bench-frequency: machine | deps-run
	@$(MAKE) ARCH=x86_64 kernel && $(MAKE) ARCH=aarch64 kernel && test/bench/frequency.sh

# Phases of programs by their functions.
bench-functions: $(KERNEL) machine $(O)/libvigil-calls.a | deps-run
	@test/bench/functions.sh arch=$(ARCH)

# A file twice the memory, read under Linux's page cache and under Vigil's policies.
bench-files: $(KERNEL) machine | deps-run
	@test/bench/files.sh $(firstword $(SIMULATED)) $(if $(POLICIES),policies='$(POLICIES)')

bench-hpm: $(KERNEL) machine | deps-run deps-hpm
	@ARCH=$(ARCH) test/bench/sampling.sh kernel=$(KERNEL) $(SIMULATED)
	@ARCH=$(ARCH) test/bench/hpm.sh kernel=$(KERNEL) $(SIMULATED) $(if $(SEEDS),seeds=$(SEEDS)) \
		bias=$(if $(filter 1,$(QUICK)),build/bench/sampling-quick.txt,docs/results/sampling-$(ARCH).txt)

bench-programs: $(KERNEL) machine | deps-run
	@ARCH=$(ARCH) test/bench/programs.sh kernel=$(KERNEL) $(SIMULATED) \
		$(if $(MB),mb=$(MB)) $(if $(ONLY),only='$(ONLY)')

SIMS_MM := $(addprefix $(H)/,sim_mrc sim_regret sim_prefetch)
bench-mm: $(KERNEL) machine $(B)/vigil-replay $(SIMS_MM) | deps-run deps-hpm
	@test/bench/mm.py kernel=$(KERNEL) arch=$(ARCH) $(SIMULATED) $(if $(SMALL),small=$(SMALL)) \
		$(if $(SEEDS),seeds=$(SEEDS)) $(if $(PARTS),parts=$(PARTS)) $(if $(ONLY),apps=$(ONLY)) \
		$(if $(PERCENTS),percents=$(PERCENTS)) $(if $(POLICIES),policies=$(POLICIES)) \
		$(if $(GOALS),goals=$(GOALS)) $(if $(ROUNDS),rounds=$(ROUNDS)) \
		$(if $(RESUME),resume=$(RESUME)) $(if $(RESULTS),results=$(RESULTS))

# Programs of Debian, or of TABLE=FILE, in Vigil and in Linux: the same output and status?
bench-twins: $(KERNEL) | deps-run
	@test/bench/twins.py arch=$(ARCH) machine=$(MACHINE) $(if $(TABLE),table='$(TABLE)') \
		$(if $(ONLY),only='$(ONLY)')
# Programs from elsewhere, whose sources DIR has, built and run in the same way.
bench-elsewhere: $(KERNEL) | deps-run
	@test/bench/elsewhere.sh dir='$(DIR)' arch=$(ARCH)
	@ELSEWHERE=$(CURDIR)/build/elsewhere/$(ARCH) test/bench/twins.py arch=$(ARCH) \
		machine=$(MACHINE) table=test/bench/elsewhere.txt $(if $(ONLY),only='$(ONLY)')

# Requests over loopback while many connections are open.
bench-connections: $(KERNEL) machine | deps-run
	@test/bench/connections.sh arch=$(ARCH) $(firstword $(SIMULATED)) \
		$(if $(COUNTS),counts='$(COUNTS)') $(if $(KERNELS),kernels='$(KERNELS)')

# Requests over loopback from all CPUs at once, by one lwIP and by several, and under Linux.
bench-pairs: $(KERNEL) machine | deps-run
	@test/bench/pairs.sh arch=$(ARCH) $(if $(ROUNDS),rounds=$(ROUNDS)) \
		$(if $(KERNELS),kernels='$(KERNELS)')

# Requests and a transfer between two cards that a wire in model time joins.
bench-wire: $(KERNEL) machine | deps-run
	@test/bench/wire.sh arch=$(ARCH) $(firstword $(SIMULATED)) $(if $(ROUNDS),rounds=$(ROUNDS))

# Unmodified servers of Debian under Vigil and under Linux: cycles of a request. OVER: unix, tcp.
bench-servers: $(KERNEL) machine | deps-run
	@test/bench/servers.sh arch=$(ARCH) $(firstword $(SIMULATED)) $(if $(SEEDS),seeds=$(SEEDS)) \
		$(if $(OVER),over=$(OVER)) $(if $(SERVERS),servers='$(SERVERS)') \
		$(if $(SYSTEMS),systems='$(SYSTEMS)') $(if $(REQUESTS),requests=$(REQUESTS))

# ---- Simulations on the host ---------------------------------------------------------------------
# keep NAME: keeps the output of a whole run of a benchmark on the host as docs/results/NAME.txt.
keep = $(if $(filter 1,$(QUICK))$(TRACE)$(TRIALS)$(SHAPE)$(PROGRAM),,\
	test/bench/keep.sh docs/results/$(1).txt)
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

# ---- glibc's string functions --------------------------------------------------------------------
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
$(GLIBC)/strings.o: $(GLIBC_LIB) test/bench/bench.mk
	$(Q)rm -rf $(GLIBC)/parts && mkdir $(GLIBC)/parts && cd $(GLIBC)/parts && \
		$(AR) x ../$(GLIBC_LIB:$(GLIBC)/%=%) $(GLIBC_PARTS:%=%.o)
	$(Q)$(LD) -r -o $@.all $(GLIBC_PARTS:%=$(GLIBC)/parts/%.o) && \
		$(OBJCOPY) $(GLIBC_NAMES:%=--redefine-sym %) $@.all $@
ifeq ($(ARCH),aarch64)
strings-glibc_SRC := $(strings_SRC)
strings-glibc_FIRST := $(GLIBC)/strings.o -z muldefs
$(eval $(call app_rule,strings-glibc))
$(O)/bin/strings-glibc: $(GLIBC)/strings.o
$(eval $(call image_rule,vigil-glibc,debug,strings-glibc,$(call kernel_objects,debug)))
endif

# ---- The whole -----------------------------------------------------------------------------------
# Makes all of docs/results anew, part by part (PARTS='mux hpm-x86_64'; PARTS=list names them), in
# hours. After an interruption it goes on with the next part.
results:
	@test/bench/results.sh $(if $(PARTS),parts='$(PARTS)')
bench: bench-sharing bench-hpm bench-programs $(SIMULATIONS:sim_%=bench-%)
