/*
 * Arguments of the form name=value, described by a table. Anything that the table does not allow is
 * an error, which names the argument and the accepted values. Nothing is ignored or clamped
 * silently.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARGS_LIST_MAX = 64 };

/* Numbers separated by commas, as in sizes=2,3,5. */
struct args_list {
    unsigned count;
    uint32_t item[ARGS_LIST_MAX];
};

enum args_kind {
    ARGS_NUMBER, /* value points to a uint64_t, decimal, min..max */
    ARGS_CHOICE, /* value points to an unsigned: the index into choices */
    ARGS_LIST,   /* value points to a struct args_list, items min..max */
    ARGS_TEXT,   /* value points to a const char *, min..max characters */
};

/* One argument. *value holds the default before parsing, and the result after it. */
struct args_entry {
    const char *name;
    enum args_kind kind;
    void *value;
    uint64_t min, max;
    const char *const *choices; /* NULL-terminated; of ARGS_CHOICE only */
    const char *what;           /* for the help text */
};

/* A program's arguments. */
struct args_table {
    const char *program;
    const char *what;
    const struct args_entry *entries;
    size_t count;
};

/*
 * Reads argv[1] to argv[argc-1] into the table's values; the last of equal arguments counts.
 * Returns 0, or -1 with a message in `error`; then some values may have changed.
 */
int args_parse(const struct args_table *table, int argc, char **argv, char *error,
               size_t error_size);

/* Prints every argument with default, range and meaning. Called before parsing, as the defaults are
 * the values. */
void args_help(const struct args_table *table);

/* Returns whether the only argument is "help" or "--help". */
bool args_asks_for_help(int argc, char **argv);

/* For main(): parses; prints help if asked for and exits with 0; prints a message and exits with 2
 * if parsing fails. */
void args_parse_or_exit(const struct args_table *table, int argc, char **argv);

/* A word for an error number, of either sign, as the reason in a message. */
const char *args_reason(int err);

/* For what no single range can express: prints "PROGRAM: argument=ARGUMENT reason=REASON: message"
 * and exits with 2. ARGUMENT is "program" for what stands behind '--'. Tests read the keys, so the
 * message can be reworded. */
_Noreturn void args_refuse(const struct args_table *table, const char *argument, const char *reason,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
