# Conformance suites from elsewhere: targets conformance, conformance-results, whose sources are the
# user's, in DIR; bench-ltp; and bench-software.
.PHONY: bench-ltp bench-software conformance conformance-results
conformance: $(KERNEL) | deps-run
	@test/suites/conformance.py suite=$(SUITE) dir=$(DIR) arch=$(ARCH) \
		$(if $(ONLY),only='$(ONLY)') $(if $(LIMIT),limit=$(LIMIT))
# The Linux Test Project's tests of system calls, of which the passed ones are counted. Not part of
# `make test`: tools/ltp.sh fetches them from GitHub, or from LTP_FROM.
LTP := $(B)/ltp/$(ARCH)
bench-ltp: $(KERNEL) | deps-run
	@tools/deps.sh $(DEPS_LTP) $(CROSS_DEPS_TEST_$(ARCH))
	@tools/ltp.sh $(ARCH) $(LTP)
	@test -e $(LTP)/busybox || tools/foreign.sh busybox-static $(DEBIAN_$(ARCH)) $(LTP)/busybox
	@test/suites/ltp.py tests=$(LTP) arch=$(ARCH) $(if $(ONLY),only='$(ONLY)') \
		$(if $(LIMIT),limit=$(LIMIT))
# Programs of Debian, each by a script that looks at what it does.
bench-software: $(KERNEL) | deps-run
	@tools/deps.sh $(DEPS_SOFTWARE) $(CROSS_DEPS_TEST_$(ARCH))
	@test/suites/software.py arch=$(ARCH) machine=qemu keep=1 $(if $(ONLY),only='$(ONLY)') \
		$(if $(LIMIT),limit=$(LIMIT))
# The tables of the last whole runs.
conformance-results:
	@{ test/bench/header.sh 'make conformance SUITE=... DIR=... ARCH=...' && \
		for t in $(B)/suites/*/table.txt; do echo && cat $$t || exit; done; } \
		>docs/results/conformance.txt
