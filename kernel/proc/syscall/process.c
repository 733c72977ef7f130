/* System calls of processes: starting, waiting, threads, symbols; and the machine. */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/figures.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"

/* Splits n bytes of text into words, each ended by NUL, and ends the list by NULL. Returns 0;
 * -EINVAL: none, or the last is not ended; -E2BIG. */
static int split_words(const char *text, size_t n, const char *argv[SYS_ARGS_MAX + 1])
{
    unsigned argc = 0;

    if (!n || text[n - 1] || !text[0])
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (i && text[i - 1])
            continue;
        if (argc == SYS_ARGS_MAX)
            return -E2BIG;
        argv[argc++] = text + i;
    }
    argv[argc] = NULL;
    return 0;
}

int64_t vigil_spawn(const struct call *c)
{
    struct {
        const char *argv[SYS_ARGS_MAX + 1];
        char text[SYS_ARGS_BYTES];
    } * words;

    if (c->a[1] > SYS_ARGS_BYTES)
        return -E2BIG;
    words = kmalloc(sizeof(*words));
    if (!words)
        return -ENOMEM;
    int err = arch_copy_from_user(words->text, c->a[0], c->a[1])
                  ? -EFAULT
                  : split_words(words->text, c->a[1], words->argv);
    int pid = err ? err : children_spawn(c->p, words->argv);
    kfree(words);
    return pid;
}

int64_t vigil_next_pid(const struct call *c)
{
    return children_next_pid(c->p);
}

int64_t vigil_wait(const struct call *c)
{
    struct process *child =
        c->a[0] && c->a[0] <= UINT32_MAX ? proctree_child(c->p, (uint32_t)c->a[0]) : NULL;

    if (!child)
        return -ESRCH;
    int status = children_wait(c->p, child);
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

int64_t vigil_threads(const struct call *c)
{
    unsigned n = 0,
             room = (unsigned)MIN(c->a[2] / sizeof(struct sys_thread_info), (uint64_t)THREADS_MAX);
    struct process *other = !c->a[0]                ? visible_next(c->p, 0)
                            : c->a[0] <= UINT32_MAX ? process_to_read(c->p, (uint32_t)c->a[0])
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
        other = c->a[0] ? NULL : visible_next(c->p, pid);
    }
    int err = arch_copy_to_user(c->a[1], infos, MIN(n, room) * sizeof(*infos)) ? -EFAULT : 0;
    kfree(infos);
    return err ? err : (int64_t)n;
}

int64_t vigil_symbol(const struct call *c)
{
    uint32_t pid = c->a[0] ? (uint32_t)c->a[0] : c->p->pid;
    struct process *other = c->a[0] > UINT32_MAX ? NULL : process_look_for(c->p, pid),
                   *ended = NULL;
    struct sys_symbol symbol;

    if (other) {
        symbolize(other, c->a[1], &symbol);
        process_look_end(other);
    } else if (c->a[0] <= UINT32_MAX && (ended = proctree_child(c->p, pid))) {
        symbolize_code(ended, c->a[1], &symbol);
        process_put(ended);
    } else if (!symbolize_kernel(c->a[1], &symbol)) {
        return -ESRCH;
    }
    return user_put_struct(c->a[2], c->a[3], &symbol, sizeof(symbol));
}
