# Programs that measure others.
MEASURING_SRC := \
	$(call files,$(addprefix measuring/,figures.c places.c program.c recording.c shares.c table.c))
TOOLS := hpmstat hpmrec hpmtop memstat
hpmrec_SRC := $(call files,hpmrec/hpmrec.c) $(MEASURING_SRC)
hpmstat_SRC := \
	$(call files,$(addprefix hpmstat/,breakdown.c hpmstat.c list.c)) hpm/events/fit.c $(MEASURING_SRC)
hpmtop_SRC := $(call files,hpmtop/hpmtop.c) $(MEASURING_SRC)
memstat_SRC := \
	$(call files,$(addprefix memstat/,curve.c memstat.c show.c) measuring/program.c)
