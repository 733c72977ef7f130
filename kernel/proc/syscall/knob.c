/* System calls that list the boot arguments and set those that can change while programs run. */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "sched/sched.h"

#define ASSIGN_MAX 256 /* name, '=' and value */

static const struct arg *const no_tables[] = {NULL};
static const struct arg *const *tables = no_tables;

void knobs_init(const struct arg *const *all)
{
    tables = all;
}

/* Returns argument number i of all tables, or NULL. */
static const struct arg *knob_at(uint32_t i)
{
    for (const struct arg *const *table = tables; *table; table++)
        for (const struct arg *a = *table; a->name; a++)
            if (!i--)
                return a;
    return NULL;
}

static uint32_t live_of(const struct arg *a)
{
    static const uint8_t live[] = {[ARG_BOOT] = SYS_KNOB_FIXED,
                                   [ARG_GROUP] = SYS_KNOB_NEXT,
                                   [ARG_LIVE] = SYS_KNOB_NOW,
                                   [ARG_PROCESS] = SYS_KNOB_NEXT};

    return live[a->scope];
}

int64_t vigil_knob_list(const struct call *c)
{
    struct sys_knob knob = {0};
    uint32_t cursor;

    if (arch_copy_from_user(&cursor, c->a[0], sizeof(cursor)))
        return -EFAULT;
    const struct arg *a = knob_at(cursor);
    if (!a)
        return -ENOENT;
    ksnprintf(knob.name, sizeof(knob.name), "%s", a->name);
    ksnprintf(knob.help, sizeof(knob.help), "%s", a->help);
    cmdline_value(a, __atomic_load_n(a->value, __ATOMIC_RELAXED), knob.value, sizeof(knob.value));
    cmdline_accepts(a, knob.accepts, sizeof(knob.accepts));
    knob.live = live_of(a);
    cursor++;
    int err = user_put_struct(c->a[1], c->a[2], &knob, sizeof(knob));
    return !err && arch_copy_to_user(c->a[0], &cursor, sizeof(cursor)) ? -EFAULT : err;
}

/* Sets an argument. Says on the console what it was before. */
static int set_knob(const struct process *p, const char *assign, char *why, size_t size)
{
    const struct arg *a = cmdline_find(assign, tables);
    char was[64];

    if (a && live_of(a) == SYS_KNOB_FIXED) {
        ksnprintf(why, size, "argument=%s reason=scope: it holds for the whole boot", a->name);
        return -EINVAL;
    }
    if (a)
        cmdline_value(a, __atomic_load_n(a->value, __ATOMIC_RELAXED), was, sizeof(was));
    int err = cmdline_set(assign, tables, true, why, size);
    if (!err)
        kprintf("knob: pid=%u app=%s was=%s now: %s\n", p->pid, p->name, was, assign);
    return err;
}

int64_t vigil_knob_set(const struct call *c)
{
    char assign[ASSIGN_MAX], why[ASSIGN_MAX] = "";
    int err = user_copy_string(assign, sizeof(assign), c->a[0]);

    if (err)
        return err;
    if (!visible_machine())
        return -EACCES;
    for (const char *at = assign; *at; at++)
        if (*at < ' ' || *at > '~')
            return -EINVAL;
    err = set_knob(c->p, assign, why, sizeof(why));
    if (err && c->a[2] &&
        user_put_struct(c->a[1], c->a[2], why, MIN(c->a[2], (uint64_t)sizeof(why))))
        return -EFAULT;
    return err;
}
