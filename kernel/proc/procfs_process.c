/* Files of /proc that describe a process. A process that has ended meanwhile has empty ones. */
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/procfs.h"
#include "mm/object.h"

#define OOM_SCORE_MAX 1000

static struct process *reader(void)
{
    return thread_current()->process;
}

void procfs_self(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "%u", reader()->pid);
}

void procfs_thread_self(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "%u/task/%u", reader()->pid, thread_current()->tid);
}

/* ---- Which there are ------------------------------------------------------------------------- */

bool procfs_next_pid(UNUSED const uint32_t *n, uint32_t *at)
{
    for (struct process *p; (p = proctree_after(*at ? *at - 1 : 0));) {
        bool sees = visible_process(reader(), p);
        *at = p->pid;
        process_put(p);
        if (sees)
            return true;
        ++*at;
    }
    return false;
}

/* As procfs_next_pid(), which would go on through processes that are not seen. */
bool procfs_is_pid(UNUSED const uint32_t *n, uint32_t pid)
{
    struct process *p = proctree_after(pid ? pid - 1 : 0);
    bool is = p && p->pid == pid && visible_process(reader(), p);

    if (p)
        process_put(p);
    return is;
}

bool procfs_next_tid(const uint32_t *n, uint32_t *at)
{
    struct process *p = process_find(n[0]);
    bool found = false;

    if (!p)
        return false;
    bool irq = spin_lock(&p->lock);
    list_for_each (it, &p->threads) {
        const struct thread *t = container_of(it, struct thread, siblings);
        if (!found && t->tid >= *at) {
            *at = t->tid;
            found = true;
        }
    }
    spin_unlock(&p->lock, irq);
    process_put(p);
    return found;
}

/* Descriptors of the reader alone: those of others come and go. */
bool procfs_next_fd(const uint32_t *n, uint32_t *at)
{
    int64_t fd = n[0] == reader()->pid ? files_next(reader()->files, *at) : -ENOENT;

    *at = fd < 0 ? *at : (uint32_t)fd;
    return fd >= 0;
}

/* ---- Links ----------------------------------------------------------------------------------- */

static void print_path(struct pseudo_text *t, struct vnode *v)
{
    char *path = kmalloc_unfilled(VNODE_PATH_MAX);
    int64_t length = path ? path_of(v, path, VNODE_PATH_MAX) : -ENOMEM;

    if (length > 0)
        pseudo_put(t, path, (size_t)length);
    kfree(path);
}

static void print_followed(struct pseudo_text *t, const uint32_t *n,
                           int (*follow)(const uint32_t *n, struct vnode **out))
{
    struct vnode *v;

    if (follow(n, &v))
        return;
    print_path(t, v);
    vnode_put(v);
}

int procfs_follow_exe(const uint32_t *n, struct vnode **out)
{
    struct process *p = process_look_for(reader(), n[0]);
    struct vnode *v = p && p->program ? vnode_get(p->program) : NULL;

    if (p)
        process_look_end(p);
    *out = v;
    return v ? 0 : -ENOENT;
}

void procfs_exe(struct pseudo_text *t, const uint32_t *n)
{
    print_followed(t, n, procfs_follow_exe);
}

int procfs_follow_cwd(const uint32_t *n, struct vnode **out)
{
    if (n[0] != reader()->pid)
        return -EACCES;
    *out = files_here(reader()->files);
    return 0;
}

void procfs_cwd(struct pseudo_text *t, const uint32_t *n)
{
    print_followed(t, n, procfs_follow_cwd);
}

int procfs_follow_fd(const uint32_t *n, struct vnode **out)
{
    struct file *f = n[0] == reader()->pid ? files_find_any(reader()->files, n[1]) : NULL;

    if (!f)
        return -ENOENT;
    *out = vnode_get(f->v);
    file_put(f);
    return 0;
}

