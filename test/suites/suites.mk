# Conformance suites from elsewhere: targets conformance, conformance-results. Their sources are the
# user's, in DIR.
.PHONY: conformance conformance-results
conformance: $(KERNEL) | deps-run
	@test/suites/conformance.py suite=$(SUITE) dir=$(DIR) arch=$(ARCH) \
		$(if $(ONLY),only='$(ONLY)') $(if $(LIMIT),limit=$(LIMIT))
# The tables of the last whole runs.
conformance-results:
	@{ test/bench/header.sh 'make conformance SUITE=... DIR=... ARCH=...' && \
		for t in $(B)/suites/*/table.txt; do echo && cat $$t || exit; done; } \
		>docs/results/conformance.txt
