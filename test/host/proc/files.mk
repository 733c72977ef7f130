test_bundle_SRC := kernel/proc/bundle.c
test_elf_SRC := kernel/proc/elf.c
test_sleepers_SRC := kernel/proc/sleepers.c
test_program_stack_SRC := kernel/proc/program_stack.c
test_signal_queue_SRC := kernel/proc/signal_queue.c
test_kin_SRC := kernel/proc/kin.c
test_code_images_SRC := kernel/proc/code_images.c $(call double,fs_kernel.c)
test_perf_signal_SRC := kernel/proc/perf_signal.c $(call double,fs_kernel.c)
