/*
 * Vigil's own system calls, for what Linux has no call for; under Linux they give ENOSYS. Programs
 * make them as Linux's (apps/libc/syscall.h, or any C library's syscall()). Linux's own are
 * described in its manual, and calls.def lists those that there are.
 *
 * A call returns 0, or a value above 0, or a negative error number (-Exxx). The kernel checks every
 * pointer and every number: a bad one makes the call fail and affects no other process.
 *
 * Number, up to six arguments and result are in these registers:
 *   x86-64:  number rax; arguments rdi rsi rdx r10 r8 r9; result rax; rcx and r11 are lost
 *   AArch64: number x8; arguments x0 to x5; result x0
 *
 * Error numbers are Linux's. A program that writes code calls __builtin___clear_cache on it before
 * it executes the code.
 */
#pragma once
#include <stdint.h>

#define SYS_FIRST 4096
enum sys_number {
    /* (group) States the caller's sharing group, for sched.policy=hand; 0 to 65535. */
    SYS_GROUP = SYS_FIRST,
    SYS_MARK, /* (label) Sets a mark in the ground truth of a simulated machine. */
    /* (struct sys_hpm_read *, struct sys_breakdown *, bytes) Reads the stall breakdown. session and
     * since_last must be 0. */
    SYS_HPM_READ,
    /* (text, bytes) Starts an application of the bundle. text is its name and its arguments, each
     * ended by NUL. Returns its pid. */
    SYS_SPAWN,
    /* (pid) Waits for an application that the caller's process has started. Returns its exit
     * status; -ESRCH: there is no such application. */
    SYS_WAIT,
    /* (pid, struct sys_thread_info *, bytes) Lists the threads of a process, of all processes if
     * pid is 0. Returns the number of threads. */
    SYS_THREADS,
    /* (names, char *why, bytes) Opens a session that counts events and metrics from now on. Returns
     * its number; -ENOSPC: the process has SYS_COUNT_SESSIONS open, or its family
     * SYS_COUNT_FAMILY. */
    SYS_HPM_OPEN,
    /* (struct sys_hpm_read *, struct sys_hpm_value *, bytes) Reads a session's values. Returns the
     * number of values that the session has. -EFAULT: the reading does not count as made for
     * since_last. */
    SYS_HPM_VALUES,
    SYS_HPM_CLOSE, /* (session) Closes the session. */
    /* (pid, addr, struct sys_symbol *, bytes) Describes what lies at an address of a process; pid
     * 0: the caller's. Of a child that has ended code and variables are known, of others gone
     * the kernel's. */
    SYS_SYMBOL,
    /* (struct sys_profiling *, char *why, bytes) Opens a session that samples by criteria from now
     * on. Returns its number; -ENOSPC: the process has SYS_SAMPLE_SESSIONS open, or its family
     * SYS_SAMPLE_FAMILY. */
    SYS_SAMPLE_OPEN,
    /* (session, struct sys_sample *, bytes) Takes samples, up to the buffer's size. Returns the
     * number taken. -EFAULT: samples that could not be copied stay for the next call. 0 bytes: has
     * all CPUs hand over what they have, for an account that is up to date. */
    SYS_SAMPLE_TAKE,
    /* (session, criterion, struct sys_sample_account *, bytes) Reads a criterion's account.
     * -ENOENT: the session has no criterion of this number. */
    SYS_SAMPLE_ACCOUNT,
    SYS_SAMPLE_CLOSE, /* (session) Closes the session. */
    /* () Returns the pid that the next application started by the caller's process will have. */
    SYS_NEXT_PID,
    /* (pid, struct sys_memory *, bytes) Describes the memory of a process; pid 0: the caller's;
     * SYS_MEMORY_FILES: that of files, and -ENOENT: there is none. */
    SYS_MEMORY,
    /* (pid, struct sys_memory_region *, bytes) Lists regions by address. Returns the number of
     * regions. */
    SYS_REGIONS,
    /* (session) Maps a struct hpm_user_page that the calling thread may read; each thread has its
     * own. Returns its address. */
    SYS_HPM_SHOW,
    /* (name, offset, len, prot, uint64_t *mapped) Maps whole pages of a disk's contents, up to its
     * end if len is 0. Stores the bytes mapped at `mapped`, if not 0. A writable mapping is a
     * private copy. Returns the address; -ENOENT: no such disk; -EBUSY: it is the swap disk;
     * -EINVAL: beyond its end; -ENOMEM; -EACCES: writable and executable. */
    SYS_MMAP_DISK,
    /* (pid, struct sys_curve *, bytes) Reads a process's curve of misses; pid as of SYS_MEMORY.
     * -ENOENT: there is none yet. */
    SYS_CURVE,
    /* (uint32_t *cursor, struct sys_hpm_listed *, bytes) Describes the next event or metric that
     * can be counted by name, and advances the cursor, which is 0 at first. -ENOENT: no more;
     * -ENODEV: no counters, none known, or none known by name. */
    SYS_HPM_LIST,
    /* (struct sys_cpu *, bytes) Lists the CPUs by number. Returns their number. */
    SYS_CPUS,
    /* (pid, struct sys_thread_state *, bytes) Lists threads as SYS_THREADS does, with where and for
     * how long they have run. Returns the number of threads. */
    SYS_THREAD_STATES,
    /* (pid, struct sys_sharing *, bytes) Describes which threads of a process share lines, as
     * sched.policy=cluster has found. -ESRCH: there is no such process, or it is not watched. */
    SYS_SHARING,
    /* (from, struct sys_decision *, bytes) Lists decisions of sched.policy=cluster from number
     * `from` on, the oldest first; older ones than the latest 64 are lost. Returns the number
     * listed. */
    SYS_DECISIONS,
    /* (uint32_t *cursor, struct sys_knob *, bytes) Describes the next boot argument, and advances
     * the cursor, which is 0 at first. -ENOENT: no more. */
    SYS_KNOB_LIST,
    /* (text, char *why, bytes) Sets a live boot argument: NAME=VALUE. -EINVAL: it is refused, and
     * `why` names the argument, the reason and what is accepted. -EACCES: with proc.visible=own. */
    SYS_KNOB_SET,
    /* (session, struct sys_hpm_turns *, bytes, struct sys_hpm_turn *, bytes) Describes how all that
     * is counted takes turns, and the turns of the session's names, in their order. Returns the
     * number of names. */
    SYS_HPM_TURNS,
    /* (session, chain, uint64_t *, bytes) Reads the addresses of a sample's chain of calls: the
     * sample's, then return addresses, the innermost first. Returns how many it has, SYS_CHAIN_MAX
     * at most. -ENOENT: the session has no chain of this number. */
    SYS_SAMPLE_CHAIN,
    /* (session, struct sys_hpm_log *, char *why, bytes) Starts a log of what threads count of the
     * session's events over time, until the session is closed. Returns the figures of a record, one
     * for each name that is an event. -EINVAL: a field, or there are metrics only; -EBUSY: the
     * session has a log; -ENOSPC: four sessions have one. */
    SYS_HPM_LOG,
    /* (session, void *, bytes) Takes records of the log, each a struct sys_hpm_logged and its
     * figures' struct sys_hpm_pair, up to the buffer's size. Returns the number taken. 0 bytes: has
     * all CPUs tell what they have not told yet. -EINVAL: no room for one; -EFAULT: records that
     * could not be copied stay for the next call. */
    SYS_HPM_LOG_TAKE,
    SYS_COUNT
};

