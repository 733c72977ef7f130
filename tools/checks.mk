# Checks of the sources: targets lint, policy-check, floors, stack-check.
.PHONY: lint policy-check stack-check floors floors-check floors-objects

# Policies are pure, and are given no function to call.
POLICY_H := $(shell find hpm kernel mm sched -path '*/policy/*.h' | sort)
policy-check: $(pure_objects)
	@tools/policy_check.sh $(NM) $(POLICY_H) -- $^

# The graph of the kernel's folders, of both instruction sets, by docs/floors.txt.
$(O)/fast/objects: $(call kernel_objects,fast)
	@echo $^ >$@
floors_of = tools/floors.py docs/floors.txt \
	$(foreach a,x86_64 aarch64,$(CROSS_$(a))nm=$(B)/$(a)/fast/objects)
floors-objects: | deps-hpm
	@for arch in x86_64 aarch64; do \
		$(MAKE) --no-print-directory ARCH=$$arch $(B)/$$arch/fast/objects || exit 1; done
floors: floors-objects
	@$(floors_of) svg=docs/floors.svg calls=docs/calls.txt
floors-check: floors-objects
	@$(floors_of) check=docs/calls.txt

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
		':!docs/results' | grep -v '[n]obody:x:' || { echo 'lint: name the thread, pool or number instead' >&2; exit 1; }
	@echo "lint: formatting is clean, boot arguments have their variables' names"
