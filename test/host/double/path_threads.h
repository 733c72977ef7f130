/*
 * Threads that access pages on the machine of path_kernel.h, and know what they logged: a
 * scheduler, a consumer that compares, and the reckoning at the end.
 */
#pragma once
#include "test/host/double/path_kernel.h"

enum {
    THREADS = 12,
    SPACES = 5,
    NOBODY = -1,
    PAGES = 400,
    SEEN_MAX = 1 << 17,
    ENTRIES_MAX = MACHINE_PATH_LOG_MAX
};

/* What a thread accessed that was logged, and what came out of that. */
struct thread_log {
    uint64_t entry[SEEN_MAX];
    uint32_t count, out;
};
extern struct thread_log threads[THREADS];
extern int on_cpu[PATH_DOUBLE_CPUS]; /* the thread that runs there, or NOBODY */
extern uint64_t random_state;
extern uint64_t logged;  /* entries, by units */
extern uint64_t refused; /* ... of software, for want of room */
extern uint64_t taken;   /* ... that came out of the logs */
extern uint64_t ran;     /* ticks that threads of watched spaces ran */
extern uint64_t ran_since[PATH_DOUBLE_CPUS];
extern bool watched[SPACES];
extern struct path_caps unit_caps;
extern const struct path_config unit_config;

/* At random, below n. */
uint32_t below(uint32_t n);
/* Some are the first and the last number there is. */
uint16_t space_of(unsigned thread);
uint32_t tid_of(unsigned thread);
/* An address at random. */
vaddr_t some_page(void);
/* The CPU that executes runs this thread from now on, or the kernel alone. */
void run_thread(int thread);
/* On any CPU. */
bool is_running(int thread);
/* The thread that runs here accesses it: what the unit did with that. */
enum path_double_use access_page(vaddr_t va, bool write);
/* The earliest batch of all logs is compared and taken; false: there is none. */
bool take_one(void);
void take_all(void);
/* Their invariants. */
void check_logs(void);
struct path_account log_account(void);
/* All that there is has been taken: nothing is missing but what was counted as lost. */
void expect_nothing_uncounted(void);
/* ... and nothing was. */
void expect_nothing_lost(void);
/* On every CPU from now on, or no more. */
void watch_space(unsigned space, bool on);
/* A machine at its start, logs made, units off. */
void begin(void);
/* Set-ups of tests, without and with every space watched and all units on; and what ends both. */
int boot_threads(void **state);
int start_threads(void **state);
int end_threads(void **state);
