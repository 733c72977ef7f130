/*
 * The system-call interface, shared by the kernel and apps/libc. Every call returns 0 or a value
 * >= 0, or -Exxx. Every pointer and every number is checked by the kernel; a bad one costs the
 * caller an error, nobody else anything. Convention: number and up to six arguments in the ISA's
 * system-call registers (x86-64: rax; rdi rsi rdx r10 r8 r9; result in rax; rcx and r11 are lost.
 * AArch64: x8; x0-x5; result in x0). Code that a program has written itself it hands to
 * __builtin___clear_cache before it executes it.
 */
#pragma once
#include <stdint.h>

enum sys_number {
    SYS_EXIT,  /* (status) ends the process; 0..255 */
    SYS_WRITE, /* (fd, buf, len) fd 1 and 2: the console. Bytes written; -EBADF -EFAULT */
    SYS_READ,  /* (fd, buf, len) fd 0: console line. Bytes, 0 at its end */
    /* (len, prot, name) memory; name may be 0. Address; -ENOMEM -EINVAL; -EACCES: W+X */
    SYS_MMAP,
    SYS_MUNMAP,        /* (addr, len) holes are fine; -EINVAL -ENOMEM */
    SYS_MPROTECT,      /* (addr, len, prot) -EINVAL; -ENOMEM: a hole; -EACCES: W+X */
    SYS_THREAD_CREATE, /* (struct sys_thread *) tid; -EINVAL -EFAULT -ENOMEM -EAGAIN */
    /* (uint32_t *clear) stores 0 there, if not 0, wakes its futex, ends the thread */
    SYS_THREAD_EXIT,
    /* (addr, expected, timeout_ns) -EAGAIN: differs; -ETIMEDOUT; timeout -1: none */
    SYS_FUTEX_WAIT,
    SYS_FUTEX_WAKE,   /* (addr, count) number woken */
    SYS_YIELD,        /* () */
    SYS_SLEEP,        /* (ns) */
    SYS_CLOCK,        /* () ns since boot */
    SYS_GETPID,       /* () */
    SYS_GETTID,       /* () */
    SYS_GETCPU,       /* () index of the CPU the caller runs on */
    SYS_SET_TLS,      /* (addr) thread pointer of the caller */
    SYS_SET_AFFINITY, /* (tid, mask *, bytes) tid 0: the caller; threads of the own process only */
    SYS_GET_AFFINITY, /* (tid, mask *, bytes) */
    SYS_SET_PRIORITY, /* (tid, prio) 1..3 */
    SYS_SYSINFO,      /* (struct sys_info *, bytes) */
    SYS_GROUP,        /* (group) the caller's sharing group, as policy "hand" uses it; 0..65535 */
    SYS_MARK,         /* (label) a labelled point for the ground truth of a simulated machine */
    /* (struct sys_hpm_read *, struct sys_breakdown *, bytes) no session, not since_last */
    SYS_HPM_READ,
    SYS_HPM_PRINT, /* (struct sys_hpm_read *) prints the stall breakdown on the console */
    /* (text, bytes) an application of the bundle: its name and arguments, each ended by NUL; pid */
    SYS_SPAWN,
    /* (pid) exit status of an application the caller's process has spawned; -ESRCH: there is
     * none */
    SYS_WAIT,
    /* (pid, struct sys_thread_info *, bytes) pid 0: of all processes; how many there are */
    SYS_THREADS,
    /* (names, char *why, bytes) counts events and metrics from now on; a session's number; -ENOSPC:
     * one process may have SYS_COUNT_SESSIONS at a time, and its family SYS_COUNT_FAMILY */
    SYS_HPM_OPEN,
    /* (struct sys_hpm_read *, struct sys_hpm_value *, bytes) how many the session has; -EFAULT:
     * nothing has been read, for those since last */
    SYS_HPM_VALUES,
    SYS_HPM_CLOSE, /* (session) */
    /* (pid, addr, struct sys_symbol *, bytes) what is there; pid 0: the own process; code only, if
     * it has ended */
    SYS_SYMBOL,
    /* (struct sys_profiling *, char *why, bytes) samples by criteria from now on; a session's
     * number; -ENOSPC: one process may have SYS_SAMPLE_SESSIONS at a time, and its family
     * SYS_SAMPLE_FAMILY */
    SYS_SAMPLE_OPEN,
    /* (session, struct sys_sample *, bytes) how many there were, as many as there is room for; what
     * could not be copied (-EFAULT) stays for the next call */
    SYS_SAMPLE_TAKE,
    /* (session, criterion, struct sys_sample_account *, bytes) -ENOENT: behind the last */
    SYS_SAMPLE_ACCOUNT,
    SYS_SAMPLE_CLOSE, /* (session) */
    /* () the pid that the next application the caller's process spawns will have */
    SYS_NEXT_PID,
    SYS_MADVISE, /* (addr, len, SYS_ADVICE_) -EINVAL; -ENOMEM: a hole */
    SYS_MEMORY,  /* (pid, struct sys_memory *, bytes) pid 0: the own process */
    SYS_REGIONS, /* (pid, struct sys_memory_region *, bytes) by address; how many there are */
    /* (session) address of a struct hpm_user_page that the caller, this thread, may read; one for
     * each thread */
    SYS_HPM_SHOW,
    /* (name, offset, len, prot, uint64_t *mapped) a disk's contents, whole pages; len 0: to its
     * end; mapped, if not 0: how much. Who may write has a copy of its own. Address; -ENOENT: no
     * such disk; -EBUSY: pages are swapped to it; -EINVAL: beyond it; -ENOMEM; -EACCES: W+X */
    SYS_MMAP_DISK,
    /* (pid, struct sys_curve *, bytes) pid 0: the own process; -ENOENT: none has been made of it */
    SYS_CURVE,
    /* (scope) ns on a CPU so far: SYS_SCOPE_THREAD the caller, SYS_SCOPE_PROCESS its process;
     * -EINVAL */
    SYS_CPU_TIME,
    /* (uint32_t *cursor, struct sys_hpm_listed *, bytes) what can be counted by name, from cursor
     * 0, which is moved on; -ENOENT: no more; -ENODEV: no counters that are known, or not by name
     */
    SYS_HPM_LIST,
    SYS_COUNT
};

