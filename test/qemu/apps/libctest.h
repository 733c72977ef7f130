/* What libctest's files share. */
#pragma once
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define THREADS 12

/* The monotonic clock; as a time so far from now. */
uint64_t now_ns(void);
struct timespec after_ms(unsigned ms);
/* THREADS threads run body with arg, or, where that is NULL, with their numbers, to their end. */
void run_threads(void *(*body)(void *), void *arg);

/* libctest_sync.c: locks, conditions, barriers, once; and those whose memory is used again. */
void synchronizing(void);