/* How the program has said that a region will be used: nothing is known; in order of address: more
 * is read ahead, and pages already passed are evicted first; nothing is to be read ahead. */
enum { SYS_ADVICE_NORMAL, SYS_ADVICE_SEQUENTIAL, SYS_ADVICE_RANDOM };
enum { SYS_PROT_READ = 1, SYS_PROT_WRITE = 2, SYS_PROT_EXEC = 4 };
/* Sessions that a process may have open at a time, and that a family (an application and its
 * descendants) may have. All processes share 16 sessions of counts and 4 of samples. */
enum {
    SYS_COUNT_SESSIONS = 4,
    SYS_SAMPLE_SESSIONS = 2,
    SYS_COUNT_FAMILY = 8,
    SYS_SAMPLE_FAMILY = 3
};
/* With proc.visible=own (docs/use/boot-args.md) a process sees itself and its descendants only:
 * calls about others return -ESRCH, and those about the machine's counts and all processes' samples
 * -EACCES. */
/* SYS_SCOPE_FAMILY: a process and its descendants, including those that have ended. */
enum { SYS_SCOPE_THREAD, SYS_SCOPE_PROCESS, SYS_SCOPE_MACHINE, SYS_SCOPE_FAMILY, SYS_SCOPES };

/* struct hpm_breakdown (hpm/policy/breakdown.h) for user mode, in the same order, and the counts
 * that its estimates are made of. */
