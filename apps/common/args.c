/*
 * Parses a table of arguments: the result is values or one error message. Parsing changes nothing
 * but the table's values; only args_refuse() and *_or_exit() end the program.
 */
#include "apps/common/args.h"
#include "kernel/lib/nearest.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTION_MAX = 160, EXIT_BAD_ARGUMENT = 2, WORD_SHOWN = 160, KEY_SHOWN = 40 };

/* Writes the values that the entry accepts, such as "1..64" or "grouped, shuffled". */
static void describe_accepted(const struct args_entry *entry, char *out, size_t size)
{
    switch (entry->kind) {
    case ARGS_NUMBER:
        snprintf(out, size, "%" PRIu64 "..%" PRIu64, entry->min, entry->max);
        return;
    case ARGS_LIST:
        snprintf(out, size, "up to %d numbers %" PRIu64 "..%" PRIu64 " separated by commas",
                 ARGS_LIST_MAX, entry->min, entry->max);
        return;
    case ARGS_TEXT:
        snprintf(out, size, "%" PRIu64 "..%" PRIu64 " characters", entry->min, entry->max);
        return;
    case ARGS_CHOICE:
        out[0] = '\0';
        for (unsigned i = 0; entry->choices[i]; i++) {
            size_t used = strlen(out);
            snprintf(out + used, size - used, "%s%s", i ? ", " : "", entry->choices[i]);
        }
        return;
    }
}

/* Reads a decimal number at `text` and moves `text` behind it. Returns false if there is none, or
 * it overflows. */
static bool read_number(const char **text, uint64_t *number)
{
    const char *p = *text;
    uint64_t n = 0;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *text = p;
    *number = n;
    return true;
}

static bool in_range(const struct args_entry *entry, uint64_t number)
{
    return number >= entry->min && number <= entry->max;
}

static bool parse_number(const struct args_entry *entry, const char *text)
{
    uint64_t number;

    if (!read_number(&text, &number) || *text || !in_range(entry, number))
        return false;
    *(uint64_t *)entry->value = number;
    return true;
}

static bool parse_choice(const struct args_entry *entry, const char *text)
{
    for (unsigned i = 0; entry->choices[i]; i++) {
        if (strcmp(entry->choices[i], text) == 0) {
            *(unsigned *)entry->value = i;
            return true;
        }
    }
    return false;
}

static bool parse_list(const struct args_entry *entry, const char *text)
{
    struct args_list list = {0};
    uint64_t number;

    for (;;) {
        if (!read_number(&text, &number) || !in_range(entry, number) || number > UINT32_MAX)
            return false;
        if (list.count == ARGS_LIST_MAX)
            return false;
        list.item[list.count++] = (uint32_t)number;
        if (*text == '\0')
            break;
        if (*text++ != ',')
            return false;
    }
    *(struct args_list *)entry->value = list;
    return true;
}

static bool parse_text(const struct args_entry *entry, const char *text)
{
    if (!in_range(entry, strlen(text)))
        return false;
    *(const char **)entry->value = text;
    return true;
}

static bool parse_value(const struct args_entry *entry, const char *text)
{
    switch (entry->kind) {
    case ARGS_NUMBER:
        return parse_number(entry, text);
    case ARGS_CHOICE:
        return parse_choice(entry, text);
    case ARGS_LIST:
        return parse_list(entry, text);
    case ARGS_TEXT:
        return parse_text(entry, text);
    }
    return false;
}

/* The reason why parse_value() refuses the text: a number outside its range, or no such value. */
static const char *refused_because(const struct args_entry *entry, const char *text)
{
    uint64_t number;
    bool range = entry->kind == ARGS_NUMBER && read_number(&text, &number) && !*text;

    return range ? "range" : "value";
}

static const struct args_entry *find_entry(const struct args_table *table, const char *name,
                                           size_t length)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct args_entry *entry = &table->entries[i];
        if (strlen(entry->name) == length && memcmp(entry->name, name, length) == 0)
            return entry;
    }
    return NULL;
}

/* Copies the argument's name, in front of '=', as the value of a key: one word without ':'. */
static void copy_key(char *key, size_t size, const char *argument)
{
    size_t n = 0;

    for (; n + 1 < size && argument[n] && argument[n] != '='; n++)
        key[n] = argument[n] > ' ' && argument[n] <= '~' && argument[n] != ':' ? argument[n] : '_';
    key[n] = '\0';
}

