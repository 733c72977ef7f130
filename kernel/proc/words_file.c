/* See words_file.h. The words stay where they are: contents of an archive's file lie in memory for
 * ever. */
#include "kernel/proc/words_file.h"
#include "kernel/core/printf.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/program_stack.h"

/* Returns a list of the words in n bytes of text, or NULL with the reason. */
static const char *const *list_words(const char *text, uint64_t n, const char **why)
{
    uint64_t count = 0;

    *why = "its words take more than a program's stack has room for";
    if (n > PROGRAM_STACK_MAX)
        return NULL;
    *why = "it must have words, each with a NUL behind it";
    if (!n || !text[0] || text[n - 1])
        return NULL;
    for (uint64_t i = 0; i < n; i++)
        count += !text[i];
    *why = "out of memory";
    const char **list = kmalloc((count + 1) * sizeof(*list));
    if (!list)
        return NULL;
    count = 0;
    for (uint64_t i = 0; i < n; i++)
        if (!i || !text[i - 1])
            list[count++] = text + i;
    list[count] = NULL;
    return list;
}

const char *const *words_file_take(const char *const *argv)
{
    const char *const *list = NULL;
    const char *why = "there is no such file in the archive";
    struct vnode *v;

    if (argv[0][0] != '@' || argv[0][1] != '/' || argv[1])
        return argv;
    if (!fs_open(argv[0] + 1, &v)) {
        if (vnode_is(v, S_IFREG) && v->data)
            list = list_words(v->data, v->size, &why);
        vnode_put(v);
    }
    if (!list)
        kprintf("run: event=refused words=%s: %s\n", argv[0] + 1, why);
    return list;
}

void words_file_free(const char *const *words, const char *const *argv)
{
    if (words != argv)
        kfree((void *)words);
}
