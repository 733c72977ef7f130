/* Named regions of memory under Linux: 5.17 and later show the names in /proc/PID/maps. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <sys/prctl.h>
#include "apps/libc/memory.h"

/* Linux's constants, which older headers lack. */
#define SET_VMA           0x53564d41
#define SET_VMA_ANON_NAME 0

void *memory_map(const char *name, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    prctl(SET_VMA, SET_VMA_ANON_NAME, at, bytes, name);
    return at;
}

void memory_unmap(void *at, size_t bytes)
{
    munmap(at, bytes);
}
