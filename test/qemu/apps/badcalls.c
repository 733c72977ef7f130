/*
 * Vigil's own system calls, and some of Linux's, with arguments they must refuse: wild pointers,
 * huge and wrapping lengths, misaligned addresses, identifiers that nothing has, numbers out of
 * range. Then random calls of Vigil's own. The process must live through all of it. `badcalls
 * unknown` makes one call that there is not.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "test/qemu/apps/tap.h"

#define PAGE    4096u
#define ANON    (LINUX_MAP_PRIVATE | LINUX_MAP_ANONYMOUS)
#define UNKNOWN 500 /* the number of no call, of Linux's or Vigil's */

static uint64_t unmapped;  /* a page that was unmapped again */
static uint64_t edge;      /* eight bytes in front of such a page */
static uint64_t read_only; /* a mapped page that cannot be written */
static uint64_t closed;    /* a page that was written and then lost all rights */

static const uint64_t wild_fixed[] = {
    0,
    8,
    0x7ffffffffff8,
    0x7ffffffff000,
    0x800000000000,
    0x800000000008,
    0xffff7ffffffffff8,
    0xffff800000000000,
    0xffff800000100000,
    0xffffffff80200000,
    0xfffffffffffffff8,
    0xffffffffffffffff,
};
#define WILD (sizeof wild_fixed / sizeof wild_fixed[0])

static uint64_t wild(unsigned i)
{
    return i < WILD ? wild_fixed[i] : unmapped;
}

enum { P = 0x5aa5f00d }; /* stands for the wild pointer in a table of calls */

/* What is to be read of the breakdown. */
#define READ(...)                            \
    (uint64_t) & (const struct sys_hpm_read) \
    {                                        \
        __VA_ARGS__                          \
    }
#define MACHINE READ(.scope = SYS_SCOPE_MACHINE)

struct call {
    const char *what;
    uint64_t number, a[5];
    int accepted[3]; /* errors */
};

static bool accepts(const struct call *c, int64_t result)
{
    for (unsigned i = 0; i < 3 && c->accepted[i]; i++)
        if (result == -c->accepted[i])
            return true;
    return false;
}

static int64_t make(const struct call *c, uint64_t pointer)
{
    uint64_t a[5];

    for (unsigned i = 0; i < 5; i++)
        a[i] = c->a[i] == P ? pointer : c->a[i];
    return syscall6(c->number, a[0], a[1], a[2], a[3], a[4], 0);
}

static const struct call pointer_calls[] = {
    {"write from", SYS_write, {1, P, 64}, {EFAULT}},
    {"read to", SYS_read, {0, P, 64}, {EFAULT}},
    {"mmap of a disk with its name at", SYS_MMAP_DISK, {P, 0, 0, 1, 0}, {EFAULT}},
    {"munmap", SYS_munmap, {P, 0x1000000000000}, {EINVAL}},
    {"mprotect", SYS_mprotect, {P, PAGE, 1}, {EINVAL, ENOMEM}},
    {"clone3 from", SYS_clone3, {P, 88}, {EFAULT}},
    {"futex wait at", SYS_futex, {P, LINUX_FUTEX_WAIT, 1}, {EFAULT, EINVAL}},
    {"sched_setaffinity from", SYS_sched_setaffinity, {0, 8, P}, {EFAULT}},
    {"sched_getaffinity to", SYS_sched_getaffinity, {0, 8, P}, {EFAULT}},
    {"sysinfo to", SYS_sysinfo, {P}, {EFAULT}},
    {"mark with a label at", SYS_MARK, {P}, {EFAULT}},
    {"hpm_read from", SYS_HPM_READ, {P, 0, 0}, {EFAULT}},
    {"hpm_read to", SYS_HPM_READ, {MACHINE, P, sizeof(struct sys_breakdown)}, {EFAULT}},
    {"spawn from", SYS_SPAWN, {P, 16}, {EFAULT}},
    {"threads to", SYS_THREADS, {0, P, sizeof(struct sys_thread_info)}, {EFAULT}},
    {"hpm_open of names at", SYS_HPM_OPEN, {P}, {EFAULT}},
    {"hpm_values from", SYS_HPM_VALUES, {P, 0, 0}, {EFAULT}},
    {"hpm_turns of session", SYS_HPM_TURNS, {P, 0, 0, 0, 0}, {ESRCH}},
    {"hpm_log of session", SYS_HPM_LOG, {P, 0, 0, 0}, {ESRCH, EFAULT}},
    {"hpm_log from", SYS_HPM_LOG, {1, P, 0, 0}, {EFAULT}},
    {"hpm_log_take of session", SYS_HPM_LOG_TAKE, {P, 0, 64}, {ESRCH}},
    {"sample_open from", SYS_SAMPLE_OPEN, {P, 0, 0}, {EFAULT}},
    {"place to", SYS_SYMBOL, {0, 0x401000, P, sizeof(struct sys_symbol)}, {EFAULT}},
    {"memory to", SYS_MEMORY, {0, P, sizeof(struct sys_memory)}, {EFAULT}},
    {"cpus to", SYS_CPUS, {P, sizeof(struct sys_cpu)}, {EFAULT}},
    {"thread_states to", SYS_THREAD_STATES, {0, P, sizeof(struct sys_thread_state)}, {EFAULT}},
    {"knob_list from", SYS_KNOB_LIST, {P, 0, 0}, {EFAULT}},
    {"knob_set from", SYS_KNOB_SET, {P, 0, 0}, {EFAULT}},
};

