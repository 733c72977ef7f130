/* From a file to an address space ready to run: the program, its interpreter, its stack. */
#pragma once
#include "kernel/proc/internal.h"

/* What to run. */
struct exec_request {
    const char *path;                      /* in the tree of files */
    const char *const *argv, *const *envp; /* each ended by NULL */
};

/* Fills p's empty address space. Stores the program's first instruction and stack pointer. Thread
 * context, no lock held. Returns 0; -ENOENT, -EACCES and errors of path_walk(): no such file, or
 * none that can be run; -ENOEXEC; -ENOMEM; -EDQUOT; -E2BIG; all but the first two with a line on
 * the console. */
int exec_load(struct process *p, const struct exec_request *what, vaddr_t *entry, vaddr_t *sp);
/* Fills p's empty address space with a command's program; argv is ended by NULL. argv[0] is a path
 * if it has a slash, else the name of a program of the bundle or of a file in the usual folders.
 * The environment is that of /etc/environment, KEY=VALUE lines; p begins in the folder PWD. As
 * exec_load(), with a line on the console for all errors. */
int exec_command(struct process *p, const char *const *argv, vaddr_t *entry, vaddr_t *sp);