struct sys_breakdown {
    uint64_t cycles, instructions, idle_cycles;
    uint64_t stall[7];
    uint64_t dcache[7];
    uint64_t served[7];
    uint64_t missed[8];
    uint64_t seen_cycles; /* cycles in which the shared figure that was counted least was counted */
    /* Bit n: the nth word above is counted on this machine. Otherwise it is 0. */
    uint64_t counted;
    /* Cycles of an access that each source serves, as documented for the machine or measured at
     * boot; 0: unknown. */
    uint64_t latency[7];
    /* Of each figure from `stall` on: the events counted, and the cycles in which they were
     * counted; 0: the figure is derived, not counted. */
    uint64_t figure_counted[29], figure_seen[29];
    /* Bit f: figure f was scaled so that it fits its whole or its parts. */
    uint64_t fitted;
    uint64_t own_cycles; /* of the machine: that counting and sampling took since boot; else 0 */
};

struct sys_thread_info {
    uint32_t pid, tid;
    char name[32]; /* of its process */
};

/* What to read: a thread; a process with its ended threads; a family; or the machine. Values of a
 * session count from its opening; with since_last, from the session's last such reading of the same
 * object. The breakdown counts from the beginning. */
struct sys_hpm_read {
    uint32_t session, scope; /* SYS_SCOPE_ */
    uint32_t pid, tid;       /* 0: the caller's */
    uint32_t since_last;     /* 0 or 1 */
    uint32_t reserved;       /* 0 */
};

enum { SYS_VALUE_COUNT, SYS_VALUE_METRIC };
/* How sure a count is.
 * - EXACT
 * - INTERVAL: between low and high with 95 % confidence.
 * - SHORT: counted for too short a time for an interval.
 * - UNSEEN: never counted.
 * - PUBLISHED: scaled in the published form, without an interval.
 * - BEYOND: too large.
 * - NONE: nothing was counted, here or elsewhere, that it could be estimated from. */
enum {
    SYS_SURE_EXACT,
    SYS_SURE_INTERVAL,
    SYS_SURE_SHORT,
    SYS_SURE_UNSEEN,
    SYS_SURE_PUBLISHED,
    SYS_SURE_BEYOND,
    SYS_SURE_NONE
};
/* Why a metric has no value: an event was not counted, a division by 0, or too large. */
enum { SYS_METRIC_FINE, SYS_METRIC_UNSEEN, SYS_METRIC_DIVISION, SYS_METRIC_TOO_LARGE };
/* Accounts of the machine's counts: of threads, idle threads, interrupts, monitoring. Interrupts
 * and monitoring are 0 and part of the first two unless the boot says hpm.accounts=on. */