static void wild_pointers(void)
{
    for (unsigned c = 0; c < sizeof pointer_calls / sizeof pointer_calls[0]; c++) {
        const struct call *call = &pointer_calls[c];
        unsigned wrong = 0;
        for (unsigned i = 0; i <= WILD; i++) {
            uint64_t pointer = wild(i);
            int64_t result = make(call, pointer);
            if (accepts(call, result))
                continue;
            wrong++;
            printf("# %s %#llx gave %lld\n", call->what, (unsigned long long)pointer,
                   (long long)result);
        }
        tap_check(!wrong, "%s a wild pointer is refused", call->what);
    }
}

/* What is written to must be writable; what crosses into an unmapped page must not be half done
 * unnoticed. */
static void half_bad_memory(void)
{
    const struct call writes[] = {
        {"sched_getaffinity to read-only memory",
         SYS_sched_getaffinity,
         {0, 8, read_only},
         {EFAULT}},
        {"sysinfo to read-only memory", SYS_sysinfo, {read_only}, {EFAULT}},
        {"sysinfo across a hole", SYS_sysinfo, {edge}, {EFAULT}},
        {"hpm_read to read-only memory", SYS_HPM_READ, {MACHINE, read_only, 64}, {EFAULT}},
        {"place to read-only memory", SYS_SYMBOL, {0, 0x401000, read_only, 64}, {EFAULT}},
        {"place across a hole",
         SYS_SYMBOL,
         {0, 0x401000, edge, sizeof(struct sys_symbol)},
         {EFAULT}},
        {"read to read-only memory", SYS_read, {0, read_only, 64}, {EFAULT}},
        {"clone3 across a hole", SYS_clone3, {edge, 88}, {EFAULT}},
        {"mark across a hole", SYS_MARK, {edge}, {EFAULT}},
        {"write from memory without access", SYS_write, {1, closed, 8}, {EFAULT}},
        {"sysinfo to memory without access", SYS_sysinfo, {closed}, {EFAULT}},
        {"futex wait on memory without access", SYS_futex, {closed, LINUX_FUTEX_WAIT, 1}, {EFAULT}},
        {"spawn across a hole", SYS_SPAWN, {edge, 16}, {EFAULT}},
        {"threads to read-only memory",
         SYS_THREADS,
         {0, read_only, sizeof(struct sys_thread_info)},
         {EFAULT}},
        {"threads across a hole", SYS_THREADS, {0, edge, sizeof(struct sys_thread_info)}, {EFAULT}},
        {"hpm_open of names across a hole", SYS_HPM_OPEN, {edge}, {EFAULT}},
        {"hpm_open that cannot say why",
         SYS_HPM_OPEN,
         {(uint64_t) "nosuch", read_only, 64},
         {EFAULT}},
        {"hpm_values across a hole", SYS_HPM_VALUES, {edge, 0, 0}, {EFAULT}},
        {"sample_open across a hole", SYS_SAMPLE_OPEN, {edge, 0, 0}, {EFAULT}},
    };

    for (unsigned i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        memset((void *)edge, 'x', 8);
        int64_t result = make(&writes[i], 0);
        tap_check(accepts(&writes[i], result), "%s is refused (%lld)", writes[i].what,
                  (long long)result);
    }
}