/* How the memory will be used: as may be; in a row, so that much is read ahead and what is behind
 * leaves first; here and there, so that nothing is read ahead. Then: is read in ahead; is
 * forgotten, and all zeros when next used. */
enum {
    SYS_ADVICE_NORMAL,
    SYS_ADVICE_SEQUENTIAL,
    SYS_ADVICE_RANDOM,
    SYS_ADVICE_WILLNEED,
    SYS_ADVICE_DONTNEED
};
enum { SYS_PROT_READ = 1, SYS_PROT_WRITE = 2, SYS_PROT_EXEC = 4 };
/* Sessions that a process may have open at a time, and that a family (an application and its
 * descendants) may have, of those all processes share: 16 and 4. */
enum {
    SYS_COUNT_SESSIONS = 4,
    SYS_SAMPLE_SESSIONS = 2,
    SYS_COUNT_FAMILY = 8,
    SYS_SAMPLE_FAMILY = 3
};
/* With proc.visible=own (docs/use/boot-args.md) other processes than the own one and those that it
 * has started are as if they were not there (-ESRCH), and the machine's counts and all processes'
 * samples cannot be had (-EACCES). */
/* Family: a process and all that it has started, and these, those that have ended included. */
enum { SYS_SCOPE_THREAD, SYS_SCOPE_PROCESS, SYS_SCOPE_MACHINE, SYS_SCOPE_FAMILY, SYS_SCOPES };

struct sys_thread {
    uint64_t entry; /* called as entry(arg) with sp = stack_top */
    uint64_t arg;
    uint64_t stack_top; /* 16-byte aligned */
    uint64_t tls;
    uint64_t tid_addr; /* 32-bit word that gets the tid before the thread runs, or 0 */
};