enum {
    SYS_ACCOUNT_THREADS,
    SYS_ACCOUNT_IDLE,
    SYS_ACCOUNT_INTERRUPTS,
    SYS_ACCOUNT_MONITORING,
    SYS_ACCOUNTS
};
struct sys_hpm_value {
    char name[160], unit[32]; /* name: as asked for; unit: of a metric */
    uint32_t kind, sure;
    /* Of a count. Without an interval, low is what was counted and high is 2^64 - 1. */
    uint64_t count, low, high;
    uint64_t part[SYS_ACCOUNTS]; /* of a count of the machine: by account; they add up to count */
    int64_t millionths;          /* of a metric */
    uint32_t trouble;
    uint32_t seen_permille; /* of the time */
    /* Of a count: the events counted, in `seen` out of `length` cycles or instructions. */
    uint64_t counted, seen, length;
    /* 1: scaled so that it fits its whole or its parts. */
    uint32_t fitted;
    uint32_t reserved;
};

/* How events take turns, for all sessions and the breakdown together: groups of events that are
 * counted at the same time have slices, of which passes are made, of which rounds are. Lengths are
 * in cycles, or instructions with hpm.slices=instructions. */
struct sys_hpm_turns {
    uint64_t slice, pass, round;
    uint32_t groups;
    uint32_t slices; /* in a pass */
    uint32_t passes; /* in a round */
    uint32_t by_instructions;
    /* 1: remote-cache stalls, which sched.policy=cluster acts on, take turns for pinned events. */
    uint32_t scaled;
    uint32_t reserved;
};
/* Of a name of a session. */
struct sys_hpm_turn {
    uint32_t weight; /* as asked for, or found */
    uint32_t slices; /* of a pass in which it is counted; of a metric: the fewest of its events' */
    uint32_t pinned; /* 1: counted all the time, as asked for */
    uint32_t tied;   /* number of the braces that it is in, from 1; 0: none */
    /* 1: the weight is found anew, from measured variances, when the session is read, or asked for
     * its turns, and 100 rounds on all CPUs together have passed. */
    uint32_t automatic;
    uint32_t reserved;
};

/* What to log. */
struct sys_hpm_log {
    uint64_t every_ns; /* a record at least after so long; 0: only where threads leave their CPU */
    uint32_t scope;    /* SYS_SCOPE_PROCESS, SYS_SCOPE_FAMILY or SYS_SCOPE_MACHINE */
    /* 0: the caller's; may be that of the next process that it starts. Of a family: threads that
     * are started from now on, beside the process's. */
    uint32_t pid;
    uint32_t bytes; /* of memory for each CPU, 4 KB to 1 MB, a power of two */
    uint32_t reserved;
};
/* Why there is a record: the time had come; the thread left its CPU; it has ended; records were
 * asked for; it is the rest: the sum of `tid` threads that ended when there was no room. */
enum { SYS_LOG_TIME, SYS_LOG_LEFT, SYS_LOG_ENDED, SYS_LOG_ASKED, SYS_LOG_REST };
/* A record: totals of a thread since the session was opened. Subtract the thread's record before,
 * by length. The last records of threads and the rests add up to what all that have ended have
 * counted, whatever was lost. Records of one CPU are in order, those of different CPUs are not. */
struct sys_hpm_logged {
    uint64_t time_ns; /* by CLOCK_MONOTONIC */
    uint64_t length;  /* cycles or instructions that it has run */
    uint32_t tid, pid;
    uint32_t lost; /* records of this CPU that there was no room for since the one before */
    uint16_t cpu;
    uint8_t why; /* SYS_LOG_ */
    uint8_t figures;
};
/* An event was counted in `seen` out of length. */
struct sys_hpm_pair {
    uint64_t counted, seen;
};

#define SYS_LISTED_NEVER UINT32_MAX
enum { SYS_LISTED_GENERIC, SYS_LISTED_METRIC, SYS_LISTED_VENDOR };
struct sys_hpm_listed {
    char text[160];  /* for SYS_HPM_OPEN */
    char means[160]; /* the vendor's event that a generic name stands for */
    char about[96];  /* explains a generic name or metric */
    char unit[48];   /* of a metric */
    uint32_t kind;
    uint32_t counters; /* of an event: programmable counters that can count it */
    uint32_t fixed;    /* of an event: 1: it has a counter of its own */
    /* Groups that there would be more if it were counted, too, beside what is counted now;
     * SYS_LISTED_NEVER: it cannot. */
    uint32_t groups;
};

