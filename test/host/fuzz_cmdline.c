/* Any bytes as the kernel's command line: no crash, and a refused line changes no value. */
#include <stdlib.h>
#include <string.h>
#include "kernel/cmdline.h"

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
    free(text);
    return 0;
}
