# fuzz_NAME.c feeds random bytes to a parser; fuzz_NAME_SRC lists its sources beside the policies.
FUZZERS := $(notdir $(basename $(wildcard $(call files,fuzz_*.c))))
fuzz_acpi_SRC := \
	$(addprefix kernel/firmware/,acpi.c acpi_iort.c acpi_numa.c acpi_platform.c numa.c platform.c)
fuzz_bundle_SRC := kernel/proc/bundle.c
fuzz_cmdline_SRC := kernel/core/cmdline.c $(addprefix kernel/lib/,date.c ipv4.c words.c format.c)
fuzz_devtree_SRC := $(DEVTREE_SRC) $(LIBFDT_SRC) kernel/firmware/numa.c kernel/boot/boot_info.c
fuzz_elf_SRC := kernel/proc/elf.c
$(foreach f,criteria event metric,$(eval fuzz_$(f)_SRC := $(EVENTS_SRC_x86_64)))
fuzz_elf_lines_SRC := apps/tools/measuring/elf_lines.c
fuzz_elf_names_SRC := apps/tools/measuring/elf_names.c
fuzz_http_SRC := apps/tools/watchd/http.c
fuzz_lines_SRC := apps/tools/c2c/lines.c apps/tools/measuring/table.c
fuzz_net_frame_SRC = $(LWIP_TESTED) $(addprefix kernel/,net/lwip/frame.c dev/net/net_hash.c)
fuzz_net_wire_SRC = $(LWIP_TESTED) $(call double,lossy.c)
fuzz_p9_SRC = $(P9_TESTED)
fuzz_page_trace_SRC = $(TRACE_READING)
fuzz_spe_SRC := $(addprefix hpm/pmu/arm/,spe_packets.c spe_sources.c)
fuzz_symbols_SRC := kernel/lib/symbols.c
fuzz_tar_SRC = $(FS_TESTED)
# They see lwIP's headers.
LWIP_TESTS += $(call files,fuzz_net_frame.c)
