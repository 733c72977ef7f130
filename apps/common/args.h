/*
 * Arguments of the form name=value, described by a table. Anything the table does not allow is an
 * error that names the argument and says what is accepted; nothing is silently ignored or clamped.
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

/* One argument. *value holds the default before parsing and the result after it. */
struct args_entry {
    const char *name;
    enum args_kind kind;
    void *value;
    uint64_t min, max;
    const char *const *choices; /* NULL-terminated, ARGS_CHOICE only */
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
 * Reads argv[1..argc-1] into the values of the table. Returns 0, or -1 with a message in error;
 * the values are then partly overwritten. An argument given twice: the last one counts.
 */
int args_parse(const struct args_table *table, int argc, char **argv, char *error,
               size_t error_size);

/* Prints every argument, its default, its range and its meaning. Call before parsing: defaults are
 * the values. */
void args_help(const struct args_table *table);

/* Is the only argument "help" or "--help"? */
bool args_asks_for_help(int argc, char **argv);

/* For main: help when asked for (exit 0), a message and exit 2 when args_parse
 * fails. */
void args_parse_or_exit(const struct args_table *table, int argc, char **argv);

/* For combinations that no single range can express: prints "program: message" and exits with 2. */
_Noreturn void args_refuse(const struct args_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
