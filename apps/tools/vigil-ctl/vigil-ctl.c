/*
 * Prints and changes boot arguments while programs run.
 *
 *     vigil-ctl                        those that can change, with what they accept
 *     vigil-ctl sched.remote_pct       one
 *     vigil-ctl sched.remote_pct=7     changes it
 *
 * The exit status is 0; 1: a change was refused; 2: there is no such argument.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "apps/libc/state.h"

enum { DONE, REFUSED, UNKNOWN };

static const char *const since[] = {
    [SYS_KNOB_FIXED] = "boot", [SYS_KNOB_NOW] = "now", [SYS_KNOB_NEXT] = "next"};

static void show(const struct sys_knob *k)
{
    printf("%s=%s  %s: %s\n", k->name, k->value, since[k->live], k->accepts);
}

static int show_all(void)
{
    struct sys_knob k;

    for (uint32_t cursor = 0; !knob_list(&cursor, &k);)
        if (k.live != SYS_KNOB_FIXED)
            show(&k);
    return DONE;
}

/* Finds the argument that `word`, NAME or NAME=VALUE, names. Says so if there is none. */
static bool find(const char *word, struct sys_knob *out)
{
    size_t n = strcspn(word, "=");

    for (uint32_t cursor = 0; !knob_list(&cursor, out);)
        if (strlen(out->name) == n && !memcmp(out->name, word, n))
            return true;
    fprintf(stderr,
            "vigil-ctl: argument=%.*s reason=unknown: no boot argument has this name; vigil-ctl "
            "lists those that can change\n",
            (int)n, word);
    return false;
}

static int set(const struct sys_knob *k, const char *word)
{
    char why[256] = "";

    if (k->live == SYS_KNOB_FIXED) {
        fprintf(stderr,
                "vigil-ctl: argument=%s reason=scope value=%s: it holds for the whole boot\n",
                k->name, k->value);
        return REFUSED;
    }
    if (!knob_set(word, why, sizeof why))
        return DONE;
    if (*why)
        fprintf(stderr, "vigil-ctl: %s\n", why);
    else
        fprintf(stderr, "vigil-ctl: argument=%s reason=access: proc.visible=own is set\n", k->name);
    return REFUSED;
}

static int do_word(const char *word)
{
    struct sys_knob k;

    if (!find(word, &k))
        return UNKNOWN;
    if (strchr(word, '='))
        return set(&k, word);
    show(&k);
    return DONE;
}

int main(int argc, char **argv)
{
    int status = DONE;

    if (argc == 1)
        return show_all();
    for (int i = 1; i < argc; i++) {
        int one = do_word(argv[i]);
        status = one > status ? one : status;
    }
    return status;
}