struct sys_info {
    uint32_t cpus, chips, cores_per_chip, threads_per_core;
    uint32_t line_bytes;
    uint32_t pmu; /* 1: there is one */
    uint64_t memory_bytes, free_bytes;
    uint64_t ticks_hz;   /* of the clock user mode can read, 0: it can not */
    uint64_t ticks_base; /* ticks at clock 0: ns = (ticks - base) * 10^9 / hz */
    /* of the CPUs, as AT_HWCAP has it on Linux; 0 where programs ask the CPU itself */
    uint64_t hwcap;
};

/* struct hpm_breakdown for user mode: same order, see hpm/hpm.h; and what estimates are made by. */
struct sys_breakdown {
    uint64_t cycles, instructions, idle_cycles;
    uint64_t stall[7];
    uint64_t dcache[7];
    uint64_t served[7];
    uint64_t missed[8];
    uint64_t seen_cycles; /* during which the least seen of the shared figures was counted */
    /* bit n: the nth of the words above is counted here, else it is 0 for want of a counter */
    uint64_t counted;
    /* Cycles of an access that each source serves, as the machine documents it, or measured at
     * boot; 0: not known. */
    uint64_t latency[7];
    /* Of each figure from stall on: what was counted, and the cycles in which it was; 0: it is
     * worked out, not counted. */
    uint64_t figure_counted[29], figure_seen[29];
    /* bit f: figure f was scaled to something else, and made to fit its whole or its parts */
    uint64_t fitted;
};

struct sys_thread_info {
    uint32_t pid, tid;
    char name[32]; /* of its process */
};

/* What is read, of a thread, a process and those of its threads that have ended, a family, or the
 * machine. What a session's names come to is from the session's opening or, since_last, from this
 * session's last such reading of the same; the breakdown is from the beginning. */
struct sys_hpm_read {
    uint32_t session, scope; /* SYS_SCOPE_ */
    uint32_t pid, tid;       /* 0: the own one */
    uint32_t since_last;     /* 0 or 1 */
    uint32_t reserved;       /* 0 */
};

enum { SYS_VALUE_COUNT, SYS_VALUE_METRIC };
/* How sure a count is: exact; 95 % between low and high; seen too short to say; never seen; in the
 * published form; too large; nothing was counted, here or by others, so that nothing is known of
 * what it comes in. */
enum {
    SYS_SURE_EXACT,
    SYS_SURE_INTERVAL,
    SYS_SURE_SHORT,
    SYS_SURE_UNSEEN,
    SYS_SURE_PUBLISHED,
    SYS_SURE_BEYOND,
    SYS_SURE_NONE
};
/* Why there is no metric: an event was not counted, a division by 0, or too large. */
enum { SYS_METRIC_FINE, SYS_METRIC_UNSEEN, SYS_METRIC_DIVISION, SYS_METRIC_TOO_LARGE };
/* Of the machine's counts: threads', what the idle threads do, interrupts', monitoring's; the two
 * last are 0 and among the first unless the boot says hpm.accounts=on. */
enum {
    SYS_ACCOUNT_THREADS,
    SYS_ACCOUNT_IDLE,
    SYS_ACCOUNT_INTERRUPTS,
    SYS_ACCOUNT_MONITORING,
    SYS_ACCOUNTS
};
struct sys_hpm_value {
    char name[160], unit[32]; /* as asked for; of a metric */
    uint32_t kind, sure;
    /* a count; without an interval what was really counted, and 2^64 - 1 */
    uint64_t count, low, high;
    uint64_t part[SYS_ACCOUNTS]; /* of a count of the machine: whose it is; they add up to it */
    int64_t millionths;          /* a metric */
    uint32_t trouble;
    uint32_t seen_permille; /* of the time */
    /* of a count: what was really counted, for how much of what length (cycles, or instructions) */
    uint64_t counted, seen, length;
    /* 1: it was scaled to something else, and made to fit its whole or its parts */
    uint32_t fitted;
    uint32_t reserved;
};

