/*
 * Linux's calls of identity, limits, scheduling and time, one by one: results and errors as on
 * Linux, from whose headers the numbers and structures below are.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "test/qemu/apps/tap.h"

#define CALL(number, name, handler) enum { NR_##name = (number) };
#define REFUSED(number, name)
#include "linux_calls.h"

/* Linux's error numbers; newlib's differ. */
enum {
    L_EPERM = -1,
    L_ESRCH = -3,
    L_EBADF = -9,
    L_EFAULT = -14,
    L_EINVAL = -22,
    L_EOPNOTSUPP = -95
};
enum { NO_TID = 0x7ffffff0, NAME_BYTES = 16, FIELD_BYTES = 65 };
#define BAD    UINT64_C(0x10)
#define AT(x)  ((uint64_t)(uintptr_t)(x))
#define NS_MAX UINT64_C(1000000000)

struct row {
    const char *what;
    uint64_t number, a[5];
    int64_t expected;
};

static uint64_t buffer[64];

static int64_t call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return syscall_raw(number, a, b, c, d, 0, 0);
}

static void ask_all(const struct row *rows, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        int64_t result = syscall_raw(r->number, r->a[0], r->a[1], r->a[2], r->a[3], r->a[4], 0);
        tap_check(result == r->expected, "%s: %" PRId64 " (expected %" PRId64 ")", r->what, result,
                  r->expected);
    }
}
#define ASK(rows) ask_all(rows, sizeof(rows) / sizeof((rows)[0]))

static void ask_identity(void)
{
    const uint64_t pid = (uint64_t)call(NR_getpid, 0, 0, 0, 0);
    const struct row rows[] = {
        {"gettid of the first thread", NR_gettid, {0}, (int64_t)pid},
        {"getppid of the first process", NR_getppid, {0}, 0},
        {"getuid", NR_getuid, {0}, 0},
        {"getegid", NR_getegid, {0}, 0},
        {"getresuid", NR_getresuid, {AT(buffer), AT(buffer), AT(buffer)}, 0},
        {"getresgid of nowhere", NR_getresgid, {AT(buffer), BAD, AT(buffer)}, L_EFAULT},
        {"getgroups", NR_getgroups, {0}, 0},
        {"getgroups of a negative size", NR_getgroups, {(uint64_t)-1}, L_EINVAL},
        {"getpgid", NR_getpgid, {0}, (int64_t)pid},
        {"getsid of its pid", NR_getsid, {pid}, (int64_t)pid},
        {"getsid of no process", NR_getsid, {NO_TID}, L_ESRCH},
        {"uname of nowhere", NR_uname, {BAD}, L_EFAULT},
        {"uname", NR_uname, {AT(buffer)}, 0},
    };

    ASK(rows);
    const char *field = (const char *)buffer;
    tap_check(!strcmp(field, "Linux"), "the system is %s", field);
    tap_check(!strncmp(field + 2 * FIELD_BYTES, "6.1.0", 5), "of %s", field + 2 * FIELD_BYTES);
    tap_check(field[4 * FIELD_BYTES] == 'x' || field[4 * FIELD_BYTES] == 'a', "on %s",
              field + 4 * FIELD_BYTES);
    tap_check(!call(NR_sysinfo, AT(buffer), 0, 0, 0) && buffer[4] && buffer[4] > buffer[5],
              "sysinfo: %" PRIu64 " of %" PRIu64 " bytes are free", buffer[5], buffer[4]);
}

/* Returns whether the memory at this address has this name. */
static bool named(uint64_t at, const char *name)
{
    struct sys_symbol s = {0};

    return !symbol_of(0, at, &s) && !strcmp(s.region, name);
}

int main(void);

