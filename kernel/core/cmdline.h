/*
 * Boot arguments: key=value ... -- [key=value ...] app args ; app2 args
 *
 * Every argument is an entry of a table: name, type, range, default, help. An unknown or malformed
 * argument stops the boot with a line that names it and says what is accepted; `help` prints the
 * tables. Arguments in front of an application's name are set for that application's run and
 * restored after it; enum arg_scope says which may stand there. Applications separated by ';' run
 * one after the other, by '&' at the same time. kernel/lib/words.h describes quoting. "@/PATH"
 * stands for an application and its words in that file (kernel/proc/words_file.h).
 */
#pragma once
#include "kernel/lib/base.h"

enum arg_type {
    ARG_U64,
    ARG_BOOL,
    ARG_CHOICE,
    ARG_TABLE,
    ARG_SET,
    ARG_BYTES,
    ARG_DATE,
    ARG_ADDRESS,
    ARG_HOSTS,
    ARG_TEXT
};
enum arg_scope {
    ARG_BOOT, /* set once, for the whole run */
    /* May be set for an application. Holds for all applications that run at the same time, until
     * they end. */
    ARG_GROUP,
    /* As ARG_GROUP, and read anew at each use: a new value takes effect at once (SYS_KNOB_SET). */
    ARG_LIVE,
    /* May be set for an application. Read when a process begins, for it and the processes that it
     * starts. */
    ARG_PROCESS,
};

#define ARG_DATE_AUTO UINT64_MAX

struct arg {
    const char *name;
    enum arg_type type;
    /* ARG_CHOICE, ARG_TABLE: index of the choice; ARG_SET: a bit for each choice; ARG_BYTES: a
     * number that may end in K, M or G; ARG_DATE: seconds since 1970, or ARG_DATE_AUTO;
     * ARG_ADDRESS, ARG_HOSTS: as kernel/lib/ipv4.h has it, 0: the word in `choices`; ARG_TEXT: the
     * address of the text, which is the command line's, 0: none; set at boot only. */
    uint64_t *value;
    /* Range of numbers; the default is the initial *value. ARG_ADDRESS: min 1: with a prefix. */
    uint64_t min, max;
    /* NULL-terminated: names; ARG_TABLE: pointers to structures that begin with their name;
     * ARG_ADDRESS, ARG_HOSTS: a word that stands for none; ARG_TEXT: what is accepted, which its
     * owner checks. */
    const void *choices;
    enum arg_scope scope;
    const char *help; /* names the unit */
};

#define CMD_MAX      16
#define CMD_ARGS_MAX 64
struct command {
    const char *assign[CMD_ARGS_MAX]; /* key=value in front of the name */
    unsigned assign_count;
    const char *argv[CMD_ARGS_MAX + 1]; /* argv[0]: the application; ended by NULL */
    unsigned argc;
    bool background; /* ended by '&': the next one starts at once */
};
struct cmdline {
    struct command commands[CMD_MAX];
    unsigned count;
    bool help;
};

/* Splits `text` in place, checks the boot arguments and sets their values. Returns 0, or -EINVAL
 * with a message in `err` that names the argument and says what is accepted; then no value has been
 * set. */
int cmdline_parse(char *text, const struct arg *const *tables, struct cmdline *out, char *err,
                  size_t err_size);
/* Returns the entry for the key of `assign`, or NULL. For saving and restoring its value. */
const struct arg *cmdline_find(const char *assign, const struct arg *const *tables);
/* Formats a value as it may be written behind '='. Returns `buf`. */
const char *cmdline_value(const struct arg *arg, uint64_t value, char *buf, size_t size);
/* Describes what the argument accepts: "one of a b c", "a number from 1 to 9", ... Returns
 * `buf`. */
const char *cmdline_accepts(const struct arg *arg, char *buf, size_t size);
/* Checks and sets one key=value. `run_only`: refuses arguments of scope ARG_BOOT. */
int cmdline_set(const char *assign, const struct arg *const *tables, bool run_only, char *err,
                size_t err_size);
