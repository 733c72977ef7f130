/* The table of system calls, and those of the console, mappings, counters and other processes. */
#include "kernel/proc/internal.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/sample_session.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/sysinfo.h"
#include "kernel/proc/user.h"
#include "kernel/dev/block/block.h"
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "kernel/lib/text.h"

#define NAMES_MAX  4096 /* of events and metrics, in one session */
#define VALUES_MAX 64   /* as many as a session can have */

/* ---- Console ---- */

static int64_t sys_write(struct process *p, const uint64_t a[6])
{
    char part[128];
    uint64_t done = 0;

    if (a[0] != 1 && a[0] != 2)
        return -EBADF;
    if (a[2] > INT64_MAX)
        return -EINVAL;
    while (done < a[2] && !process_ending(p)) {
        uint64_t n = MIN(a[2] - done, (uint64_t)sizeof(part));
        if (arch_copy_from_user(part, a[1] + done, n))
            return done ? (int64_t)done : -EFAULT;
        stdio_put(p, part, n);
        done += n;
        sched_point();
    }
    return (int64_t)done;
}

static int64_t sys_read(struct process *p, const uint64_t a[6])
{
    char text[PROCESS_LINE_MAX];

    if (a[0] != 0)
        return -EBADF;
    if (!a[2])
        return 0;
    /* A bad buffer is refused before somebody types a line for it. */
    if (arch_copy_to_user(a[1], "", 1))
        return -EFAULT;
    int n = stdio_get(p, text, MIN(a[2], (uint64_t)sizeof(text)));
    if (n > 0 && arch_copy_to_user(a[1], text, n))
        return -EFAULT;
    return n;
}

/* ---- Memory ---- */

static int user_prot(uint64_t bits, unsigned *prot)
{
    if (bits & ~(uint64_t)(SYS_PROT_READ | SYS_PROT_WRITE | SYS_PROT_EXEC))
        return -EINVAL;
    *prot = (bits & SYS_PROT_READ ? PROT_R : 0) | (bits & SYS_PROT_WRITE ? PROT_W : 0) |
            (bits & SYS_PROT_EXEC ? PROT_X : 0);
    return 0;
}

static int64_t sys_mmap(struct process *p, const uint64_t a[6])
{
    char name[REGION_NAME_MAX] = "memory";
    unsigned prot;
    vaddr_t va;
    int err = user_prot(a[1], &prot);

    if (!err && a[2])
        err = user_copy_string(name, sizeof(name), a[2]);
    if (!err)
        err = space_map(p->space, 0, a[0], prot, REGION_ANON, name, &va);
    return err ? err : (int64_t)va;
}

static int64_t sys_mmap_disk(struct process *p, const uint64_t a[6])
{
    char name[BLOCK_NAME_MAX];
    uint64_t mapped;
    unsigned prot;
    vaddr_t va;
    int err = user_prot(a[3], &prot);

    if (!err)
        err = user_copy_string(name, sizeof(name), a[0]);
    struct block_device *d = err ? NULL : block_find(name);
    if (!err && !d)
        err = -ENOENT;
    if (!err && !IS_ALIGNED(a[1], PAGE_SIZE))
        err = -EINVAL;
    if (!err)
        err = space_map_disk(p->space, d, a[1] / PAGE_SIZE, a[2], prot, &va, &mapped);
    if (!err && a[4] && (err = user_put_struct(a[4], sizeof(mapped), &mapped, sizeof(mapped))))
        space_unmap(p->space, va, mapped);
    return err ? err : (int64_t)va;
}

static int64_t sys_munmap(struct process *p, const uint64_t a[6])
{
    return space_unmap(p->space, a[0], a[1]);
}

static int64_t sys_mprotect(struct process *p, const uint64_t a[6])
{
    unsigned prot;
    int err = user_prot(a[2], &prot);

    return err ? err : space_protect(p->space, a[0], a[1], prot);
}

/* ---- The machine and its counters ---- */

static int64_t sys_sysinfo(UNUSED struct process *p, const uint64_t a[6])
{
    struct sys_info info;

    sysinfo_read(&info);
    return user_put_struct(a[0], a[1], &info, sizeof(info));
}

static int64_t sys_mark(UNUSED struct process *p, const uint64_t a[6])
{
    char label[64];
    int err = user_copy_string(label, sizeof(label), a[0]);

    if (!err)
        telemetry_mark(thread_current()->tid, label);
    hpm_mark(label);
    return err;
}