static void ask_process(void)
{
    enum { SET_DEATH = 1, GET_DEATH, SET_NAME = 15, GET_NAME = 16, NO_PRIVS = 38, HAS_NO_PRIVS };
    enum { SET_VMA = 0x53564d41, PAGE = 4096 };
    const uint64_t at = AT(memory_map("asks", 4 * PAGE)), code = AT(&main) & ~(PAGE - 1ul);
    const struct row rows[] = {
        {"a name", NR_prctl, {SET_NAME, AT("a name that is too long")}, 0},
        {"a name from nowhere", NR_prctl, {SET_NAME, BAD}, L_EFAULT},
        {"its name", NR_prctl, {GET_NAME, AT(buffer)}, 0},
        {"no signal", NR_prctl, {SET_DEATH, 65}, L_EINVAL},
        {"a signal", NR_prctl, {SET_DEATH, 9}, 0},
        {"which signal", NR_prctl, {GET_DEATH, AT(buffer + 4)}, 0},
        {"no new rights", NR_prctl, {NO_PRIVS, 1}, 0},
        {"no new rights, wrongly", NR_prctl, {NO_PRIVS, 2}, L_EINVAL},
        {"whether no new rights", NR_prctl, {HAS_NO_PRIVS}, 1},
        {"memory's name", NR_prctl, {SET_VMA, 0, at + PAGE, PAGE, AT("a very long name")}, 0},
        {"no name of memory", NR_prctl, {SET_VMA, 0, at + 2 * PAGE, PAGE, 0}, 0},
        {"a name of no page", NR_prctl, {SET_VMA, 0, at + 1, PAGE, AT("x")}, L_EINVAL},
        {"a name with a bracket", NR_prctl, {SET_VMA, 0, at, PAGE, AT("x]")}, L_EINVAL},
        {"a name from nowhere", NR_prctl, {SET_VMA, 0, at, PAGE, BAD}, L_EFAULT},
        {"a name of a file's memory", NR_prctl, {SET_VMA, 0, code, PAGE, AT("x")}, L_EBADF},
        {"another wish of memory", NR_prctl, {SET_VMA, 1, at, PAGE, AT("x")}, L_EINVAL},
        {"an unknown wish", NR_prctl, {12345}, L_EINVAL},
        {"which system", NR_personality, {0xffffffff}, 0},
        {"no random addresses", NR_personality, {0x0040000}, 0},
        {"which system now", NR_personality, {0xffffffff}, 0x0040000},
        {"another system", NR_personality, {4}, L_EINVAL},
    };

    ASK(rows);
    tap_check(!strcmp((const char *)buffer, "a name that is "), "the name is cut: '%s'",
              (const char *)buffer);
    tap_check((uint32_t)buffer[4] == 9, "the signal is kept");
    tap_check(named(at, "asks") && named(at + PAGE, "a very long nam") &&
                  named(at + 2 * PAGE, "memory") && named(at + 3 * PAGE, "asks"),
              "memory has the names");
}

static void ask_random(void)
{
    const struct row rows[] = {
        {"no random bytes", NR_getrandom, {AT(buffer), 0, 0}, 0},
        {"some", NR_getrandom, {AT(buffer), sizeof buffer, 1}, sizeof buffer},
        {"for nowhere", NR_getrandom, {BAD, 16, 0}, L_EFAULT},
        {"of an unknown kind", NR_getrandom, {AT(buffer), 16, 8}, L_EINVAL},
        {"of two kinds", NR_getrandom, {AT(buffer), 16, 6}, L_EINVAL},
    };

    ASK(rows);
}

static void ask_limits(void)
{
    enum { STACK = 3, FILES = 7, LIMITS = 16 };
    static const uint64_t lower[2] = {256, 512}, upside_down[2] = {2, 1}, huge[2] = {1, 1 << 21};
    const struct row rows[] = {
        {"the stack's limit", NR_prlimit64, {0, STACK, 0, AT(buffer)}, 0},
        {"a lower limit, and the old one", NR_prlimit64, {0, FILES, AT(lower), AT(buffer + 2)}, 0},
        {"the new one", NR_prlimit64, {0, FILES, 0, AT(buffer + 4)}, 0},
        {"a limit above its maximum", NR_prlimit64, {0, FILES, AT(upside_down), 0}, L_EINVAL},
        {"too many files", NR_prlimit64, {0, FILES, AT(huge), 0}, L_EPERM},
        {"no such limit", NR_prlimit64, {0, LIMITS, 0, AT(buffer)}, L_EINVAL},
        {"of no process", NR_prlimit64, {NO_TID, FILES, 0, AT(buffer + 6)}, L_ESRCH},
        {"from nowhere", NR_prlimit64, {0, FILES, BAD, 0}, L_EFAULT},
        {"to nowhere", NR_prlimit64, {0, FILES, 0, BAD}, L_EFAULT},
    };

    ASK(rows);
    tap_check(buffer[0] == 8 << 20 && buffer[2] == 1024 && buffer[4] == 256 && buffer[5] == 512,
              "limits are what was set");
}

