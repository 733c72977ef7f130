/* System calls of Linux: execve(2) and execveat(2). */
#include "kernel/core/printf.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/exec.h"
#include "kernel/proc/program_stack.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/user.h"
#include <linux/fcntl.h>

#define OPEN_NAME_MAX 32 /* bytes of a descriptor's name in /proc */
#define WORD_BYTES    sizeof(uint64_t)
#define TEXT_FIRST    (8 * KIB) /* bytes of all strings that are tried first */
#define WORDS_MAX     (PROGRAM_STACK_MAX / (WORD_BYTES + 1))

/* A list of strings of user memory. */
struct words {
    vaddr_t at; /* of its addresses; 0: an empty list */
    unsigned n;
};

static int count_words(struct words *w)
{
    vaddr_t word = 1;

    for (; w->at; w->n++) {
        if (arch_copy_from_user(&word, w->at + w->n * WORD_BYTES, WORD_BYTES))
            return -EFAULT;
        if (!word)
            return 0;
        if (w->n == WORDS_MAX)
            return -E2BIG;
    }
    return 0;
}

/* Copies the strings to `text`, of which *used of `room` bytes are used, and lists them. */
static int copy_words(const struct words *w, const char **list, char *text, size_t room,
                      size_t *used)
{
    vaddr_t word;

    for (unsigned i = 0; i < w->n; i++) {
        if (arch_copy_from_user(&word, w->at + i * WORD_BYTES, WORD_BYTES))
            return -EFAULT;
        int err = user_copy_string(text + *used, room - *used, word);
        if (err)
            return err;
        list[i] = text + *used;
        while (text[(*used)++])
            ;
    }
    list[w->n] = NULL;
    return 0;
}

/* Copies arguments and environment, with `room` bytes for all strings. A program without arguments
 * gets an empty one, as on Linux. Returns a list of both, each ended by NULL, that kfree() frees;
 * -E2BIG: not enough room. */
static int take_words(const struct words *args, const struct words *env, size_t room,
                      const char ***out, unsigned *argc)
{
    *argc = MAX(args->n, 1u);
    const char **list = kmalloc((*argc + env->n + 2) * sizeof(*list) + room);
    if (!list)
        return -ENOMEM;
    char *text = (char *)(list + *argc + env->n + 2);
    size_t used = 0;
    int err = copy_words(args, list, text, room, &used)
                  ?: copy_words(env, list + *argc + 1, text, room, &used);
    if (err) {
        kfree(list);
        return err;
    }
    if (!args->n) {
        list[0] = "";
        list[1] = NULL;
    }
    *out = list;
    return 0;
}

static int take_all(vaddr_t argv, vaddr_t envp, const char ***out, unsigned *argc)
{
    struct words args = {.at = argv}, env = {.at = envp};
    size_t room = TEXT_FIRST;
    int err = count_words(&args) ?: count_words(&env);

    if (err)
        return err;
    do
        err = take_words(&args, &env, room, out, argc);
    while (err == -E2BIG && (room *= 4) <= PROGRAM_STACK_MAX);
    return err;
}

static int64_t exec_at(const struct call *c, uint64_t dirfd, const char *path, vaddr_t argv,
                       vaddr_t envp)
{
    struct path_start start;
    const char **list;
    unsigned argc;
    int err = path_begin(c, dirfd, path, &start);

    if (err)
        return err;
    err = take_all(argv, envp, &list, &argc);
    if (!err) {
        err = process_exec(&(struct exec_request){&start, path, list, list + argc + 1}, c->frame);
        kfree(list);
    }
    vnode_put(start.here);
    return err;
}

static int64_t take_and_exec(const struct call *c, uint64_t dirfd, vaddr_t path, vaddr_t argv,
                             vaddr_t envp)
{
    char *text;
    int err = path_take(&text, path);

    if (err)
        return err;
    int64_t result = exec_at(c, dirfd, text, argv, envp);
    kfree(text);
    return result;
}

int64_t sys_execve(const struct call *c)
{
    return take_and_exec(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1], c->a[2]);
}

/* Starts the program of a descriptor, by the name that it has in /proc. */
static int64_t exec_open(const struct call *c)
{
    char name[OPEN_NAME_MAX];
    struct file *f = files_find_any(c->p->files, c->a[0]);

    if (!f && (int)c->a[0] != AT_FDCWD)
        return -EBADF;
    bool program = f && vnode_is(f->v, S_IFREG);
    file_put(f);
    if (!program)
        return -EACCES;
    ksnprintf(name, sizeof(name), "/proc/self/fd/%u", (unsigned)c->a[0]);
    return exec_at(c, (uint64_t)AT_FDCWD, name, c->a[2], c->a[3]);
}

/* Returns 0 or an error: a link is not followed, or there is nothing. */
static int check_last(const struct call *c)
{
    struct vnode *v;
    int err = path_find(c, c->a[0], c->a[1], AT_SYMLINK_NOFOLLOW, &v);

    if (err)
        return err;
    err = vnode_is(v, S_IFLNK) ? -ELOOP : 0;
    vnode_put(v);
    return err;
}

int64_t sys_execveat(const struct call *c)
{
    uint64_t flags = (uint32_t)c->a[4];
    char first;

    if (flags & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        return -EINVAL;
    if (arch_copy_from_user(&first, c->a[1], 1))
        return -EFAULT;
    if (!first && (flags & AT_EMPTY_PATH))
        return exec_open(c);
    int err = flags & AT_SYMLINK_NOFOLLOW ? check_last(c) : 0;
    return err ?: take_and_exec(c, c->a[0], c->a[1], c->a[2], c->a[3]);
}
