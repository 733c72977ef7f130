/* See program_stack.h. */
#include "kernel/proc/program_stack.h"
#include "kernel/lib/text.h"
#include <linux/auxvec.h>

#define OWN_ENTRIES 4 /* of the auxiliary vector: path, platform, random bytes, the end */

/* Where the next string and the next word go; `end` of the buffer is at address `top`. */
struct builder {
    uint8_t *string, *word, *end;
    vaddr_t top;
};

static vaddr_t put_bytes(struct builder *b, const void *bytes, size_t n)
{
    memcpy(b->string, bytes, n);
    b->string += n;
    return b->top - (uint64_t)(b->end - (b->string - n));
}

static vaddr_t put_string(struct builder *b, const char *s)
{
    return put_bytes(b, s, text_length(s) + 1);
}

static void put_word(struct builder *b, uint64_t v)
{
    memcpy(b->word, &v, sizeof(v));
    b->word += sizeof(v);
}

static void put_pair(struct builder *b, uint64_t type, uint64_t value)
{
    put_word(b, type);
    put_word(b, value);
}

/* Adds up the bytes of a list of strings, as far as they may be. Returns their number. */
static uint64_t count_strings(const char *const *list, uint64_t *bytes)
{
    uint64_t n = 0;

    for (; list[n] && *bytes <= PROGRAM_STACK_MAX; n++)
        *bytes += text_length(list[n]) + 1;
    return n;
}

int64_t program_stack_build(const struct program_stack *s, vaddr_t top, uint8_t *buffer,
                            vaddr_t *sp)
{
    uint64_t strings = text_length(s->path) + text_length(s->platform) + 2 + PROGRAM_RANDOM;
    uint64_t argc = count_strings(s->argv, &strings), envc = count_strings(s->envp, &strings);
    uint64_t words = 1 + argc + 1 + envc + 1 + 2 * (OWN_ENTRIES + (uint64_t)s->auxv_count);
    uint64_t bytes = strings + words * sizeof(uint64_t);

    if (bytes > PROGRAM_STACK_MAX - 16)
        return -E2BIG;
    *sp = ALIGN_DOWN(top - bytes, 16);
    uint8_t *end = buffer + PROGRAM_STACK_MAX;
    struct builder b = {end - strings, end - (top - *sp), end, top};
    memset(b.word, 0, top - *sp);
    put_word(&b, argc);
    for (uint64_t i = 0; i < argc; i++)
        put_word(&b, put_string(&b, s->argv[i]));
    put_word(&b, 0);
    for (uint64_t i = 0; i < envc; i++)
        put_word(&b, put_string(&b, s->envp[i]));
    put_word(&b, 0);
    for (unsigned i = 0; i < s->auxv_count; i++)
        put_pair(&b, s->auxv[i].type, s->auxv[i].value);
    put_pair(&b, AT_EXECFN, put_string(&b, s->path));
    put_pair(&b, AT_PLATFORM, put_string(&b, s->platform));
    put_pair(&b, AT_RANDOM, put_bytes(&b, s->random, sizeof(s->random)));
    put_pair(&b, AT_NULL, 0);
    return (int64_t)(top - *sp);
}