static void ask_policies(void)
{
    enum { OTHER, FIFO, RR, BATCH, DEADLINE = 6, RESETS = 0x40000000 };
    static const int32_t zero = 0, fifty = 50, hundred = 100;
    const struct row rows[] = {
        {"yield", NR_sched_yield, {0}, 0},
        {"FIFO", NR_sched_setscheduler, {0, FIFO, AT(&fifty)}, 0},
        {"which policy", NR_sched_getscheduler, {0}, FIFO},
        {"which priority", NR_sched_getparam, {0, AT(buffer)}, 0},
        {"FIFO without priority", NR_sched_setscheduler, {0, FIFO, AT(&zero)}, L_EINVAL},
        {"FIFO of too high a priority", NR_sched_setparam, {0, AT(&hundred)}, L_EINVAL},
        {"a policy that is none", NR_sched_setscheduler, {0, 4, AT(&zero)}, L_EINVAL},
        {"deadlines", NR_sched_setscheduler, {0, DEADLINE, AT(&zero)}, L_EINVAL},
        {"its turn", NR_sched_rr_get_interval, {0, AT(buffer + 1)}, 0},
        {"RR that resets", NR_sched_setscheduler, {0, RR | RESETS, AT(&fifty)}, 0},
        {"which policy", NR_sched_getscheduler, {0}, RR | RESETS},
        {"BATCH", NR_sched_setscheduler, {0, BATCH, AT(&zero)}, 0},
        {"OTHER", NR_sched_setscheduler, {0, OTHER, AT(&zero)}, 0},
        {"OTHER with a priority", NR_sched_setscheduler, {0, OTHER, AT(&fifty)}, L_EINVAL},
        {"of no thread", NR_sched_getscheduler, {NO_TID}, L_ESRCH},
        {"highest of FIFO", NR_sched_get_priority_max, {FIFO}, 99},
        {"lowest of RR", NR_sched_get_priority_min, {RR}, 1},
        {"highest of OTHER", NR_sched_get_priority_max, {OTHER}, 0},
        {"highest of none", NR_sched_get_priority_max, {99}, L_EINVAL},
        {"nice", NR_setpriority, {0, 0, 5}, 0},
        {"how nice", NR_getpriority, {0, 0}, 15},
        {"nicer than can be", NR_setpriority, {0, 0, 100}, 0},
        {"how nice the process is", NR_getpriority, {1, 0}, 1},
        {"not nice", NR_setpriority, {0, 0, (uint64_t)-20}, 0},
        {"how nice now", NR_getpriority, {0, 0}, 40},
        {"as before", NR_setpriority, {2, 0, 0}, 0},
        {"nice to something else", NR_setpriority, {9, 0, 0}, L_EINVAL},
        {"how nice no thread is", NR_getpriority, {0, NO_TID}, L_ESRCH},
    };

    ASK(rows);
    tap_check((int32_t)buffer[0] == 50, "the priority is what was set");
    tap_check(!buffer[1] && !buffer[2], "FIFO has no turn");
}

static void ask_cpus(unsigned cpus)
{
    static const uint64_t none[2], all[16] = {~UINT64_C(0), ~UINT64_C(0), 1};
    const struct row rows[] = {
        {"no CPU", NR_sched_setaffinity, {0, sizeof none, AT(none)}, L_EINVAL},
        {"more CPUs than there are", NR_sched_setaffinity, {0, sizeof all, AT(all)}, 0},
        {"which CPUs", NR_sched_getaffinity, {0, 128, AT(buffer)}, 8},
        {"which, in too little room", NR_sched_getaffinity, {0, 4, AT(buffer)}, L_EINVAL},
        {"which, to nowhere", NR_sched_getaffinity, {0, 8, BAD}, L_EFAULT},
        {"of no thread", NR_sched_getaffinity, {NO_TID, 8, AT(buffer + 1)}, L_ESRCH},
        {"getcpu of nothing", NR_getcpu, {0}, 0},
        {"getcpu to nowhere", NR_getcpu, {BAD}, L_EFAULT},
    };

    ASK(rows);
    tap_check(buffer[0] == (cpus == 64 ? ~UINT64_C(0) : (UINT64_C(1) << cpus) - 1),
              "those that there are: %#" PRIx64, buffer[0]);
}