static void say_unknown(const struct args_table *table, const char *argument, char *error,
                        size_t size)
{
    struct nearest near = {.text = argument, .n = strcspn(argument, "=")};
    char key[KEY_SHOWN];

    copy_key(key, sizeof key, argument);
    for (size_t i = 0; i < table->count; i++)
        nearest_consider(&near, table->entries[i].name);
    snprintf(error, size, "argument=%s reason=unknown%s%s: '%.*s' is no argument; accepted are",
             key, near.best ? " nearest=" : "", near.best ? near.best : "", WORD_SHOWN, argument);
    for (size_t i = 0; i < table->count; i++) {
        size_t used = strlen(error);
        snprintf(error + used, size - used, "%s %s=", i ? "," : "", table->entries[i].name);
    }
}

int args_parse(const struct args_table *table, int argc, char **argv, char *error,
               size_t error_size)
{
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        const struct args_entry *entry =
            equals ? find_entry(table, argv[i], (size_t)(equals - argv[i])) : NULL;

        if (!entry) {
            say_unknown(table, argv[i], error, error_size);
            return -1;
        }
        if (!parse_value(entry, equals + 1)) {
            char accepted[DESCRIPTION_MAX];
            describe_accepted(entry, accepted, sizeof accepted);
            snprintf(error, error_size, "argument=%s reason=%s: '%s' is not accepted; use %s",
                     entry->name, refused_because(entry, equals + 1), equals + 1, accepted);
            return -1;
        }
    }
    return 0;
}

static void print_default(const struct args_entry *entry)
{
    const struct args_list *list;

    switch (entry->kind) {
    case ARGS_NUMBER:
        printf("%" PRIu64, *(uint64_t *)entry->value);
        return;
    case ARGS_CHOICE:
        printf("%s", entry->choices[*(unsigned *)entry->value]);
        return;
    case ARGS_TEXT:
        printf("%s", *(const char **)entry->value);
        return;
    case ARGS_LIST:
        list = entry->value;
        for (unsigned i = 0; i < list->count; i++)
            printf("%s%" PRIu32, i ? "," : "", list->item[i]);
        return;
    }
}

void args_help(const struct args_table *table)
{
    printf("%s: %s\n", table->program, table->what);
    for (size_t i = 0; i < table->count; i++) {
        char accepted[DESCRIPTION_MAX];
        describe_accepted(&table->entries[i], accepted, sizeof accepted);
        printf("  %s=", table->entries[i].name);
        print_default(&table->entries[i]);
        printf("  %s (%s)\n", table->entries[i].what, accepted);
    }
}

bool args_asks_for_help(int argc, char **argv)
{
    return argc == 2 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0);
}

static _Noreturn void refuse(const struct args_table *table, const char *message)
{
    fprintf(stderr, "%s: %s\n", table->program, message);
    exit(EXIT_BAD_ARGUMENT);
}

void args_parse_or_exit(const struct args_table *table, int argc, char **argv)
{
    char error[512];

    if (args_asks_for_help(argc, argv)) {
        args_help(table);
        exit(0);
    }
    if (args_parse(table, argc, argv, error, sizeof error) != 0)
        refuse(table, error);
}

const char *args_reason(int err)
{
    switch (err < 0 ? -err : err) {
    case ENOENT:
        return "unknown";
    case EINVAL:
        return "value";
    case ERANGE:
        return "range";
    case EACCES:
        return "denied";
    case EBUSY:
        return "busy";
    case ENODEV:
        return "no-device";
    case EOPNOTSUPP:
    case ENOSYS:
        return "unsupported";
    case ENOMEM:
        return "memory";
    case EDQUOT:
        return "limit";
    case ENOSPC:
    case E2BIG:
        return "many";
    default:
        return "error";
    }
}

_Noreturn void args_refuse(const struct args_table *table, const char *argument, const char *reason,
                           const char *format, ...)
{
    char message[512];
    int n = snprintf(message, sizeof message, "argument=%s reason=%s: ", argument, reason);
    va_list ap;

    va_start(ap, format);
    vsnprintf(message + n, sizeof message - (size_t)n, format, ap);
    va_end(ap);
    refuse(table, message);
}
