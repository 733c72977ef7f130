/* Threads that access pages on the machine of path_kernel.h and know what they logged: a scheduler,
 * a consumer that compares, and a balance at the end. */
#pragma once
#include "test/host/double/path_kernel.h"

enum {
    THREADS = 12,
    SPACES = 5,
    NO_THREAD = -1,
    PAGES = 400,
    SEEN_MAX = 1 << 17,
    ENTRIES_MAX = MACHINE_PATH_LOG_MAX
};

/* Logged accesses of a thread, and those that came out of the logs. */
struct thread_log {
    uint64_t entry[SEEN_MAX];
    uint32_t count, out;
};
extern struct thread_log threads[THREADS];
extern int on_cpu[PATH_DOUBLE_CPUS]; /* thread that runs on each CPU, or NO_THREAD */
extern uint64_t random_state;
extern uint64_t logged;  /* entries logged by units */
extern uint64_t refused; /* entries that software could not log for lack of room */
extern uint64_t taken;   /* entries that came out of the logs */
extern uint64_t ran;     /* ticks in which threads of watched spaces ran */
extern uint64_t ran_since[PATH_DOUBLE_CPUS];
extern bool watched[SPACES];
extern struct path_caps unit_caps;
extern const struct path_config unit_config;

/* Returns a random number below n. */
uint32_t below(uint32_t n);
/* The smallest and the largest numbers are among them. */
uint16_t space_of(unsigned thread);
uint32_t tid_of(unsigned thread);
/* Returns a random address. */
vaddr_t some_page(void);
/* Switches the executing CPU to this thread, or to the kernel alone. */
void run_thread(int thread);
/* Returns whether the thread runs on any CPU. */
bool is_running(int thread);
/* Accesses the page by the running thread. Returns the unit's reaction. */
enum path_double_use access_page(vaddr_t va, bool write);
/* take_one takes the earliest batch of all logs and compares it; returns false if there is none. */
bool take_one(void);
void take_all(void);
/* Checks the logs' invariants. */
void check_logs(void);
struct path_account log_account(void);
/* Checks, when all entries have been taken, that only those counted as lost are missing. */
void expect_nothing_uncounted(void);
/* Checks that no entry was lost. */
void expect_nothing_lost(void);
/* Starts or stops watching the space on every CPU. */
void watch_space(unsigned space, bool on);
/* Boots a machine and makes logs; units are off. */
void begin(void);
/* Set-ups of tests, without and with every space watched and all units on; and the end of both. */
int boot_threads(void **state);
int start_threads(void **state);
int end_threads(void **state);
