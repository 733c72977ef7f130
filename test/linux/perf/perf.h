/* Perf events, as a program of Linux's has them: what the files of this program share. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOPS        200000
#define PAGE         4096
#define TIMES        (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define INSTRUCTIONS PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
#define CYCLES       PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES
#define TASK_CLOCK   PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK
#define FAULTS       PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
#define SWITCHES     PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES
#define DUMMY        PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY
#define RING_PAGES   16
/* Instructions by their code in the processor's manual. */
#ifdef __x86_64__
#define BY_CODE PERF_TYPE_RAW, 0xc0
#else
#define BY_CODE PERF_TYPE_RAW, 0x08
#endif

/* Prints a line of TAP. */
void check(bool right, const char *what);
void skip(const char *what, const char *why);
#define NO_PMU "no events of a processor" /* a reason to skip */
/* Checks that a call has failed, by its result and errno. */
void fails(const char *what, long is, int wanted);

/* Checks a result of open_event: 0: that it is a descriptor, which is closed. */
void answer(const char *what, int is, int wanted);

struct perf_event_attr attr_of(uint32_t type, uint64_t config);
/* Returns a descriptor, or -errno. */
int open_event(const struct perf_event_attr *a, int pid, int cpu, int group, unsigned long flags);
/* What an event of the caller is opened with, beside its type and config. */
enum { ON = 1, USER = 2, INHERIT = 4, AT_EXEC = 8, GROUP = 16, PINNED = 32 };
int event(uint32_t type, uint64_t config, unsigned how, int group);

struct reading {
    uint64_t value, enabled, running;
};
struct reading read_event(int fd);
bool is_exact(struct reading r);
/* Two instructions in user mode, `loops` times. */
void work(long loops);

struct ring {
    struct perf_event_mmap_page *page;
    size_t bytes;
    int fd;
};
struct ring map_ring(int fd, unsigned pages);
/* Copies the next record to `to`, and lets go of it. Returns false if there is none. */
bool next_record(struct ring *r, void *to);
/* Samples of a clock, by time, in user mode, disabled. */
struct perf_event_attr sampling_attr(void);

/* answers.c */
void test_answers(void);
void test_requests(void);
/* counts.c */
void test_software(void);
void test_hardware(void);
void test_turns(void);
/* groups.c */
void test_group(void);
void test_others(const char *self);
void test_cpu(void);
void test_many(void);
int run_child(void);
/* samples.c */
/* Reads the clock of records as the first page says. */
uint64_t clock_of(const struct perf_event_mmap_page *page);
void test_samples(void);
/* accesses.c */
void test_accesses(void);
/* signals.c */
void test_owners(void);
void test_refresh(void);
void test_storm(void);
void test_period(void);
void test_output(void);
/* lives.c */
void test_lives(const char *self, bool wide);
void test_order(void);