/* What to sample. hpm/policy/criteria.h defines the form of the text. */
struct sys_profiling {
    uint64_t criteria; /* address of the text */
    uint32_t pid;      /* samples of this process; 0: of all */
    uint32_t rate;     /* samples a second that adaptive periods aim at, for each criterion */
    /* of the busy CPUs' time; periods are lengthened so that sampling costs no more */
    uint32_t permille;
    uint32_t chains; /* SYS_CHAINS_ */
    uint32_t family; /* 1: also of the processes that it starts from then on, and these in turn */
    uint32_t reserved;
};
/* Samples have no chains of calls; those that an interrupt takes have one, by frame pointers, or by
 * the program's table of frames where it has one. */
enum { SYS_CHAINS_NONE, SYS_CHAINS_FP, SYS_CHAINS_TABLE, SYS_CHAINS };
#define SYS_CHAIN_MAX 127 /* addresses of a chain */

#define SYS_SOURCE_NONE 7
struct sys_sample {
    uint64_t time; /* ns since boot */
    uint64_t pc;
    uint64_t data, data_phys; /* addresses of an access */
    uint32_t tid, pid;        /* 0: an idle thread, or the kernel */
    uint32_t period;          /* events, ns, entries or accesses that the sample stands for */
    uint16_t cpu, latency;    /* latency: cycles of an access */
    uint8_t source;           /* of an access, as in sys_breakdown; SYS_SOURCE_NONE: no access */
    uint8_t criterion;        /* its index among the criteria named */
    uint8_t user, store;      /* 1: taken in user mode; the access is a store */
    uint16_t walk;            /* cycles of the page walk before the access; 0: none, or unknown */
    uint8_t reserved;
    uint8_t fetch; /* 1: the access is the translation of an instruction, which had to walk */
    /* 1: the access read and wrote in one; the cache that served it had modified the line. 0: no,
     * or the machine does not tell. */
    uint8_t atomic, modified;
    uint16_t bytes; /* of the access, of those in the line of `data`; 0: unknown */
    uint32_t chain; /* of calls, see SYS_SAMPLE_CHAIN; 0: none */
};

enum { SYS_NOT_STRETCHED, SYS_STRETCHED_FOR_COST, SYS_STRETCHED_FOR_STORMS };
/* The account of one criterion since its session was opened. */
struct sys_sample_account {
    char name[160];
    uint64_t taken, delivered, lost; /* taken = delivered + lost + samples that wait */
    uint64_t stood_for;              /* sum of the periods of the samples taken */
    uint64_t estimate;               /* stood_for, scaled to all of the time */
    uint64_t period;                 /* the present mean */
    uint64_t asked;                  /* the period asked for; 0: adaptive */
    uint64_t throttled;              /* storms of interrupts that were cut short */
    /* cycles that sampling took since boot, all criteria and sessions */
    uint64_t cycles;
    /* Cycles of all CPUs since boot, by the clock: all, and idle ones. */
    uint64_t passed, idle;
    /* of the time in which it could be sampled; less than 1000 if events take turns */
    uint64_t seen_permille;
    uint64_t stretched; /* SYS_STRETCHED_: why the period is longer than adapted */
    /* Samples of the session whose chain was cut short, and that had none for lack of room. */
    uint64_t chains_cut, chains_full;
};

/* What lies at an address of a process or of the kernel. Texts end with NUL; an empty text:
 * unknown. */
struct sys_symbol {
    uint64_t region_offset;   /* from the region's first byte; in "kernel" from the image's */
    uint64_t region_bytes;    /* of the region */
    uint64_t function_offset; /* from the function's first instruction */
    /* Number of the memory that the region shows and other processes may map as well, at other
     * addresses, and where in it; 0: the process's own memory. */
    uint64_t shared, shared_offset;
    uint32_t line;     /* in `file`, from 1; 0: unknown */
    uint32_t reserved; /* 0 */
    char region[16];   /* a region of the process's memory, "vdso" or "kernel" */
    char function[96];
    char file[96]; /* path from the top of the repository; a file from elsewhere: its name */
};

