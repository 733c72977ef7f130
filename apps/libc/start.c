/*
 * From the kernel's entry to main(): thread-local storage of the first thread, constructors,
 * main(), exit. Thread-local storage follows the ELF TLS ABI: data above the thread pointer behind
 * two words (variant I), or below it (variant II).
 */
#include <stdlib.h>
#include <string.h>
#include "apps/libc/allocation_log.h"
#include "apps/libc/image.h"
#include "apps/libc/libc.h"

extern const char __ehdr_start[];
extern void (*__preinit_array_start[])(void), (*__preinit_array_end[])(void);
extern void (*__init_array_start[])(void), (*__init_array_end[])(void);
extern void (*__fini_array_start[])(void), (*__fini_array_end[])(void);
extern char **environ;
int main(int argc, char **argv, char **envp);

/* Functions that are chosen by the processor at start (ELF gABI, IRELATIVE). None of them may be
 * called before this is applied. */
struct relocation {
    uint64_t *where;
    uint64_t info;
    uint64_t (*pick)(void);
};
extern const struct relocation __rela_iplt_start[], __rela_iplt_end[];

static void pick_functions(void)
{
    for (const struct relocation *r = __rela_iplt_start; r < __rela_iplt_end; r++)
        *r->where = r->pick();
}

/* The program header of the initialised thread-local data. The ELF header is mapped with the
 * text. */
struct tls_image {
    const void *data;
    size_t file_size, size, align;
};

static struct tls_image tls_find(void)
{
    const struct elf_header *eh = (const void *)__ehdr_start;
    for (unsigned i = 0; i < eh->phnum; i++) {
        const struct elf_segment *ph = (const void *)(__ehdr_start + eh->phoff + i * eh->phentsize);
        if (ph->type == SEGMENT_TLS)
            return (struct tls_image){(const void *)ph->vaddr, ph->filesz, ph->memsz,
                                      ph->align ? ph->align : 1};
    }
    return (struct tls_image){.align = 1};
}

static size_t round_up(size_t n, size_t align)
{
    return (n + align - 1) / align * align;
}

#define TLS_ALIGN 64
#define TLS_WORDS 16 /* variant I: bytes between thread pointer and data */

static size_t tls_align(const struct tls_image *t)
{
    return t->align > TLS_ALIGN ? t->align : TLS_ALIGN;
}

size_t tls_size(void)
{
    struct tls_image t = tls_find();
    return round_up(t.size, t.align) + sizeof(struct pthread) + 2 * tls_align(&t);
}

struct pthread *tls_init(void *at, uint64_t *tp)
{
    struct tls_image t = tls_find();
    size_t below = TLS_VARIANT == 1 ? sizeof(struct pthread) : t.size;
    char *pointer = (char *)round_up((size_t)at + below, tls_align(&t));
    char *data = TLS_VARIANT == 1 ? pointer + round_up(TLS_WORDS, t.align)
                                  : pointer - round_up(t.size, t.align);
    struct pthread *self = (struct pthread *)pointer - (TLS_VARIANT == 1);
    memset(self, 0, sizeof *self);
    memcpy(data, t.data, t.file_size);
    memset(data + t.file_size, 0, t.size - t.file_size);
    self->self = self;
    _REENT_INIT_PTR(&self->reent);
    *tp = (uint64_t)pointer;
    return self;
}

struct _reent *__getreent(void)
{
    return &thread_self()->reent;
}

static void run_all(void (**from)(void), void (**to)(void))
{
    for (; from < to; from++)
        (*from)();
}

static void run_destructors(void)
{
    for (void (**f)(void) = __fini_array_end; f > __fini_array_start;)
        (*--f)();
}

/* ---- Start ----------------------------------------------------------------------------------- */

static const uint64_t *auxiliary; /* pairs of a type and a value, to type 0 */

uint64_t auxiliary_value(uint64_t type)
{
    const uint64_t *pair = auxiliary;

    while (pair[0] && pair[0] != type)
        pair += 2;
    return pair[0] ? pair[1] : 0;
}

void libc_start(uint64_t *block) VIGIL(libc_start) __attribute__((noreturn));

/* `block` holds argc, argv[], 0, environment, 0, auxiliary values. */
void libc_start(uint64_t *block)
{
    int argc = (int)block[0];
    char **argv = (char **)(block + 1), **envp = argv + argc + 1, **end = envp;
    uint64_t tp;

    while (*end++)
        ;
    auxiliary = (const uint64_t *)end;
    pick_functions();
    void *at = pages_map((tls_size() + LIBC_PAGE - 1) / LIBC_PAGE * LIBC_PAGE, "tls", 0);
    if (!at)
        syscall1(SYS_exit_group, 127);
    struct pthread *self = tls_init(at, &tp);
    thread_pointer_set(tp);
    self->tid = self->tid_value = (uint32_t)syscall1(SYS_set_tid_address, &self->tid);
    clock_start();
    environ = envp;
    if (getenv(ALLOCATIONS_ASK))
        allocation_log_begin();

    run_all(__preinit_array_start, __preinit_array_end);
    run_all(__init_array_start, __init_array_end);
    atexit(run_destructors);
    exit(main(argc, argv, envp));
}
