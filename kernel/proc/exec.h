/* From a file to an address space ready to run: the program, its interpreter, its stack. */
#pragma once
#include "kernel/fs/path.h"
#include "kernel/proc/internal.h"

/* What to run. */
struct exec_request {
    /* Where paths begin. NULL: at the root; and a path without a slash is the name of a program of
     * the bundle, and lines on the console say what is wrong. */
    const struct path_start *start;
    const char *path;
    const char *const *argv, *const *envp; /* each ended by NULL */
};

/* A program that is being loaded. */
struct program {
    struct process *p;              /* whose it becomes */
    struct space *space;            /* an empty one */
    const struct path_start *start; /* exec_request */
    const char *name;               /* its path */
    /* Results. */
    vaddr_t entry, sp;    /* its first instruction and stack pointer */
    struct vnode *file;   /* NULL: unknown; exec_put_program() drops it */
    char *command;        /* its arguments, each with a NUL; NULL: unknown */
    size_t command_bytes; /* of these */
};

/* Fills the empty address space. Thread context, no lock held. Returns 0; -ENOENT, -EACCES and
 * errors of path_walk(): no such file, or none that can be run; -ENOEXEC; -ENOMEM; -EDQUOT; -E2BIG.
 * After an error there are no results. */
int exec_load(struct program *program, const struct exec_request *what);
/* Fills p's empty address space with a command's program; argv is ended by NULL. argv[0] is a path
 * if it has a slash, else the name of a program of the bundle or of a file in the usual folders.
 * The environment is that of /etc/environment, KEY=VALUE lines; p begins in the folder PWD. Stores
 * the program's first instruction and stack pointer. As exec_load(), with a line on the console for
 * all errors. */
int exec_command(struct process *p, const char *const *argv, vaddr_t *entry, vaddr_t *sp);
/* Take and drop the reference that a process has to its program's file, which no program may write
 * meanwhile. NULL: nothing. */
struct vnode *exec_get_program(struct vnode *v);
void exec_put_program(struct vnode *v);
/* Returns whether there is a file at a path that may be executed. */
bool exec_is_file(const char *path);
/* Says on the console why a program cannot be started, if it is one that the kernel starts. */
void exec_refuse(const struct program *program, const char *reason, const char *why);
