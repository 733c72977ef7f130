/* See exec.h. */
#include "kernel/proc/exec.h"
#include "kernel/core/entropy.h"
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/fs/fs.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/bundle.h"
#include "kernel/proc/elf.h"
#include "kernel/proc/program_stack.h"
#include "kernel/vdso/vdso.h"
#include "mm/object.h"
#include <linux/auxvec.h>
#include <linux/fcntl.h>

#define STACK_TOP       (USER_MAX - PAGE_SIZE)
#define STACK_FIRST     (PROGRAM_STACK_MAX + 128 * KIB) /* bytes mapped at first; it grows */
#define PIE_BASE        ((vaddr_t)0x555555554000)
#define IMAGE_HIGH      ((vaddr_t)0x100000000000) /* programs with fixed addresses lie below */
#define PROGRAM_MAX     (64 * GIB)
#define SCRIPT_MAX      4   /* interpreters of scripts that are scripts */
#define SCRIPT_LINE_MAX 256 /* bytes of the first line of a script, its end included */
#define ARGUMENTS_MAX   (PROGRAM_STACK_MAX / (sizeof(uint64_t) + 1)) /* more words do not fit */
#define CLOCK_TICKS     100                                          /* a second, in times() */
#define AUXV_MAX        20

extern const char bundle_start[], bundle_end[];

/* A file with a program. */
struct program_file {
    uint64_t size;
    const void *data;      /* of a program of the bundle; NULL: the file is of the tree */
    struct file *f;        /* opened to read */
    struct object *object; /* its contents */
};

/* A program that has been mapped. */
struct image {
    vaddr_t bias, entry; /* bias: added to the file's addresses */
    vaddr_t headers, end;
    unsigned header_count, header_size;
};

