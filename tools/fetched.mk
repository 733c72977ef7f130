# What is fetched for a build, each once, into $(B): by a script of tools that says from where.

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

# ---- lwIP ----------------------------------------------------------------------------------------
$(LWIP)/version: tools/lwip.sh kernel/net/lwip/lwip.patch tools/source.sh tools/apt.sh | deps-build
	@tools/lwip.sh $(LWIP)
	@touch $@
$(LWIP_SRC): $(LWIP)/version ;
# lwIP, and what sees its headers, find the C library of kernel/net/lwip instead of the host's.
lwip_objects = $(addprefix $(1)/,$(addsuffix .o,$(basename $(LWIP_SRC) $(LWIP_USERS))))
LWIP_OBJECTS := $(foreach d,fast debug stack,$(call lwip_objects,$(O)/$(d)))
# Not order-only: make looks at headers before lwIP is fetched anew, and never again.
$(LWIP_OBJECTS): $(LWIP)/version
$(LWIP_OBJECTS): KERNEL_CFLAGS += $(LWIP_INC) -Ikernel/net/lwip/libc
$(foreach d,fast debug stack,$(addprefix $(O)/$(d)/,$(LWIP_SRC:.c=.o))): KERNEL_CFLAGS += -w

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

# ---- The page of watchd --------------------------------------------------------------------------
PAGE := $(B)/web
PAGE_SRC := $(wildcard apps/tools/watchd/page/*)
# Tried again when it has failed, and npm is there now.
$(PAGE)/uplot/found: tools/uplot.sh FORCE
	@tools/uplot.sh $(@D)
$(PAGE)/page.html: $(PAGE_SRC) $(PAGE)/uplot/found tools/page.sh
	$(call say,PAGE,$@)
	$(Q)tools/page.sh apps/tools/watchd/page $(PAGE)/uplot >$@
$(O)/apps/tools/watchd/page.o: APP_CFLAGS += -DWATCHD_PAGE='"$(PAGE)/page.html"'
$(O)/apps/tools/watchd/page.o: $(PAGE)/page.html

# ---- gnu-efi -------------------------------------------------------------------------------------
# gnu-efi's package has the files of one architecture.
DEBIAN_x86_64  := amd64
DEBIAN_aarch64 := arm64
$(GNUEFI)/usr/lib/libefi.a: tools/foreign.sh | deps-build
	@tools/foreign.sh gnu-efi $(DEBIAN_$(ARCH)) $(GNUEFI)
	@touch $@
