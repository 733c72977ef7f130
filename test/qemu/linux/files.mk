# Programs of Linux's interface, built with this system's C library (test/qemu/linux.t).
LINUX_TESTS := start threads
LINUX_TESTS_FOLDER := $(folder)