void exec_refuse(const struct program *l, const char *reason, const char *why)
{
    if (!l->start)
        kprintf("process: event=refused app=%s reason=%s: %s\n", l->p->name, reason, why);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void close_file(struct program_file *file)
{
    if (file->f)
        file_put(file->f);
    *file = (struct program_file){0};
}

/* Opens a vnode that may be executed. */
static int open_vnode(struct vnode *v, struct program_file *out)
{
    if (!vnode_is(v, S_IFREG) || !(v->mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return -EACCES;
    int err = file_make(v, O_RDONLY, &out->f);
    if (!err && v->ops->object(v, &out->object))
        err = -EACCES;
    if (!err && out->object)
        path_name_object(v, out->object);
    out->size = v->size;
    return err;
}

/* Opens a file that may be executed. `start`: where its path begins; NULL: at the root. */
static int open_file(const struct path_start *start, const char *path, struct program_file *out)
{
    struct vnode *v;
    int err = start ? path_walk(start, path, 0, &v) : fs_open(path, &v);

    if (err)
        return err;
    err = open_vnode(v, out);
    vnode_put(v);
    if (err)
        close_file(out);
    return err;
}

/* Reads n bytes of a program, which it has. Returns whether they came. */
static bool read_file(const void *of, uint64_t at, void *to, size_t n)
{
    const struct program_file *file = of;

    if (!file->data)
        return object_read(file->object, at, to, n) == (int64_t)n;
    memcpy(to, (const uint8_t *)file->data + at, n);
    return true;
}

/* Finds a program of the bundle, whose path is its name, or a file of the tree. */
static int find_file(const struct program *l, const char *path, struct program_file *out)
{
    struct bundle_file file;
    const char *why;

    *out = (struct program_file){0};
    if (l->start || !process_is_program(path))
        return open_file(l->start, path, out);
    if (bundle_find(bundle_start, bundle_end - bundle_start, path, &file, &why))
        return -ENOENT;
    *out = (struct program_file){.data = file.data, .size = file.size};
    return 0;
}

/* ---- Scripts --------------------------------------------------------------------------------- */

/* The arguments of a program; `first` of the first interpreters of scripts come before those of the
 * caller. */
struct arguments {
    char line[SCRIPT_MAX][SCRIPT_LINE_MAX]; /* split first lines of scripts */
    const char *path;                       /* of the program */
    char interpreter[ELF_INTERPRETER_MAX];  /* that the program names; empty: none */
    unsigned argc;
    const char *argv[]; /* with room for what interpreters add, and a NULL */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Splits the first line of a script, "#!PATH [ARGUMENT]", into a path and an argument, NULL: none.
 * Returns 0, -ENOEXEC or -EIO. */
static int split_script(const struct program_file *file, char line[SCRIPT_LINE_MAX],
                        const char **path, const char **argument)
{
    size_t n = MIN(file->size, (uint64_t)SCRIPT_LINE_MAX - 1), end = 0;

    if (!read_file(file, 0, line, n))
        return -EIO;
    while (end < n && line[end] != '\n')
        end++;
    if (end == n && n == SCRIPT_LINE_MAX - 1)
        return -ENOEXEC;
    while (end > 2 && is_blank(line[end - 1]))
        end--;
    line[end] = '\0';
    size_t at = 2;
    while (is_blank(line[at]))
        at++;
    *path = &line[at];
    while (line[at] && !is_blank(line[at]))
        at++;
    *argument = NULL;
    if (line[at]) {
        line[at++] = '\0';
        while (is_blank(line[at]))
            at++;
        *argument = &line[at];
    }
    return **path ? 0 : -ENOEXEC;
}

/* Puts the interpreter and its argument in front of the arguments, and the script's path in place
 * of the first. */
static int prepend(struct arguments *a, const char *interpreter, const char *argument)
{
    unsigned more = argument ? 2 : 1;

    if (!a->argc)
        a->argc = 1;
    for (unsigned i = a->argc; i-- > 1;)
        a->argv[i + more] = a->argv[i];
    a->argv[more] = a->path;
    a->argv[0] = interpreter;
    if (argument)
        a->argv[1] = argument;
    a->argc += more;
    a->argv[a->argc] = NULL;
    a->path = interpreter;
    return 0;
}

/* Copies the caller's list. Returns NULL without memory. */
static struct arguments *make_arguments(const struct exec_request *what)
{
    unsigned argc = 0;

    while (what->argv[argc])
        argc++;
    struct arguments *a =
        kmalloc(sizeof(*a) + (MAX(argc, 1u) + 2 * SCRIPT_MAX + 1) * sizeof(*a->argv));
    if (!a)
        return NULL;
    a->path = what->path;
    a->argc = argc;
    memcpy(a->argv, what->argv, argc * sizeof(*a->argv));
    return a;
}

/* Goes from a script to its interpreter. */
static int follow_script(const struct program *l, struct arguments *a, unsigned depth,
                         struct program_file *file)
{
    const char *interpreter, *argument;
    int err =
        depth == SCRIPT_MAX ? -ELOOP : split_script(file, a->line[depth], &interpreter, &argument);

    close_file(file);
    return err ?: prepend(a, interpreter, argument) ?: open_file(l->start, interpreter, file);
}

static bool is_script(const struct program_file *file)
{
    char first[2];

    return file->size >= sizeof(first) && read_file(file, 0, first, sizeof(first)) &&
           first[0] == '#' && first[1] == '!';
}

/* Finds the program, by way of interpreters of scripts. */
static int find_program(const struct program *l, struct arguments *a, struct program_file *file)
{
    int err = find_file(l, a->path, file);

    for (unsigned depth = 0; !err && is_script(file); depth++)
        err = follow_script(l, a, depth, file);
    return err;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

static unsigned prot_of(uint32_t flags)
{
    return (flags & ELF_R ? PROT_R : 0) | (flags & ELF_W ? PROT_W : 0) |
           (flags & ELF_X ? PROT_X : 0);
}

static const char *name_of(uint32_t flags)
{
    return flags & ELF_X ? "code" : flags & ELF_W ? "data" : "constants";
}

/* Makes the bytes from `from` to the end of its page zero. */
static int clear_rest(struct space *space, vaddr_t from)
{
    static const uint8_t zeros[PAGE_SIZE];

    return space_fill(space, from, zeros, ALIGN_UP(from, PAGE_SIZE) - from);
}

/* Maps a segment: pages of the file, and zeros behind them. */
static NOINLINE int map_segment(struct space *space, const struct program_file *file,
                                const struct elf_segment *s, vaddr_t bias, const char *name)
{
    vaddr_t va = bias + s->va, start = ALIGN_DOWN(va, PAGE_SIZE), at;
    vaddr_t filled = va + s->file_size, end = va + s->memory_size;
    struct mapping m = {
        .va = start,
        .len = ALIGN_UP(filled, PAGE_SIZE) - start,
        .prot = prot_of(s->flags),
        .flags = MAPPING_FIXED,
        .kind = REGION_IMAGE,
        .name = name,
        .source = file->data ? page_source_memory(file->data, file->size)
                             : page_source_object(file->object),
        .source_page = s->file_offset / PAGE_SIZE,
    };
    int err = s->file_size ? space_mmap(space, &m, &at) : 0;

    if (!err && s->file_size && end > filled && !IS_ALIGNED(filled, PAGE_SIZE))
        err = clear_rest(space, filled);
    if (!s->file_size)
        filled = start;
    if (err || ALIGN_UP(end, PAGE_SIZE) <= ALIGN_UP(filled, PAGE_SIZE))
        return err;
    m.va = ALIGN_UP(filled, PAGE_SIZE);
    m.len = ALIGN_UP(end, PAGE_SIZE) - m.va;
    m.source = (struct page_source){0};
    m.source_page = 0;
    return space_mmap(space, &m, &at);
}

/* Finds room for an interpreter below other mappings. */
static int find_room(struct space *space, const struct elf_plan *plan, vaddr_t *base)
{
    uint64_t bytes = ALIGN_UP(plan->end, PAGE_SIZE) - plan->low;
    struct mapping m = {.len = bytes + plan->alignment,
                        .flags = MAPPING_UNCOUNTED,
                        .kind = REGION_IMAGE,
                        .name = "interpreter"};
    vaddr_t at;
    int err = space_mmap(space, &m, &at);

    if (err)
        return err;
    *base = ALIGN_UP(at, plan->alignment);
    return space_unmap(space, at, m.len);
}

/* Maps a program, a relative one at `base`, and stores the path of its interpreter; or, if
 * `interpreter` is NULL, an interpreter where there is room. `name` is for messages; NULL: each
 * segment has one by its rights. */
static int map_image(const struct program *l, const struct program_file *file, vaddr_t base,
                     const char *name, struct image *out, char *interpreter)
{
    const struct elf_limits limits = {ARCH_ELF_MACHINE, USER_MIN, IMAGE_HIGH, PROGRAM_MAX,
                                      !file->data};
    struct elf_plan *plan = kmalloc(sizeof(*plan));
    const struct elf_file of = {.size = file->size, .read_bytes = read_file, .of = file};
    const char *why;
    int err = plan ? elf_plan(&of, &limits, plan, &why) : -ENOMEM;

    if (!err && !interpreter && plan->interpreter[0]) {
        why = "the program's interpreter needs an interpreter";
        err = -ENOEXEC;
    }
    if (err == -ENOEXEC)
        exec_refuse(l, "broken", why);
    if (!err && plan->relative && !base)
        err = find_room(l->space, plan, &base);
    if (err) {
        kfree(plan);
        return err;
    }
    vaddr_t bias = plan->relative ? ALIGN_UP(base, plan->alignment) - plan->low : 0;
    for (unsigned i = 0; i < plan->count && !err; i++)
        err = map_segment(l->space, file, &plan->segments[i], bias,
                          name ? name : name_of(plan->segments[i].flags));
    *out = (struct image){
        .bias = bias,
        .entry = bias + plan->entry,
        .headers = plan->headers ? bias + plan->headers : 0,
        .end = ALIGN_UP(bias + plan->end, PAGE_SIZE),
        .header_count = plan->header_count,
        .header_size = plan->header_size,
    };
    if (interpreter)
        memcpy(interpreter, plan->interpreter, ELF_INTERPRETER_MAX);
    kfree(plan);
    if (err)
        exec_refuse(l, "memory",
                    err == -EDQUOT   ? "mem.process or mem.kernel allows it too little"
                    : err == -EACCES ? "mem.wx=deny: it has a segment both writable and executable"
                                     : "out of memory");
    return err;
}

/* Maps the interpreter that a dynamic program names. */
static int map_interpreter(const struct program *l, const char *path, struct image *out)
{
    struct program_file file = {0};
    int err = open_file(l->start, path, &file);

    if (err) {
        kprintf("process: event=refused app=%s reason=interpreter path=%s: the program needs this "
                "interpreter, and there is no such file\n",
                text_base(l->name), path);
        return l->start ? err : -ENOEXEC;
    }
    err = map_image(l, &file, 0, text_base(path), out, NULL);
    close_file(&file);
    return err;
}

/* ---- Stack ----------------------------------------------------------------------------------- */

/* Describes the program to its C library. Returns the number of entries. */
static unsigned fill_auxv(struct auxv_entry auxv[AUXV_MAX], const struct image *program,
                          const struct image *interpreter)
{
    const struct auxv_entry entries[] = {
        {AT_PHDR, program->headers},
        {AT_PHENT, program->header_size},
        {AT_PHNUM, program->header_count},
        {AT_PAGESZ, PAGE_SIZE},
        {AT_BASE, interpreter->bias},
        {AT_FLAGS, 0},
        {AT_ENTRY, program->entry},
        {AT_UID, proc_user},
        {AT_EUID, proc_user},
        {AT_GID, proc_user},
        {AT_EGID, proc_user},
        {AT_SECURE, 0},
        {AT_HWCAP, arch_user_hwcap()},
        {AT_HWCAP2, arch_user_hwcap2()},
        {AT_CLKTCK, CLOCK_TICKS},
        {AT_SYSINFO_EHDR, VDSO_EHDR},
    };

    _Static_assert(ARRAY_SIZE(entries) <= AUXV_MAX, "room");
    memcpy(auxv, entries, sizeof(entries));
    return ARRAY_SIZE(entries);
}

static int fill_stack(struct program *l, const struct exec_request *what, const struct arguments *a,
                      const struct image *program, const struct image *interpreter)
{
    struct auxv_entry auxv[AUXV_MAX];
    struct program_stack s = {
        .argv = a->argv,
        .envp = what->envp,
        .path = a->path,
        .platform = arch_name,
        .auxv = auxv,
        .auxv_count = fill_auxv(auxv, program, interpreter),
    };
    uint8_t *buffer = kmalloc_unfilled(PROGRAM_STACK_MAX);

    if (!buffer)
        return -ENOMEM;
    entropy_bytes(&l->p->entropy, s.random, sizeof(s.random));
    int64_t n = program_stack_build(&s, STACK_TOP, buffer, &l->sp);
    int err =
        n < 0 ? (int)n : space_fill(l->space, l->sp, buffer + PROGRAM_STACK_MAX - n, (size_t)n);
    kfree(buffer);
    return err;
}

static int map_stack(struct space *space)
{
    const struct mapping m = {
        .va = STACK_TOP - STACK_FIRST,
        .len = STACK_FIRST,
        .prot = PROT_R | PROT_W,
        .flags = MAPPING_FIXED | MAPPING_GROWS,
        .kind = REGION_STACK,
        .name = "main stack",
    };
    vaddr_t at;

    return space_mmap(space, &m, &at);
}

static NOINLINE int make_stack(struct program *l, const struct exec_request *what,
                               const struct arguments *a, const struct image *program,
                               const struct image *interpreter)
{
    int err = map_stack(l->space) ?: vdso_map(l->space);

    if (!err)
        err = fill_stack(l, what, a, program, interpreter);
    if (err)
        exec_refuse(l, err == -E2BIG ? "arguments" : "memory",
                    err == -E2BIG ? "too many or too long arguments" : "no memory for its stack");
    return err;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Maps the program and its interpreter. */
static int map_all(struct program *l, struct arguments *a, const struct program_file *file,
                   struct image *program, struct image *interpreter)
{
    space_set_bundled(l->space, file->data);
    int err = map_image(l, file, PIE_BASE, NULL, program, a->interpreter);

    if (!err)
        space_set_brk(l->space, program->end + PAGE_SIZE);
    if (!err && a->interpreter[0])
        err = map_interpreter(l, a->interpreter, interpreter);
    l->entry = a->interpreter[0] ? interpreter->entry : program->entry;
    return err;
}

/* Returns the file of a program, referenced, and kept from being written; or NULL. */
static struct vnode *note_file(const struct program_file *file, const char *path)
{
    char of_bundle[sizeof("/bin/") + BUNDLE_NAME_MAX];
    struct vnode *v = file->f ? vnode_get(file->f->v) : NULL;

    ksnprintf(of_bundle, sizeof(of_bundle), "/bin/%s", path);
    if (!v && fs_open(of_bundle, &v))
        return NULL;
    __atomic_fetch_add(&v->running, 1, __ATOMIC_RELAXED);
    return v;
}

/* Keeps what /proc tells of the program. Without memory it tells less. */
static void note_program(struct program *l, const struct arguments *a,
                         const struct program_file *file)
{
    size_t n = 0;

    for (unsigned i = 0; i < a->argc; i++)
        n += text_length(a->argv[i]) + 1;
    l->command = kmalloc(n + 1);
    for (unsigned i = 0; l->command && i < a->argc; i++) {
        size_t part = text_length(a->argv[i]) + 1;
        memcpy(l->command + l->command_bytes, a->argv[i], part);
        l->command_bytes += part;
    }
    l->file = note_file(file, a->path);
}

static int load(struct program *l, const struct exec_request *what, struct arguments *a)
{
    struct image program, interpreter = {0};
    struct program_file file;
    int err = find_program(l, a, &file);

    if (err == -ENOEXEC || err == -ELOOP)
        exec_refuse(l, "broken", "its first line names no interpreter, or a chain of scripts");
    if (err)
        return err;
    err = map_all(l, a, &file, &program, &interpreter)
              ?: make_stack(l, what, a, &program, &interpreter);
    if (!err)
        note_program(l, a, &file);
    close_file(&file);
    return err;
}

int exec_load(struct program *l, const struct exec_request *what)
{
    struct arguments *a = make_arguments(what);

    l->start = what->start;
    l->name = what->path;
    int err = a ? load(l, what, a) : -ENOMEM;
    kfree(a);
    return err;
}

bool exec_is_file(const char *path)
{
    struct program_file file = {0};

    if (open_file(NULL, path, &file))
        return false;
    close_file(&file);
    return true;
}

struct vnode *exec_get_program(struct vnode *v)
{
    if (v)
        __atomic_fetch_add(&vnode_get(v)->running, 1, __ATOMIC_RELAXED);
    return v;
}

void exec_put_program(struct vnode *v)
{
    if (v)
        __atomic_fetch_sub(&v->running, 1, __ATOMIC_RELAXED);
    vnode_put(v);
}