enum { SYS_LISTED_GENERIC, SYS_LISTED_METRIC, SYS_LISTED_VENDOR };
struct sys_hpm_listed {
    char text[160];  /* for SYS_HPM_OPEN */
    char means[160]; /* the vendor's event of a generic name */
    char about[96];  /* of a generic name or metric */
    char unit[48];   /* of a metric */
    uint32_t kind;
    uint32_t counters; /* of an event: programmable ones that can count it */
    uint32_t fixed;    /* of an event: 1: it has a counter that counts only that */
    uint32_t reserved;
};

/* What is to be sampled; hpm/policy/criteria.h has the text's form. */
struct sys_profiling {
    uint64_t criteria; /* address of the text */
    uint32_t pid;      /* samples of this process only; 0: of all */
    uint32_t rate;     /* samples a second that adaptive periods aim at, for each criterion */
    uint32_t permille; /* of the busy CPUs' time that sampling may cost: periods are lengthened */
    uint32_t reserved; /* 0 */
};

#define SYS_SOURCE_NONE 7
struct sys_sample {
    uint64_t time; /* ns since boot */
    uint64_t pc;
    uint64_t data, data_phys; /* of an access */
    uint32_t tid, pid;        /* 0: idle, or the kernel */
    uint32_t period;          /* so many events, ns, entries, accesses it stands for */
    uint16_t cpu, latency;    /* cycles, of an access */
    uint8_t source;           /* of an access, as in sys_breakdown; SYS_SOURCE_NONE: it is none */
    uint8_t criterion;        /* from 0, as named */
    uint8_t user, store;      /* was it in user mode; is the access a store */
};

enum { SYS_NOT_STRETCHED, SYS_STRETCHED_FOR_COST, SYS_STRETCHED_FOR_STORMS };
/* One criterion's account, since its session was opened. */
struct sys_sample_account {
    char name[160];
    uint64_t taken, delivered, lost; /* taken = delivered + lost + what waits */
    uint64_t stood_for;              /* sum of the periods of those taken */
    uint64_t estimate;               /* the same scaled to all the time, seen or not */
    uint64_t period;                 /* mean, at present */
    uint64_t asked;                  /* for, or 0: it is adapted */
    uint64_t throttled;              /* storms of interrupts that were cut short */
    uint64_t cycles;                 /* that sampling took since boot, all criteria and sessions */
    /* since boot, by the clock, in the same: of all CPUs, and idle */
    uint64_t passed, idle;
    uint64_t seen_permille; /* of the time it could be sampled: events may take turns */
    uint64_t stretched;     /* SYS_STRETCHED_: why the period is longer than it would be */
};

/* What lies at an address of a process, or of the kernel. Texts end with NUL; an empty one: not
 * known. */
struct sys_symbol {
    uint64_t region_offset;   /* from the first byte of the region; "kernel": of the image */
    uint64_t region_bytes;    /* size of the region */
    uint64_t function_offset; /* from the function's first instruction */
    uint32_t line;            /* of file, from 1; 0: not known */
    uint32_t reserved;        /* 0 */
    char region[16];          /* a region of the process's memory, or "kernel" */
    char function[96];
    char file[96]; /* path from the top of the repository, or the name of a file from elsewhere */
};

/* One of those that a policy chooses among: misses that it has had so far, or would have had. */
struct sys_expert {
    uint64_t misses;
    char name[16];
};

/* Memory of a process, and of the machine. It grows at its end: who asks for fewer bytes gets what
 * they hold. */
