/* System calls of processes: starting, waiting, threads, symbols; and the machine. */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/figures.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"

/* Splits n bytes of text into words, each ended by NUL. Returns their number; -EINVAL: none, or the
 * last is not ended; -E2BIG. */
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

int64_t sys_spawn(struct process *p, const uint64_t a[6])
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

int64_t sys_next_pid(struct process *p, UNUSED const uint64_t a[6])
{
    return children_next_pid(p);
}

int64_t sys_wait(struct process *p, const uint64_t a[6])
{
    struct process *child = a[0] && a[0] <= UINT32_MAX ? children_find(p, (uint32_t)a[0]) : NULL;

    if (!child)
        return -ESRCH;
    int status = children_wait(p, child);
    process_put(child);
    return status;
}

/* Appends the threads of one process to n others, as far as there is room. Returns the new
 * number. */
static unsigned put_threads(struct process *p, struct sys_thread_info *infos, unsigned room,
                            unsigned n)
{
    bool irq = spin_lock(&p->lock);

    list_for_each (it, &p->threads) {
        if (n < room) {
            infos[n] = (struct sys_thread_info){p->pid,
                                                container_of(it, struct thread, siblings)->tid, ""};
            ksnprintf(infos[n].name, sizeof(infos->name), "%s", p->name);
        }
        n++;
    }
    spin_unlock(&p->lock, irq);
    return n;
}

/* Returns the process of the next higher pid that p may see, referenced, or NULL. */
static struct process *next_visible(const struct process *p, uint32_t pid)
{
    struct process *other;

    while ((other = process_after(pid)) && !visible_process(p, other)) {
        pid = other->pid;
        process_put(other);
    }
    return other;
}

int64_t sys_threads(struct process *p, const uint64_t a[6])
{
    unsigned n = 0,
             room = (unsigned)MIN(a[2] / sizeof(struct sys_thread_info), (uint64_t)THREADS_MAX);
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

int64_t sys_symbol(struct process *p, const uint64_t a[6])
{
    uint32_t pid = a[0] ? (uint32_t)a[0] : p->pid;
    struct process *other = a[0] > UINT32_MAX ? NULL : process_look_for(p, pid), *ended = NULL;
    struct sys_symbol symbol;

    if (other) {
        symbolize(other, a[1], &symbol);
        process_look_end(other);
    } else if (a[0] <= UINT32_MAX && (ended = children_find(p, pid))) {
        symbolize_code(ended, a[1], &symbol);
        process_put(ended);
    } else {
        return -ESRCH;
    }
    return user_put_struct(a[2], a[3], &symbol, sizeof(symbol));
}

int64_t sys_sysinfo(UNUSED struct process *p, const uint64_t a[6])
{
    struct sys_info info;

    sysinfo_read(&info);
    return user_put_struct(a[0], a[1], &info, sizeof(info));
}
