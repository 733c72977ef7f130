/* Commands that the kernel starts: where their programs are, and their environment. See exec.h. */
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/fs/fs.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/bundle.h"
#include "kernel/proc/exec.h"
#include "kernel/proc/program_stack.h"

/* Splits the lines of `text`, n bytes and a NUL, in place into a list. Returns their number. */
static unsigned split_lines(char *text, size_t n, const char **list, unsigned max)
{
    unsigned count = 0;

    for (size_t i = 0, start = 0; i <= n; i++) {
        if (i < n && text[i] != '\n')
            continue;
        text[i] = '\0';
        if (i > start && text[start] != '#' && count < max)
            list[count++] = &text[start];
        start = i + 1;
    }
    list[count] = NULL;
    return count;
}

/* Reads the environment of programs that the kernel starts. Returns a list ended by NULL, which
 * kfree() frees whole, or NULL. */
static const char *const *read_environment(void)
{
    enum { VARIABLES_MAX = 256 };
    struct vnode *v = NULL;
    size_t n = 0;

    if (!fs_open("/etc/environment", &v) && v->data)
        n = MIN(v->size, (uint64_t)PROGRAM_STACK_MAX);
    const char **list = kmalloc((VARIABLES_MAX + 1) * sizeof(*list) + n + 1);
    if (list) {
        char *text = (char *)(list + VARIABLES_MAX + 1);
        if (n)
            memcpy(text, v->data, n);
        split_lines(text, n, list, VARIABLES_MAX);
    }
    vnode_put(v);
    return list;
}

/* Has the process begin in the folder that its environment names, PWD, if there is such a one. */
static void go_there(struct process *p, const char *const *envp)
{
    static const char name[] = "PWD=";
    const size_t n = sizeof(name) - 1;
    struct vnode *there;

    while (*envp && (text_length(*envp) < n || memcmp(*envp, name, n)))
        envp++;
    if (!*envp || fs_open(*envp + n, &there))
        return;
    if (vnode_is(there, S_IFDIR))
        files_go(p->files, there);
    else
        vnode_put(there);
}

/* Finds the file of a command. Returns 0 or -ENOENT. */
static int find_command(const char *command, char *path, size_t room)
{
    static const char *const folders[] = {"/usr/local/bin",  "/usr/bin",  "/bin",
                                          "/usr/local/sbin", "/usr/sbin", "/sbin"};

    if (!process_is_program(command) || process_has_application(command)) {
        ksnprintf(path, room, "%s", command);
        return 0;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(folders); i++) {
        ksnprintf(path, room, "%s/%s", folders[i], command);
        if (exec_is_file(path))
            return 0;
    }
    return -ENOENT;
}

/* Does so with room for VNODE_PATH_MAX bytes at `path`. */
static int load_command(struct program *l, const char *const *argv, char *path)
{
    int err = find_command(argv[0], path, VNODE_PATH_MAX);
    const char *const *envp = err ? NULL : read_environment();

    if (!err && !envp)
        err = -ENOMEM;
    if (!err)
        err = exec_load(l, &(struct exec_request){NULL, path, argv, envp});
    if (!err)
        go_there(l->p, envp);
    kfree((void *)envp);
    return err;
}

int exec_command(struct process *p, const char *const *argv, vaddr_t *entry, vaddr_t *sp)
{
    struct program program = {.p = p, .space = p->space}, *l = &program;
    char *path = kmalloc(VNODE_PATH_MAX);

    if (!path) {
        exec_refuse(l, "memory", "out of memory");
        return -ENOMEM;
    }
    int err = load_command(l, argv, path);
    p->program = l->file;
    p->command = l->command;
    p->command_bytes = l->command_bytes;
    *entry = l->entry;
    *sp = l->sp;
    kfree(path);
    if (err == -ENOENT && process_is_program(argv[0]))
        process_say_unknown(argv[0]);
    else if (err == -ENOENT || err == -EACCES || err == -ENOTDIR || err == -ENAMETOOLONG)
        exec_refuse(l, "file",
                    err == -EACCES ? "that file is no program, or may not be executed"
                                   : "there is no such file");
    return err;
}