/* A policy that another policy chooses among, with the misses that it has had or would have had. */
struct sys_expert {
    uint64_t misses;
    char name[16];
};

/* Memory of a process and of the machine. New members are added at the end; a caller that passes
 * fewer bytes gets the members that fit. */
struct sys_memory {
    uint64_t mapped_bytes, resident_bytes, swapped_bytes;
    uint64_t faults; /* page faults of any kind */
    /* Of the process's pool, which other processes may share; 0, as the members up to policy: it
     * has none. */
    uint64_t limit_bytes, pool_bytes;
    /* Faults on new pages; that needed no read; that needed one. */
    uint64_t first_faults, minor_faults, major_faults;
    uint64_t page_ins, page_outs, clean_outs;     /* pages read; written; evicted without a write */
    uint64_t prefetched, prefetched_used, wasted; /* pages read ahead; used; evicted unused */
    uint64_t rescued;                             /* pages used while they were being written out */
    uint64_t waits;                               /* for a frame */
    uint64_t read_errors, write_errors;
    uint64_t memory_bytes, free_bytes;                    /* the machine's */
    uint64_t swap_bytes, swap_free_bytes, swap_bad_bytes; /* 0: there is no swap disk */
    uint64_t swap_reads, swap_writes;                     /* requests */
    /* 1: the process has ended, and these are its last values. */
    uint32_t ended;
    uint32_t reserved;
    char policy[16], tracker[16];
    /* Its pool's. */
    uint64_t waited_ns; /* for pages, sum of all threads */
    char in_force[16];  /* what `policy` does now, where it chooses */
    /* Changes from one policy to another; evicted pages that the policy remembers. */
    uint64_t switches, remembered;
    struct sys_expert expert[8]; /* policies that it chooses among, up to an empty name */
    char prefetch[16];           /* policy of prefetching */
    uint64_t prefetch_level;     /* its window or threshold */
    uint64_t prefetch_unused;    /* pages read ahead, resident, not used yet */
    /* Pages used while still being read; times that prefetching stopped as too many pages were
     * unused. */
    uint64_t prefetch_late, prefetch_stopped;
    char goal[16]; /* by which memory is divided; empty: into even parts */
    /* Pages it keeps when memory is short, 0: an even part; the plan that it moves towards. */
    uint64_t target_bytes, planned_bytes;
    uint64_t weight, step_bytes; /* step: the difference that "more" and "less" below stand for */
    uint64_t hot_bytes;          /* pages in constant use, which no curve shows */
    /* Predicted loss of speed by waiting: as planned, with a step more, with a step less. */
    uint64_t lost_ppm, lost_more_ppm, lost_less_ppm;
    /* The tracker's, for all processes. */
    uint64_t entries, entries_lost, interrupts;
    /* time for logging, for delivering the log, for both and all else */
    uint64_t log_ns, deliver_ns, cost_ns;
    uint64_t ran_ns; /* of threads that hardware watched; 0: unknown */
    uint32_t spaces; /* that are watched */
    /* watched: 1: this process is; one page in 2^sample_shift is logged */
    uint32_t watched, sample_shift;
    uint32_t reserved_too;
    uint64_t cycles_hz; /* of the simulated machine's model; 0: another machine */
    /* Memory that the process can still fill before memory, its limits or the swap disk are
     * exhausted. Of an ended process: when it ended. */
    uint64_t room_bytes;
    /* This process's part of major_faults and waited_ns, which are those of its pool. */
    uint64_t own_major_faults, own_waited_ns;
};

/* Misses that a process would have had in an epoch with 1/16, 2/16, ... of the pages it used. First
 * uses are not counted. */
