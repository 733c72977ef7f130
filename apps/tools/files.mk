# Programs that measure others.
MEASURING_SRC := \
	$(call files,$(addprefix measuring/,figures.c places.c program.c record.c recording.c \
	shares.c table.c))
TOOLS := hpmstat hpmrec hpmtop memstat c2c vigil-ctl watchd
c2c_SRC := \
	$(call files,$(addprefix c2c/,c2c.c lines.c show.c) \
	$(addprefix measuring/,allocations.c elf_lines.c elf_names.c images.c)) $(MEASURING_SRC)
hpmrec_SRC := \
	$(call files,hpmrec/hpmrec.c $(addprefix measuring/,chains.c elf_lines.c elf_names.c images.c)) \
	$(MEASURING_SRC)
hpmstat_SRC := \
	$(call files,$(addprefix hpmstat/,breakdown.c cost.c frequency.c hpmstat.c list.c log.c \
	values.c) measuring/since.c measuring/value.c) hpm/events/fit.c $(MEASURING_SRC)
hpmtop_SRC := $(call files,hpmtop/hpmtop.c measuring/value.c) $(MEASURING_SRC)
memstat_SRC := \
	$(call files,$(addprefix memstat/,curve.c memstat.c records.c show.c) \
	measuring/program.c measuring/record.c)
vigil-ctl_SRC := $(call files,vigil-ctl/vigil-ctl.c)
watchd_SRC := \
	$(call files,$(addprefix watchd/,http.c lines.c machine.c metrics.c network.c output.c profile.c \
	programs.c routes.c server.c show.c text.c watchd.c page.S) \
	$(addprefix measuring/,places.c since.c table.c)) hpm/events/fit.c $(SERVED_SRC)
