/*
 * Boot arguments: key=value ... -- [key=value ...] app args ; app2 args
 *
 * Every argument is an entry of one table: name, type, range, default, help. Unknown or malformed
 * ones stop the boot with a line that names the argument and what is accepted; `help` prints the
 * table. Arguments in front of an application's name are set for that application's run and
 * restored after it; not all may stand there (enum arg_scope). Applications separated by ';' run
 * one after the other, by '&' at the same time. Words are quoted as words.h says.
 */
#pragma once
#include "kernel/lib/base.h"

enum arg_type { ARG_U64, ARG_BOOL, ARG_CHOICE, ARG_TABLE, ARG_SET, ARG_BYTES };
enum arg_scope {
    ARG_BOOT, /* holds for all of the run */
    /* may be set per application, and holds as long as it and those beside it run, for all */
    ARG_GROUP,
    /* the same, and is read when a process begins: for it and those that it starts alone */
    ARG_PROCESS,
};

struct arg {
    const char *name;
    enum arg_type type;
    uint64_t *
        /* ARG_CHOICE, ARG_TABLE: which of the choices; ARG_SET: a bit of each; ARG_BYTES: takes K M
         * G */
        value;
    uint64_t min, max; /* of numbers; the default is what *value holds */
    /* NULL-terminated: names; of ARG_TABLE: pointers to structures that begin with their name */
    const void *choices;
    enum arg_scope scope;
    const char *help; /* with the unit */
};

#define CMD_MAX      16
#define CMD_ARGS_MAX 64
struct command {
    const char *assign[CMD_ARGS_MAX]; /* key=value before the name */
    unsigned assign_count;
    const char *argv[CMD_ARGS_MAX]; /* argv[0]: the application */
    unsigned argc;
    bool background; /* ended by '&': the next one starts at once */
};
struct cmdline {
    struct command commands[CMD_MAX];
    unsigned count;
    bool help;
};

/* Splits text in place, checks and applies the boot arguments. 0, or -EINVAL with a message in err
 * that names the argument and says what is accepted; then nothing has been applied. */
int cmdline_parse(char *text, const struct arg *const *tables, struct cmdline *out, char *err,
                  size_t err_size);
/* Entry whose name is what stands in front of the '=' in assign, or NULL: to keep its value and
 * restore it later. */
const struct arg *cmdline_find(const char *assign, const struct arg *const *tables);
/* Text of a value as it may be written behind '=', for tables of arguments and messages. Returns
 * buf. */
const char *cmdline_value(const struct arg *arg, uint64_t value, char *buf, size_t size);
/* What the argument accepts: "one of a b c", "a number from 1 to 9", ...  Returns buf. */
const char *cmdline_accepts(const struct arg *arg, char *buf, size_t size);
/* One key=value. run_only: refuse those that are ARG_BOOT. */
int cmdline_set(const char *assign, const struct arg *const *tables, bool run_only, char *err,
                size_t err_size);