/* Empty words behind the first. */
static const char many_words[SYS_ARGS_MAX + 2] = "a";
/* Longer than any assignment. */
static const char endless_text[] =
    "sched.slice_us=0000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000010"
    "00";
static const struct call value_calls[] = {
    {"a call beyond the last", SYS_COUNT, {0}, {ENOSYS}},
    {"a call with a huge number", 0x100000000, {0}, {ENOSYS}},
    {"call number -1", UINT64_MAX, {0}, {ENOSYS}},
    {"a clock that there is not", SYS_clock_gettime, {77, 0x400000}, {EINVAL}},
    {"write to no file", SYS_write, {7, 0, 0}, {EBADF}},
    {"write of more than a size can be", SYS_write, {1, 0, UINT64_MAX}, {EINVAL, EFAULT}},
    {"read from no file", SYS_read, {7, 0, 1}, {EBADF}},
    {"mmap of nothing", SYS_mmap, {0, 0, 3, ANON}, {EINVAL}},
    {"mmap of everything", SYS_mmap, {0, UINT64_MAX, 3, ANON}, {EINVAL, ENOMEM}},
    {"mmap that wraps when rounded up", SYS_mmap, {0, UINT64_MAX - 100, 3, ANON}, {EINVAL, ENOMEM}},
    {"mmap of all user space", SYS_mmap, {0, 0x7fffff000000, 3, ANON}, {ENOMEM}},
    {"mmap writable and executable", SYS_mmap, {0, PAGE, 7, ANON}, {EACCES}},
    {"mmap of no kind", SYS_mmap, {0, PAGE, 3, 0}, {EINVAL}},
    {"munmap misaligned", SYS_munmap, {0x400001, PAGE}, {EINVAL}},
    {"munmap of nothing", SYS_munmap, {0x400000, 0}, {EINVAL}},
    {"munmap that wraps around", SYS_munmap, {0x400000, UINT64_MAX - 0x3ff000}, {EINVAL}},
    {"munmap of the kernel", SYS_munmap, {0xffffffff80200000, PAGE}, {EINVAL}},
    {"mprotect of a hole", SYS_mprotect, {0x7000000000, PAGE, 1}, {ENOMEM}},
    {"mprotect of the kernel", SYS_mprotect, {0xffffffff80200000, PAGE, 3}, {ENOMEM}},
    {"mprotect that wraps around", SYS_mprotect, {0x400000, UINT64_MAX - 0x3ff000, 1}, {ENOMEM}},
    {"code made writable and executable", SYS_mprotect, {0x400000, PAGE, 7}, {EACCES}},
    {"futex wait at an odd address", SYS_futex, {0x400002, LINUX_FUTEX_WAIT, 0}, {EINVAL}},
    {"futex wake at an odd address", SYS_futex, {0x400001, LINUX_FUTEX_WAKE, 1}, {EINVAL}},
    {"futex wake in the kernel", SYS_futex, {0xffff800000000000, LINUX_FUTEX_WAKE, 1}, {EFAULT}},
    {"a thread without common memory", SYS_clone, {LINUX_CLONE_THREAD}, {EINVAL}},
    {"sched_setaffinity of no thread", SYS_sched_setaffinity, {999999, 8, 0x400000}, {ESRCH}},
    {"sched_setaffinity of no size", SYS_sched_setaffinity, {0, 0, 0x400000}, {EINVAL}},
    {"sched_getaffinity of no thread", SYS_sched_getaffinity, {999999, 8, 0x400000}, {ESRCH}},
    {"sched_getaffinity of no size", SYS_sched_getaffinity, {0, 0, 0x400000}, {EINVAL}},
    {"setpriority of no kind", SYS_setpriority, {7, 0, 0}, {EINVAL}},
    {"setpriority of no thread", SYS_setpriority, {0, 999999, 0}, {ESRCH}},
    {"a group out of range", SYS_GROUP, {65536}, {EINVAL}},
    {"hpm_read of an unknown scope", SYS_HPM_READ, {READ(.scope = SYS_SCOPES), 0, 8}, {EINVAL}},
    {"hpm_read of a session", SYS_HPM_READ, {READ(.scope = 2, .session = 1), 0, 8}, {EINVAL}},
    {"hpm_read since last", SYS_HPM_READ, {READ(.scope = 2, .since_last = 1), 0, 8}, {EINVAL}},
    {"hpm_read of what is reserved",
     SYS_HPM_READ,
     {READ(.scope = 2, .reserved = 1), 0, 8},
     {EINVAL}},
    {"hpm_read of no process", SYS_HPM_READ, {READ(.scope = 1, .pid = 999999), 0, 8}, {ESRCH}},
    {"hpm_read of no thread", SYS_HPM_READ, {READ(.tid = 999999), 0, 8}, {ESRCH}},
    {"hpm_read of a thread of no process",
     SYS_HPM_READ,
     {READ(.pid = 999999, .tid = 1), 0, 8},
     {ESRCH}},
    {"place in no process", SYS_SYMBOL, {999999, 0x401000, 0, 8}, {ESRCH}},
    {"place in a process of no number", SYS_SYMBOL, {UINT64_MAX, 0x401000, 0, 8}, {ESRCH}},
    {"place of no size", SYS_SYMBOL, {0, 0x401000, 0, 0}, {EINVAL}},
    {"memory of no process", SYS_MEMORY, {999999, 0, 8}, {ESRCH}},
    {"memory of no size", SYS_MEMORY, {0, 0, 0}, {EINVAL}},
    {"curve of no process", SYS_CURVE, {999999, 0, 8}, {ESRCH}},
    {"curve of a process of no number", SYS_CURVE, {UINT64_MAX, 0, 8}, {ESRCH}},
    {"curve of a process that nothing tracks", SYS_CURVE, {0, 0, 8}, {ENOENT}},
    {"spawn of nothing", SYS_SPAWN, {0, 0}, {EINVAL}},
    {"spawn of more than arguments can be", SYS_SPAWN, {0, SYS_ARGS_BYTES + 1}, {E2BIG}},
    {"spawn of a huge size", SYS_SPAWN, {0, UINT64_MAX}, {E2BIG}},
    {"spawn of a word without an end", SYS_SPAWN, {(uint64_t) "hello", 5}, {EINVAL}},
    {"spawn of an empty name", SYS_SPAWN, {(uint64_t) "\0hello", 7}, {EINVAL}},
    {"spawn of too many words", SYS_SPAWN, {(uint64_t)many_words, sizeof many_words}, {E2BIG}},
    {"spawn of an application that there is not", SYS_SPAWN, {(uint64_t) "nosuch", 7}, {ENOENT}},
    {"wait for no process", SYS_WAIT, {999999}, {ESRCH}},
    {"wait for process 0", SYS_WAIT, {0}, {ESRCH}},
    {"wait for process 2^32 + 1", SYS_WAIT, {0x100000001}, {ESRCH}},
    {"threads of no process", SYS_THREADS, {999999, 0, 0}, {ESRCH}},
    {"threads of process 2^32", SYS_THREADS, {0x100000000, 0, 0}, {ESRCH}},
    {"hpm_open of no names", SYS_HPM_OPEN, {(uint64_t) ""}, {EINVAL, ENODEV}},
    {"hpm_open of unknown names", SYS_HPM_OPEN, {(uint64_t) "nosuch"}, {ENOENT, ENODEV}},
    {"hpm_close of no session", SYS_HPM_CLOSE, {0}, {ESRCH}},
    {"hpm_close of what was never opened", SYS_HPM_CLOSE, {17}, {ESRCH}},
    {"hpm_close of a number beyond 32 bits", SYS_HPM_CLOSE, {0x100000001}, {ESRCH}},
    {"sample_chain of no session", SYS_SAMPLE_CHAIN, {0, 1, 0x400000, 80}, {ESRCH}},
    {"sample_take of no session", SYS_SAMPLE_TAKE, {0, 0x400000, 80}, {ESRCH}},
    {"sample_account of what was never opened", SYS_SAMPLE_ACCOUNT, {3, 0, 0x400000, 80}, {ESRCH}},
    {"sample_account of a criterion beyond 32 bits",
     SYS_SAMPLE_ACCOUNT,
     {3, 0x100000000, 0, 80},
     {ENOENT}},
    {"sample_close of a number beyond 32 bits", SYS_SAMPLE_CLOSE, {0x100000001}, {ESRCH}},
    {"thread_states of no process", SYS_THREAD_STATES, {999999, 0, 0}, {ESRCH}},
    {"thread_states of process 2^32", SYS_THREAD_STATES, {0x100000000, 0, 0}, {ESRCH}},
    {"sharing of no process", SYS_SHARING, {999999, 0, 8}, {ESRCH}},
    {"sharing of a process of no number", SYS_SHARING, {UINT64_MAX, 0, 8}, {ESRCH}},
    {"sharing of process 0", SYS_SHARING, {0, 0, 8}, {ESRCH}},
    {"a knob without a value", SYS_KNOB_SET, {(uint64_t) "sched.slice_us"}, {EINVAL}},
    {"a knob that there is not", SYS_KNOB_SET, {(uint64_t) "nosuch=1"}, {EINVAL}},
    {"a knob that only a boot sets", SYS_KNOB_SET, {(uint64_t) "cpus=1"}, {EINVAL}},
    {"a knob's value out of range", SYS_KNOB_SET, {(uint64_t) "sched.slice_us=1"}, {EINVAL}},
    {"a knob with a line end", SYS_KNOB_SET, {(uint64_t) "sched.slice_us=1000\n"}, {EINVAL}},
    {"an endless knob", SYS_KNOB_SET, {(uint64_t)endless_text}, {E2BIG}},
};

