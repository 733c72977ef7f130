/* Any bytes as the kernel's command line: no crash, and a refused line changes no value; words that
 * were read and are written are read again the same. */
#include <stdlib.h>
#include <string.h>
#include "kernel/core/cmdline.h"
#include "kernel/lib/words.h"

static uint64_t values[5];
static const char *const words[] = {"red", "green", NULL};
static const struct arg table[] = {
    {"n", ARG_U64, &values[0], 5, 5000, NULL, ARG_GROUP, ""},
    {"bytes", ARG_BYTES, &values[1], 1, GIB, NULL, ARG_BOOT, ""},
    {"flag", ARG_BOOL, &values[2], 0, 1, NULL, ARG_GROUP, ""},
    {"colour", ARG_CHOICE, &values[3], 0, 0, words, ARG_BOOT, ""},
    {"set", ARG_SET, &values[4], 0, 0, words, ARG_BOOT, ""},
    {0},
};
static const struct arg *const tables[] = {table, NULL};

/* Writes what was read, and reads it again. */
static void check_again(const struct cmdline *line, size_t size)
{
    size_t room = 6 * size + 64;
    char err[64], *text = malloc(room);
    struct text t = {text, room};
    struct cmdline again;

    text_put(&t, "--");
    for (unsigned i = 0; i < line->count; i++) {
        const struct command *c = &line->commands[i];
        for (unsigned j = 0; j < c->assign_count + c->argc; j++) {
            text_put(&t, " ");
            words_put(&t, j < c->assign_count ? c->assign[j] : c->argv[j - c->assign_count]);
        }
        text_put(&t, c->background ? "&" : ";");
    }
    if (cmdline_parse(text, tables, &again, err, sizeof(err)) || again.count != line->count)
        abort();
    for (unsigned i = 0; i < line->count; i++) {
        const struct command *a = &line->commands[i], *b = &again.commands[i];
        if (a->argc != b->argc || a->assign_count != b->assign_count ||
            a->background != b->background)
            abort();
        for (unsigned j = 0; j < a->argc; j++)
            if (strcmp(a->argv[j], b->argv[j]))
                abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t defaults[5] = {5, 1, 0, 0, 0};
    struct cmdline line;
    char err[64], *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    memcpy(values, defaults, sizeof(values));
    int r = cmdline_parse(text, tables, &line, err, sizeof(err));
    if (r && memcmp(values, defaults, sizeof(values)))
        abort();
    if (values[0] < 5 || values[0] > 5000 || values[1] < 1 || values[1] > GIB || values[2] > 1 ||
        values[3] > 1 || values[4] > 3)
        abort();
    for (unsigned i = 0; i < line.count; i++)
        if (!line.commands[i].argc || line.commands[i].argc > CMD_ARGS_MAX ||
            strlen(line.commands[i].argv[0]) > size)
            abort();
    check_again(&line, size);
    free(text);
    return 0;
}