#define SYS_CURVE_POINTS 16
#define SYS_MEMORY_FILES 0x7fffffff /* in a pid's place: the pages of files of all processes */

struct sys_curve {
    /* Of an epoch. accesses: those that the tracker saw, including first uses. */
    uint64_t pages, accesses, first_uses;
    uint64_t epochs, epoch_ms;
    uint32_t sample_shift, points;
    uint32_t has_mru, spare; /* has_mru: 1: mru is valid */
    uint64_t lru[SYS_CURVE_POINTS], mru[SYS_CURVE_POINTS];
};

struct sys_memory_region {
    uint64_t start, bytes, resident_bytes, swapped_bytes;
    uint64_t faults, major_faults; /* faults that brought a page in; major: that needed a read */
    uint32_t prot, advice;         /* SYS_PROT_, SYS_ADVICE_ */
    char name[16];
    char policy[16]; /* by which its pages are replaced; empty: they are never evicted */
};

struct sys_cpu {
    uint16_t chip, core, node; /* core: counted over the whole machine */
    uint16_t line_bytes;       /* of its caches' lines; 0: unknown */
    /* Cycles by the counters, up to the CPU's last switch or tick; 0: there are none. */
    uint64_t busy_cycles, idle_cycles;
};

enum { SYS_THREAD_BLOCKED, SYS_THREAD_READY, SYS_THREAD_RUNNING };
#define SYS_NOWHERE 0xffffffffu
struct sys_thread_state {
    uint32_t pid, tid;
    char name[32]; /* of its process */
    uint32_t state, cpu;
    uint32_t home;           /* chip that sched.policy has chosen, or SYS_NOWHERE */
    uint32_t cluster, group; /* found, and stated by the program, or SYS_NOWHERE */
    uint32_t reserved;
    uint64_t run_ns, ready_ns; /* on a CPU, and waiting for one */
    uint64_t migrations;       /* to another CPU */
};

#define SYS_SHARING_ROWS    128
#define SYS_SHARING_COLUMNS 96
/* The shMaps of the latest detection: how often each thread was sampled on each of the most
 * contended lines. Rows are sorted by cluster. */
struct sys_sharing {
    uint64_t time_ns; /* when they were made; 0: there are none */
    uint64_t samples;
    uint32_t detecting; /* 1: samples are being taken */
    uint32_t threads, clusters;
    uint32_t remote_permille;     /* of its cycles: waiting for other chips' caches, lately */
    uint32_t lines, global_lines; /* sampled; left out, as most threads use them */
    uint32_t line_bytes;
    uint32_t rows, columns;          /* below; further threads are left out */
    uint32_t taken_back;             /* placements that made those waits grow */
    uint64_t detections, migrations; /* that have ended; of threads to another chip */
    uint64_t all_samples, lost, cost_ns, passed_ns; /* of those: CPU time spent, of what time */
    uint64_t line[SYS_SHARING_COLUMNS];             /* address of each column's line */
    uint32_t tid[SYS_SHARING_ROWS];
    int16_t cluster[SYS_SHARING_ROWS]; /* from 0; -1: none */
    char why[SYS_SHARING_ROWS][8];     /* member, silent, global, alone, unsure */
    uint8_t count[SYS_SHARING_ROWS * SYS_SHARING_COLUMNS]; /* [rows][columns] */
};

struct sys_decision {
    uint64_t number, time_ns; /* number: from 1 */
    uint32_t pid, reserved;
    char phase[16], reason[16], text[160];
};

/* When a new value takes effect: at the next boot; at once; for programs that start later. */
enum { SYS_KNOB_FIXED, SYS_KNOB_NOW, SYS_KNOB_NEXT };
struct sys_knob {
    char name[32], value[64], accepts[192], help[256];
    uint32_t live; /* SYS_KNOB_ */
    uint32_t reserved;
};

#define SYS_ARGS_MAX   64   /* words that a program can be given, including its name */
#define SYS_ARGS_BYTES 4096 /* ... and bytes of them all, including a NUL behind each */
