# Programs of Linux's interface, built with this system's C library (test/qemu/linux.t).
LINUX_TESTS_aarch64 := features
LINUX_TESTS := start threads $(LINUX_TESTS_$(ARCH))
LINUX_TESTS_FOLDER := $(folder)