/* what: as a program has said it. */
static int read_breakdown(struct process *p, uint64_t at, struct sys_hpm_read *what,
                          struct hpm_breakdown *out)
{
    if (arch_copy_from_user(what, at, sizeof(*what)))
        return -EFAULT;
    if (what->scope >= SYS_SCOPES || what->session || what->since_last || what->reserved)
        return -EINVAL;
    if (what->scope == SYS_SCOPE_MACHINE) {
        if (!visible_machine())
            return -EACCES;
        hpm_read_machine(out);
        return 0;
    }
    struct process *other = process_to_read(p, what->pid);
    if (!other)
        return -ESRCH;
    int err = 0;
    if (what->scope == SYS_SCOPE_PROCESS)
        process_hpm(other, out);
    else if (what->scope == SYS_SCOPE_FAMILY)
        err = process_hpm_family(other, out);
    else
        err = process_hpm_thread(other, what->tid ? what->tid : thread_current()->tid, out);
    process_put(other);
    return err;
}

static int64_t sys_hpm_read(struct process *p, const uint64_t a[6])
{
    struct {
        struct hpm_breakdown b;
        struct sys_breakdown result;
    } *work = kmalloc(sizeof(*work)); /* too large for a stack */
    struct sys_hpm_read what;

    if (!work)
        return -ENOMEM;
    int64_t err = read_breakdown(p, a[0], &what, &work->b);
    if (!err) {
        sysinfo_breakdown(&work->b, &work->result);
        err = user_put_struct(a[1], a[2], &work->result, sizeof(work->result));
    }
    kfree(work);
    return err;
}

static void put_text(char *to, size_t size, const char *from)
{
    size_t n = MIN(text_length(from), size - 1);

    memcpy(to, from, n);
}

static int64_t sys_hpm_list(UNUSED struct process *p, const uint64_t a[6])
{
    struct {
        struct event_listed from;
        struct sys_hpm_listed to;
    } * work;
    uint32_t cursor;

    if (arch_copy_from_user(&cursor, a[0], sizeof(cursor)))
        return -EFAULT;
    work = kmalloc(sizeof(*work)); /* too large for a stack */
    if (!work)
        return -ENOMEM;
    int64_t err = hpm_list(&cursor, &work->from);
    if (!err) {
        work->to = (struct sys_hpm_listed){
            .kind = work->from.kind, .counters = work->from.counters, .fixed = work->from.fixed};
        put_text(work->to.text, sizeof(work->to.text), work->from.text);
        put_text(work->to.means, sizeof(work->to.means), work->from.means);
        put_text(work->to.about, sizeof(work->to.about), work->from.about);
        put_text(work->to.unit, sizeof(work->to.unit), work->from.unit);
        err = user_put_struct(a[1], a[2], &work->to, sizeof(work->to));
    }
    if (!err && arch_copy_to_user(a[0], &cursor, sizeof(cursor)))
        err = -EFAULT;
    kfree(work);
    return err;
}

static int64_t sys_hpm_print(struct process *p, const uint64_t a[6])
{
    static const char *const titles[] = {"thread", "process", "machine", "family"};
    struct sys_hpm_read what;
    struct hpm_breakdown b;
    int err = read_breakdown(p, a[0], &what, &b);

    if (!err)
        hpm_breakdown_print(titles[what.scope], &b);
    return err;
}

/* Kernel memory for a session. */
static int charge_session(struct process *p, uint64_t bytes, char *why, size_t size)
{
    int err = process_charge(p, bytes);

    if (err)
        ksnprintf(why, size, "this process has all the kernel memory that mem.kernel allows");
    return err;
}

static int64_t sys_hpm_open(struct process *p, const uint64_t a[6])
{
    char *names, why[160] = "";
    int err = user_take_string(&names, NAMES_MAX, a[0]);

    if (err)
        return err;
    int session = charge_session(p, hpm_session_bytes(), why, sizeof(why));
    if (!session) {
        session = counts_open(p, names, why, sizeof(why));
        if (session < 0)
            process_uncharge(p, hpm_session_bytes());
    }
    kfree(names);
    /* Why not is no use to who cannot be told. */
    if (session < 0 && a[2] && user_put_struct(a[1], a[2], why, MIN(a[2], (uint64_t)sizeof(why))))
        return -EFAULT;
    return session;
}

static int64_t sys_hpm_values(struct process *p, const uint64_t a[6])
{
    struct sys_hpm_read read;

    if (arch_copy_from_user(&read, a[0], sizeof(read)))
        return -EFAULT;
    return counts_read(p, &read, a[1],
                       (size_t)MIN(a[2] / sizeof(struct sys_hpm_value), (uint64_t)VALUES_MAX));
}

static int64_t sys_hpm_close(struct process *p, const uint64_t a[6])
{
    int err = a[0] > UINT32_MAX ? -ESRCH : counts_close(p, (uint32_t)a[0]);

    if (!err)
        process_uncharge(p, hpm_session_bytes());
    return err;
}