static void ask_clocks(void)
{
    enum { REALTIME, MONOTONIC, OF_PROCESS, OF_THREAD, RAW, ABSOLUTE = 1 };
    static const int64_t ms[2] = {0, 1000000}, past[2] = {1, 0}, wrong[2] = {0, 1000000000},
                         negative[2] = {-1, 0};
    const uint64_t pid = (uint64_t)call(NR_getpid, 0, 0, 0, 0);
    const struct row rows[] = {
        {"a millisecond", NR_nanosleep, {AT(ms), AT(buffer)}, 0},
        {"a sleep of too many ns", NR_nanosleep, {AT(wrong)}, L_EINVAL},
        {"a negative sleep", NR_nanosleep, {AT(negative)}, L_EINVAL},
        {"a sleep from nowhere", NR_nanosleep, {BAD}, L_EFAULT},
        {"by the clock", NR_clock_nanosleep, {MONOTONIC, 0, AT(ms)}, 0},
        {"until a time that is over", NR_clock_nanosleep, {MONOTONIC, ABSOLUTE, AT(past)}, 0},
        {"until a date that is over", NR_clock_nanosleep, {REALTIME, ABSOLUTE, AT(past)}, 0},
        {"by its own time", NR_clock_nanosleep, {OF_THREAD, 0, AT(ms)}, L_EOPNOTSUPP},
        {"by the raw clock", NR_clock_nanosleep, {RAW, 0, AT(ms)}, L_EOPNOTSUPP},
        {"by no clock", NR_clock_nanosleep, {77, 0, AT(ms)}, L_EINVAL},
        {"setting the date", NR_clock_settime, {REALTIME, AT(past)}, L_EPERM},
        {"setting the clock", NR_clock_settime, {MONOTONIC, AT(past)}, L_EINVAL},
        {"a clock to nowhere", NR_clock_gettime, {MONOTONIC, BAD}, L_EFAULT},
        {"its process's time by pid", NR_clock_gettime, {~pid << 3 | 2, AT(buffer)}, 0},
        {"its own time by tid", NR_clock_gettime, {~pid << 3 | 6, AT(buffer + 2)}, 0},
        {"of no process", NR_clock_gettime, {~(uint64_t)NO_TID << 3 | 2, AT(buffer)}, L_EINVAL},
        {"of no thread", NR_clock_getres, {~(uint64_t)NO_TID << 3 | 6, AT(buffer)}, L_EINVAL},
        {"times of nothing", NR_getrusage, {5, AT(buffer)}, L_EINVAL},
        {"times of the process", NR_getrusage, {0, AT(buffer + 4)}, 0},
        {"times of the thread", NR_getrusage, {1, AT(buffer + 24)}, 0},
        {"times of children", NR_getrusage, {(uint64_t)-1, AT(buffer + 44)}, 0},
    };

    ASK(rows);
    tap_check(call(NR_times, AT(buffer), 0, 0, 0) >= 0, "times");
    uint64_t process = buffer[4] * 1000000 + buffer[5], thread = buffer[24] * 1000000 + buffer[25];
    tap_check(process && thread >= process && thread - process < 1000000,
              "the only thread's time is the process's: %" PRIu64 ", %" PRIu64 " us", thread,
              process);
    tap_check(buffer[8] > 0 && !buffer[44], "memory in use: %" PRIu64 " KB", buffer[8]);
}

int main(void)
{
    ask_identity();
    ask_process();
    ask_random();
    ask_limits();
    ask_policies();
    ask_cpus((unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    ask_clocks();
    return tap_done();
}