struct sys_memory {
    uint64_t mapped_bytes, resident_bytes, swapped_bytes;
    uint64_t faults; /* page faults of any kind */
    /* of its pool, which others may share; 0: it has none, nor what follows up to policy */
    uint64_t limit_bytes, pool_bytes;
    /* pages that came into being; needed no reading; did */
    uint64_t first_faults, minor_faults, major_faults;
    uint64_t page_ins, page_outs, clean_outs;     /* read; written; left without being written */
    uint64_t prefetched, prefetched_used, wasted; /* read ahead; of those, used; evicted unused */
    uint64_t rescued;                             /* used while they were being written */
    uint64_t waits;                               /* for a frame */
    uint64_t read_errors, write_errors;
    uint64_t memory_bytes, free_bytes;                    /* the machine's */
    uint64_t swap_bytes, swap_free_bytes, swap_bad_bytes; /* 0: there is none */
    uint64_t swap_reads, swap_writes;                     /* requests */
    /* 1: the process has ended; as it was then */
    uint32_t ended;
    uint32_t reserved;
    char policy[16], tracker[16];
    /* Its pool's. */
    uint64_t waited_ns; /* for pages, all threads together */
    char in_force[16];  /* what `policy` does now, where it chooses */
    /* from one to another; pages that are out and that it remembers */
    uint64_t switches, remembered;
    struct sys_expert expert[8]; /* that it chooses among, up to an empty name */
    char prefetch[16];           /* policy of prefetching */
    uint64_t prefetch_level;     /* its window, or threshold */
    uint64_t prefetch_unused;    /* read ahead, in memory, not used yet */
    /* used while still being read; too many were unused to go on */
    uint64_t prefetch_late, prefetch_stopped;
    char goal[16]; /* by which memory is divided; empty: even parts */
    /* it keeps when memory is short, 0: an even part; which goes towards the plan */
    uint64_t target_bytes, planned_bytes;
    uint64_t weight, step_bytes; /* step: so much is meant by more and less */
    uint64_t hot_bytes;          /* used all the time, which no curve knows */
    /* of its speed by waiting, foretold: as planned, with more, with less */
    uint64_t lost_ppm, lost_more_ppm, lost_less_ppm;
    /* The tracker's, of all processes. */
    uint64_t entries, entries_lost, interrupts;
    uint64_t log_ns, deliver_ns, cost_ns; /* of logging, of using what is logged, of all */
    uint64_t ran_ns;                      /* of threads that hardware watched; 0: not known */
    uint32_t spaces;                      /* that are watched */
    uint32_t watched, sample_shift;       /* 1: this one is; one page of 2^this is logged */
    uint32_t reserved_too;
    uint64_t cycles_hz; /* of the simulated machine's model; 0: it is another */
    /* The process can still fill before memory, its limits and the swap disk have no more; of one
     * that has ended: could. */
    uint64_t room_bytes;
    /* Of major_faults and waited_ns those of this process, for others may share its pool. */
    uint64_t own_major_faults, own_waited_ns;
};

/* How often a process would have missed in an epoch with a 16th, two 16ths, ... of the pages it
 * used, first uses left out. */
#define SYS_CURVE_POINTS 16
struct sys_curve {
    /* of an epoch; accesses that the tracker saw, first uses among them */
    uint64_t pages, accesses, first_uses;
    uint64_t epochs, epoch_ms;
    uint32_t sample_shift, points;
    uint32_t has_mru, spare; /* has_mru: of MRU, too, there is a curve */
    uint64_t lru[SYS_CURVE_POINTS], mru[SYS_CURVE_POINTS];
};

struct sys_memory_region {
    uint64_t start, bytes, resident_bytes, swapped_bytes;
    uint64_t faults, major_faults; /* pages that came; of those, how many had to be read */
    uint32_t prot, advice;         /* SYS_PROT_, SYS_ADVICE_ */
    char name[16];
    char policy[16]; /* that its pages are replaced by; empty: they do not leave */
};

#define SYS_ARGS_MAX   64   /* words that a program is given at most, its name included */
#define SYS_ARGS_BYTES 4096 /* ... all together, with the NUL behind each */

/*
 * Start of a process: entry point with sp 16-byte aligned, pointing at: uint64 argc, argc pointers,
 * 0, then 0 (no environment). The first argument register also holds that address.
 */