static int64_t sys_hpm_show(struct process *p, const uint64_t a[6])
{
    return a[0] > UINT32_MAX ? -ESRCH : counts_show(p, (uint32_t)a[0]);
}

/* ---- Other processes ---- */

/* Words, each ended by NUL, all of n bytes.  Their number; -EINVAL: none, or the last is not ended; -E2BIG. */
static int split_words(const char *text, size_t n, const char **argv)
{
    int argc = 0;

    if (!n || text[n - 1] || !text[0])
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (i && text[i - 1])
            continue;
        if (argc == SYS_ARGS_MAX)
            return -E2BIG;
        argv[argc++] = text + i;
    }
    return argc;
}

static int64_t sys_spawn(struct process *p, const uint64_t a[6])
{
    const char *argv[SYS_ARGS_MAX];

    if (a[1] > SYS_ARGS_BYTES)
        return -E2BIG;
    char *text = kmalloc(SYS_ARGS_BYTES);
    if (!text)
        return -ENOMEM;
    int argc = arch_copy_from_user(text, a[0], a[1]) ? -EFAULT : split_words(text, a[1], argv);
    int pid = argc < 0 ? argc : children_spawn(p, argv, (unsigned)argc);
    kfree(text);
    return pid;
}

static int64_t sys_next_pid(struct process *p, UNUSED const uint64_t a[6])
{
    return children_next_pid(p);
}

static int64_t sys_wait(struct process *p, const uint64_t a[6])
{
    struct process *child = a[0] && a[0] <= UINT32_MAX ? children_find(p, (uint32_t)a[0]) : NULL;

    if (!child)
        return -ESRCH;
    int status = children_wait(p, child);
    process_put(child);
    return status;
}

/* Those of one process behind n others, as far as there is room.  How many there are then. */
static unsigned put_threads(struct process *p, struct sys_thread_info *infos, unsigned room, unsigned n)
{
    bool irq = spin_lock(&p->lock);

    list_for_each (it, &p->threads) {
        if (n < room) {
            infos[n] = (struct sys_thread_info){p->pid, container_of(it, struct thread, siblings)->tid, ""};
            ksnprintf(infos[n].name, sizeof(infos->name), "%s", p->name);
        }
        n++;
    }
    spin_unlock(&p->lock, irq);
    return n;
}

/* The process of the next higher pid that p may see, referenced, or NULL. */
static struct process *next_visible(const struct process *p, uint32_t pid)
{
    struct process *other;

    while ((other = process_after(pid)) && !visible_process(p, other)) {
        pid = other->pid;
        process_put(other);
    }
    return other;
}

static int64_t sys_threads(struct process *p, const uint64_t a[6])
{
    unsigned n = 0, room = (unsigned)MIN(a[2] / sizeof(struct sys_thread_info), (uint64_t)THREADS_MAX);
    struct process *other = !a[0]                ? next_visible(p, 0)
                            : a[0] <= UINT32_MAX ? process_to_read(p, (uint32_t)a[0])
                                                 : NULL;

    if (!other)
        return -ESRCH;
    struct sys_thread_info *infos = kmalloc(MAX(room, 1u) * sizeof(*infos));
    if (!infos) {
        process_put(other);
        return -ENOMEM;
    }
    while (other) {
        uint32_t pid = other->pid;
        n = put_threads(other, infos, room, n);
        process_put(other);
        other = a[0] ? NULL : next_visible(p, pid);
    }
    int err = arch_copy_to_user(a[1], infos, MIN(n, room) * sizeof(*infos)) ? -EFAULT : 0;
    kfree(infos);
    return err ? err : (int64_t)n;
}

static int64_t sys_place(struct process *p, const uint64_t a[6])
{
    uint32_t pid = a[0] ? (uint32_t)a[0] : p->pid;
    struct process *other = a[0] > UINT32_MAX ? NULL : process_look_for(p, pid), *ended = NULL;
    struct sys_place place;

    if (other) {
        place_find(other, a[1], &place);
        process_look_end(other);
    } else if (a[0] <= UINT32_MAX && (ended = children_find(p, pid))) {
        place_find_code(ended, a[1], &place);
        process_put(ended);
    } else {
        return -ESRCH;
    }
    return user_put_struct(a[2], a[3], &place, sizeof(place));
}

/* ---- Samples ---- */

