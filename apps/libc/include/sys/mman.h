/* POSIX's memory mapping, and madvise. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

#define PROT_NONE  0
#define PROT_READ  1
#define PROT_WRITE 2
#define PROT_EXEC  4

#define MAP_SHARED    1
#define MAP_PRIVATE   2
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20
#define MAP_ANON      MAP_ANONYMOUS
#define MAP_FAILED    ((void *)-1)

#define MADV_NORMAL     0
#define MADV_RANDOM     1
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED   3
#define MADV_DONTNEED   4

void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
int munmap(void *addr, size_t bytes);
int mprotect(void *addr, size_t bytes, int prot);
int madvise(void *addr, size_t bytes, int advice);
