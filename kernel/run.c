/*
 * Commands joined by '&' form a group: they run side by side. The next group starts when all of
 * them have ended, all processes that they started have ended, too, and their memory is free again.
 * Assignments in front of a command are set before the first command of the group starts and hold
 * for the whole group; then the old values return. Arguments that a process reads when it begins
 * (ARG_PROCESS) are set at that moment only, and so are its own alone.
 */
#include "kernel/run.h"
#include "hpm/hpm.h"
#include "kernel/args.h"
#include "kernel/arch/arch.h"
#include "kernel/core/console.h"
#include "kernel/core/printf.h"
#include "kernel/boot/boot_info.h"
#include "kernel/proc/process.h"
#include "kernel/proc/words_file.h"
#include "kernel/lib/words.h"

#define STATUS_NOT_STARTED 127

struct saved {
    const struct arg *arg;
    uint64_t value;
};

struct group {
    const char *const *words[CMD_MAX]; /* of its program; NULL: refused */
    struct process *process[CMD_MAX];  /* NULL: not started */
    struct saved saved[CMD_MAX * CMD_ARGS_MAX];
    unsigned saved_count;
};

static struct group group; /* too large for a stack; only the init thread runs groups */

/* Applies the command's assignments of one scope, until restore_values(). They were checked with
 * the rest of the command line. */
static void assign_scope(const struct command *c, enum arg_scope scope)
{
    char err[128];

    for (unsigned i = 0; i < c->assign_count; i++) {
        const struct arg *a = cmdline_find(c->assign[i], arg_tables);
        if (a->scope != scope && !(scope == ARG_GROUP && a->scope == ARG_LIVE))
            continue;
        group.saved[group.saved_count++] = (struct saved){a, *a->value};
        if (cmdline_set(c->assign[i], arg_tables, true, err, sizeof(err)))
            panic("run: %s", err);
    }
}

/* Restores the old values of all assignments but the first `keep`, in reverse order: an argument
 * that was set twice gets its first value back. */
static void restore_values(unsigned keep)
{
    while (group.saved_count > keep) {
        const struct saved *s = &group.saved[--group.saved_count];
        *s->arg->value = s->value;
    }
}

static void announce_command(const struct command *c)
{
    /* Used by the init thread only, as `group` is. */
    static char line[BOOT_CMDLINE_MAX + 256];
    struct text t = {line, sizeof(line)};

    for (unsigned i = 0; i < c->assign_count + c->argc; i++) {
        text_put(&t, " ");
        words_put(&t, i < c->assign_count ? c->assign[i] : c->argv[i - c->assign_count]);
    }
    kprintf("run:%s\n", line);
}

static struct process *start_command(const struct command *c, const char *const *words)
{
    struct process *p = NULL;
    unsigned saved = group.saved_count;

    assign_scope(c, ARG_PROCESS);
    announce_command(c);
    if (!words || process_start(words, &p))
        p = NULL; /* a line has said why */
    restore_values(saved);
    return p;
}

static unsigned finish_command(const char *name, struct process *p, uint64_t since_ns)
{
    unsigned status = p ? (unsigned)process_wait(p) : STATUS_NOT_STARTED;
    uint64_t took_ns = arch_clock_ns() - since_ns;

    if (p)
        process_finish(p);
    kprintf("exit: app=%s status=%u ms=%llu\n", name, status,
            (unsigned long long)(took_ns / NS_PER_MS));
    return status;
}

static unsigned run_group(const struct command *c, unsigned n)
{
    uint64_t since_ns = arch_clock_ns();
    unsigned first = 0;

    for (unsigned i = 0; i < n; i++)
        assign_scope(&c[i], ARG_GROUP);
    if (console_split)
        hpm_mark("run");
    for (unsigned i = 0; i < n; i++) {
        group.words[i] = words_file_take(c[i].argv);
        group.process[i] = start_command(&c[i], group.words[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        const char *name = (group.words[i] ? group.words[i] : c[i].argv)[0];
        unsigned status = finish_command(name, group.process[i], since_ns);
        words_file_free(group.words[i], c[i].argv);
        first = first ? first : status;
    }
    if (console_split)
        hpm_mark("ran");
    restore_values(0);
    return first;
}

unsigned run_commands(const struct cmdline *line)
{
    unsigned first = 0;

    for (unsigned i = 0, n; i < line->count; i += n) {
        for (n = 1; i + n < line->count && line->commands[i + n - 1].background; n++)
            ;
        unsigned status = run_group(&line->commands[i], n);
        first = first ? first : status;
    }
    return first;
}