static int64_t sys_sample_open(struct process *p, const uint64_t a[6])
{
    char *text, why[160] = "";
    struct sys_profiling what;

    if (arch_copy_from_user(&what, a[0], sizeof(what)))
        return -EFAULT;
    if (what.reserved)
        return -EINVAL;
    int err = user_take_string(&text, NAMES_MAX, what.criteria);
    if (err)
        return err;
    struct hpm_profiling profiling = {text, what.pid, what.rate, what.permille};
    int session = charge_session(p, SAMPLES_SESSION_BYTES, why, sizeof(why));
    if (!session) {
        session = samples_open(p, &profiling, why, sizeof(why));
        if (session < 0)
            process_uncharge(p, SAMPLES_SESSION_BYTES);
    }
    kfree(text);
    if (session < 0 && a[2] && user_put_struct(a[1], a[2], why, MIN(a[2], (uint64_t)sizeof(why))))
        return -EFAULT;
    return session;
}

static int64_t sys_sample_take(struct process *p, const uint64_t a[6])
{
    if (a[0] > UINT32_MAX)
        return -ESRCH;
    return samples_take(p, (uint32_t)a[0], a[1], (size_t)(a[2] / sizeof(struct sys_sample)));
}

static int64_t sys_sample_account(struct process *p, const uint64_t a[6])
{
    struct sys_sample_account account;

    if (a[0] > UINT32_MAX || a[1] > UINT32_MAX)
        return a[0] > UINT32_MAX ? -ESRCH : -ENOENT;
    int err = samples_account(p, (uint32_t)a[0], (uint32_t)a[1], &account);
    return err ? err : user_put_struct(a[2], a[3], &account, sizeof(account));
}

static int64_t sys_sample_close(struct process *p, const uint64_t a[6])
{
    int err = a[0] > UINT32_MAX ? -ESRCH : samples_close(p, (uint32_t)a[0]);

    if (!err)
        process_uncharge(p, SAMPLES_SESSION_BYTES);
    return err;
}

static handler *const handlers[SYS_COUNT] = {
    [SYS_EXIT] = sys_exit,
    [SYS_WRITE] = sys_write,
    [SYS_READ] = sys_read,
    [SYS_MMAP] = sys_mmap,
    [SYS_MMAP_DISK] = sys_mmap_disk,
    [SYS_CURVE] = sys_curve,
    [SYS_MUNMAP] = sys_munmap,
    [SYS_MPROTECT] = sys_mprotect,
    [SYS_MADVISE] = sys_madvise,
    [SYS_MEMORY] = sys_memory,
    [SYS_REGIONS] = sys_regions,
    [SYS_THREAD_CREATE] = sys_thread_create,
    [SYS_THREAD_EXIT] = sys_thread_exit,
    [SYS_FUTEX_WAIT] = sys_futex_wait,
    [SYS_FUTEX_WAKE] = sys_futex_wake,
    [SYS_YIELD] = sys_yield,
    [SYS_SLEEP] = sys_sleep,
    [SYS_CLOCK] = sys_clock,
    [SYS_CPU_TIME] = sys_cpu_time,
    [SYS_GETPID] = sys_getpid,
    [SYS_GETTID] = sys_gettid,
    [SYS_GETCPU] = sys_getcpu,
    [SYS_SET_TLS] = sys_set_tls,
    [SYS_SET_AFFINITY] = sys_set_affinity,
    [SYS_GET_AFFINITY] = sys_get_affinity,
    [SYS_SET_PRIORITY] = sys_set_priority,
    [SYS_SYSINFO] = sys_sysinfo,
    [SYS_GROUP] = sys_group,
    [SYS_MARK] = sys_mark,
    [SYS_HPM_READ] = sys_hpm_read,
    [SYS_HPM_PRINT] = sys_hpm_print,
    [SYS_SPAWN] = sys_spawn,
    [SYS_WAIT] = sys_wait,
    [SYS_THREADS] = sys_threads,
    [SYS_HPM_OPEN] = sys_hpm_open,
    [SYS_HPM_VALUES] = sys_hpm_values,
    [SYS_HPM_CLOSE] = sys_hpm_close,
    [SYS_PLACE] = sys_place,
    [SYS_SAMPLE_OPEN] = sys_sample_open,
    [SYS_SAMPLE_TAKE] = sys_sample_take,
    [SYS_SAMPLE_ACCOUNT] = sys_sample_account,
    [SYS_SAMPLE_CLOSE] = sys_sample_close,
    [SYS_NEXT_PID] = sys_next_pid,
    [SYS_HPM_SHOW] = sys_hpm_show,
    [SYS_HPM_LIST] = sys_hpm_list,
};

int64_t syscall_dispatch(uint64_t number, const uint64_t args[6])
{
    if (number >= SYS_COUNT)
        return -ENOSYS;
    return handlers[number](thread_current()->process, args);
}