static void wrong_values(void)
{
    for (unsigned i = 0; i < sizeof value_calls / sizeof value_calls[0]; i++) {
        int64_t result = make(&value_calls[i], 0);
        tap_check(accepts(&value_calls[i], result), "%s is refused (%lld)", value_calls[i].what,
                  (long long)result);
    }
}

static unsigned set; /* threads that have set an address to be cleared; atomic */

static void *set_address(void *address)
{
    syscall1(SYS_set_tid_address, address);
    __atomic_add_fetch(&set, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Threads that end with an address at which nothing can be cleared: they end nevertheless. */
static void wrong_ends(void)
{
    const uint64_t address[] = {read_only, unmapped, 0xffff800000100000, 0x400001};
    const unsigned n = sizeof address / sizeof address[0];
    struct sys_thread_info info[2];

    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        tap_check(!pthread_create(&t, NULL, set_address, (void *)address[i]), "a thread");
    }
    for (unsigned i = 0; i < 1000 && application_threads(getpid(), info, 2) > 1; i++)
        sleep_ns(10000000);
    tap_check(__atomic_load_n(&set, __ATOMIC_ACQUIRE) == n &&
                  application_threads(getpid(), info, 2) == 1,
              "they end with wild addresses to be cleared");
}

static void wrong_memory(void)
{
    uint64_t none = 0;
    char label[100];

    tap_check(syscall3(SYS_sched_setaffinity, 0, 8, &none) == -EINVAL,
              "an empty affinity is refused");
    memset(label, 'm', sizeof label);
    label[99] = '\0';
    tap_check(syscall1(SYS_MARK, label) == -E2BIG, "an endless label is refused");
}

static int64_t values(struct sys_hpm_read read, uint64_t to, uint64_t bytes)
{
    return syscall3(SYS_HPM_VALUES, &read, to, bytes);
}

static void wrong_sessions(void)
{
    static char endless[5000];
    static struct sys_hpm_value v[2];
    uint64_t at = (uint64_t)v;

    memset(endless, ',', sizeof endless - 1);
    tap_check(syscall1(SYS_HPM_OPEN, endless) == -E2BIG, "endless names are refused");
    tap_check(syscall1(SYS_WAIT, getpid()) == -ESRCH, "a process that waits for itself is refused");
    tap_check(values((struct sys_hpm_read){.session = 1, .scope = 2}, at, sizeof v) == -ESRCH,
              "values of another process's session are refused");
    tap_check(values((struct sys_hpm_read){.session = UINT32_MAX, .scope = 2}, at, sizeof v) ==
                  -ESRCH,
              "values of no session are refused");
    int64_t session = syscall1(SYS_HPM_OPEN, "cycles,cycles:u");
    if (session == -ENODEV) {
        tap_skip("wrong readings of a session", "there are no counters");
        return;
    }
    struct sys_hpm_read read = {.session = (uint32_t)session, .scope = SYS_SCOPE_MACHINE}, r = read;
    tap_check(session > 0 && values(read, at, sizeof v) == 2, "a session can be read");
    tap_check(values(read, 0, sizeof v[0] - 1) == 2, "without room it says how many there are");
    tap_check(values(read, unmapped, UINT64_MAX) == -EFAULT &&
                  values(read, read_only, sizeof v) == -EFAULT &&
                  values(read, 0xffff800000100000, sizeof v) == -EFAULT,
              "values to memory that is not there are refused");
    r.scope = SYS_SCOPES;
    tap_check(values(r, at, sizeof v) == -EINVAL, "an unknown scope is refused");
    r = read;
    r.since_last = 2;
    tap_check(values(r, at, sizeof v) == -EINVAL, "since_last is 0 or 1");
    r = read;
    r.reserved = 1;
    tap_check(values(r, at, sizeof v) == -EINVAL, "what is reserved is 0");
    r = (struct sys_hpm_read){.session = read.session, .scope = SYS_SCOPE_PROCESS, .pid = 999999};
    tap_check(values(r, at, sizeof v) == -ESRCH, "values of no process are refused");
    r = (struct sys_hpm_read){.session = read.session, .scope = SYS_SCOPE_THREAD, .tid = 999999};
    tap_check(values(r, at, sizeof v) == -ESRCH, "values of no thread are refused");
    tap_check(syscall1(SYS_HPM_CLOSE, session) == 0 && syscall1(SYS_HPM_CLOSE, session) == -ESRCH,
              "a session is closed once");
    tap_check(values(read, at, sizeof v) == -ESRCH, "... and read no more");
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Arguments that random calls draw from: nothing that names this program's own memory. */
static uint64_t random_argument(uint64_t *state)
{
    uint64_t r = next_random(state);

    switch (r >> 32 & 3) {
    case 0:
        return wild_fixed[(r >> 40) % WILD];
    case 1:
        return r >> 56;
    case 2:
        return (uint64_t)1 << ((r >> 58 & 15) + (r >> 62 & 1 ? 48 : 0));
    default:
        return next_random(state) | 0x8000000000000000;
    }
}

static void random_calls(unsigned n)
{
    uint64_t state = 0x9e3779b97f4a7c15;
    unsigned refused = 0, made = 0, missing = 0;

    while (made < n) {
        uint64_t number = SYS_FIRST + next_random(&state) % (SYS_COUNT - SYS_FIRST + 2);
        uint64_t a[5];
        for (unsigned i = 0; i < 5; i++)
            a[i] = random_argument(&state);
        int64_t result = syscall6(number, a[0], a[1], a[2], a[3], a[4], 0);
        refused += result < 0;
        missing += (result == -ENOSYS) != (number >= SYS_COUNT);
        made++;
    }
    tap_check(refused > n / 4, "%u random calls are survived, %u of them refused", n, refused);
    tap_check(!missing, "every number from SYS_FIRST to SYS_COUNT is a call, and none above");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "unknown"))
        return syscall1(UNKNOWN, 1) != -ENOSYS;
    void *at = memory_map("badcalls", 4 * PAGE);
    if (!tap_check(at != NULL, "memory for the test is there"))
        return tap_done();
    read_only = (uint64_t)at;
    edge = read_only + 2 * PAGE - 8;
    unmapped = read_only + 2 * PAGE;
    closed = read_only + 3 * PAGE;
    *(volatile char *)closed = 1;
    tap_check(syscall2(SYS_munmap, unmapped, PAGE) == 0, "a page can be unmapped");
    tap_check(syscall3(SYS_mprotect, read_only, PAGE, LINUX_PROT_READ) == 0,
              "a page can be made read-only");
    tap_check(syscall3(SYS_mprotect, closed, PAGE, 0) == 0, "a page can lose all rights");
    wild_pointers();
    half_bad_memory();
    wrong_values();
    wrong_memory();
    wrong_ends();
    wrong_sessions();
    random_calls(20000);
    return tap_done();
}