void procfs_fd(struct pseudo_text *t, const uint32_t *n)
{
    print_followed(t, n, procfs_follow_fd);
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define NAMES_AT 73 /* column of names, as Linux has them */

/* Prints a region, with the name of the file that it maps, if that is known. */
static void print_region(struct pseudo_text *t, const struct region_stats *r,
                         const struct object_name *file)
{
    bool stack = !memcmp(r->name, "main stack", sizeof("main stack")),
         heap = !memcmp(r->name, "heap", sizeof("heap"));
    const char *name = stack ? "[stack]" : heap ? "[heap]" : file ? file->path : "";
    size_t length = stack || heap ? text_length(name) : file ? file->length : 0;
    char line[128];

    size_t n = ksnprintf(
        line, sizeof(line), "%08llx-%08llx %c%c%c%c %08llx 00:00 %llu ",
        (unsigned long long)r->start, (unsigned long long)r->end, r->prot & PROT_R ? 'r' : '-',
        r->prot & PROT_W ? 'w' : '-', r->prot & PROT_X ? 'x' : '-', r->shared ? 's' : 'p',
        (unsigned long long)(file ? r->offset : 0), (unsigned long long)(file ? file->id : 0));
    while (length && n < NAMES_AT)
        line[n++] = ' ';
    pseudo_put(t, line, n);
    pseudo_put(t, name, length);
    pseudo_put(t, "\n", 1);
}

void procfs_maps(struct pseudo_text *t, const uint32_t *n)
{
    struct region_stats r;

    for (vaddr_t from = 0;; from = r.end) {
        struct process *p = process_look_for(reader(), n[0]);
        bool found = p && space_next_region(p->space, from, &r);
        struct object *o = found ? space_object_of(p->space, r.start) : NULL;
        if (p)
            process_look_end(p);
        if (!found)
            break;
        print_region(t, &r, o ? object_name(o) : NULL);
        object_put(o);
    }
}

void procfs_cmdline(struct pseudo_text *t, const uint32_t *n)
{
    struct process *p = process_look_for(reader(), n[0]);

    if (p && p->command)
        pseudo_put(t, p->command, p->command_bytes);
    if (p)
        process_look_end(p);
}

void procfs_limits(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    unsigned limit = __atomic_load_n(&reader()->files->limit, __ATOMIC_RELAXED);

    pseudo_print(t, "%-26s%-21s%-21s%-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    pseudo_print(t, "%-26s%-21s%-21s%-10s\n", "Max stack size", "8388608", "unlimited", "bytes");
    pseudo_print(t, "%-26s%-21u%-21u%-10s\n", "Max open files", limit, FILES_LIMIT_MAX, "files");
}

/* ---- What can be written --------------------------------------------------------------------- */

/* Reads a decimal number, with blanks around it. Returns 0 or -EINVAL. */
static int read_number(const char *text, size_t length, int64_t *out)
{
    size_t at = 0;

    while (at < length && (text[at] == ' ' || text[at] == '\n'))
        at++;
    bool minus = at < length && text[at] == '-';
    size_t first = at += minus;
    *out = 0;
    while (at < length && text[at] >= '0' && text[at] <= '9' && *out <= INT32_MAX)
        *out = *out * 10 + (text[at++] - '0');
    bool any = at > first;
    while (at < length && (text[at] == ' ' || text[at] == '\n' || !text[at]))
        at++;
    *out = minus ? -*out : *out;
    return any && at == length ? 0 : -EINVAL;
}

void procfs_oom_score_adj(struct pseudo_text *t, const uint32_t *n)
{
    struct process *p = process_look_for(reader(), n[0]);

    if (!p)
        return;
    pseudo_print(t, "%d\n", __atomic_load_n(&p->oom_score_adj, __ATOMIC_RELAXED));
    process_look_end(p);
}

int procfs_written_oom_score_adj(const uint32_t *n, const char *text, size_t length)
{
    int64_t score;

    if (read_number(text, length, &score) || score < -OOM_SCORE_MAX || score > OOM_SCORE_MAX)
        return -EINVAL;
    struct process *p = process_look_for(reader(), n[0]);
    if (!p)
        return -ESRCH;
    __atomic_store_n(&p->oom_score_adj, (int16_t)score, __ATOMIC_RELAXED);
    process_look_end(p);
    return 0;
}
