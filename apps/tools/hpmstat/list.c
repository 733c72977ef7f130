/* Lists what can be counted on this machine, a line each. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "apps/common/args.h"
#include "apps/tools/hpmstat/hpmstat.h"
#include "apps/tools/measuring/record.h"

/* Returns whether `word` is in the text, ignoring case. */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (; *text; text++) {
        size_t i = 0;
        while (i < n && text[i] &&
               tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n)
            return true;
    }
    return !n;
}

/* Writes "1,3", "0,2 or one of its own". */
static void describe_counters(const struct sys_hpm_listed *l, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (unsigned c = 0; c < 32; c++)
        if (l->counters >> c & 1)
            n += (size_t)snprintf(out + n, size - n, "%s%u", n ? "," : "", c);
    if (l->fixed)
        snprintf(out + n, size - n, "%sone of its own", n ? " or " : "");
}

static void print_heading(uint32_t kind)
{
    static const char *const heading[] = {
        [SYS_LISTED_GENERIC] = "kind=generic: events that have one name everywhere",
        [SYS_LISTED_METRIC] = "kind=metric: metrics",
        [SYS_LISTED_VENDOR] = "kind=own: events of this processor"};

    printf("hpmstat: %s\n  %-32s  %-28s  %-6s", heading[kind], "name",
           kind == SYS_LISTED_METRIC ? "unit" : "counters", "groups");
    if (kind != SYS_LISTED_VENDOR)
        printf("  %s%s", kind == SYS_LISTED_GENERIC ? "here                        " : "",
               "meaning");
    printf("\n");
}

/* Writes how many groups more there would be, beside what is counted now. */
static const char *describe_groups(const struct sys_hpm_listed *l, char out[16])
{
    if (l->groups == SYS_LISTED_NEVER)
        return "never";
    snprintf(out, 16, "+%" PRIu32, l->groups);
    return out;
}

static void print_listed(const struct sys_hpm_listed *l)
{
    char counters[128], groups[16];

    describe_counters(l, counters, sizeof counters);
    printf("  %-32s  %-28s  %-6s", l->text, l->kind == SYS_LISTED_METRIC ? l->unit : counters,
           describe_groups(l, groups));
    if (l->kind == SYS_LISTED_METRIC)
        printf("  %s", l->about);
    else if (l->kind == SYS_LISTED_GENERIC)
        printf("  %-26s  %s", l->means, l->about);
    printf("\n");
}

static void record_listed(enum record_format as, const struct sys_hpm_listed *l)
{
    static const char *const kinds[] = {[SYS_LISTED_GENERIC] = "generic",
                                        [SYS_LISTED_METRIC] = "metric",
                                        [SYS_LISTED_VENDOR] = "own"};
    char counters[128];

    describe_counters(l, counters, sizeof counters);
    record_begin(as, "hpmstat", "listed");
    record_text("name", l->text);
    record_text("kind", kinds[l->kind]);
    record_text("event", l->means);
    record_text("counters", counters);
    record_number("fixed", l->fixed);
    if (l->groups == SYS_LISTED_NEVER)
        record_none("groups");
    else
        record_number("groups", l->groups);
    record_text("unit", l->unit);
    record_text("about", l->about);
    record_end();
}

int list_print(const char *word, unsigned format)
{
    struct sys_hpm_listed l;
    uint32_t cursor = 0, kind = SYS_LISTED_VENDOR + 1, found = 0;
    int err;

    while (!(err = hpm_list(&cursor, &l))) {
        if (!has_word(l.text, word) && !has_word(l.about, word) && !has_word(l.means, word))
            continue;
        found++;
        if (format != FORMAT_TEXT) {
            record_listed(format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON, &l);
            continue;
        }
        if (l.kind != kind)
            print_heading(l.kind);
        kind = l.kind;
        print_listed(&l);
    }
    if (err == -ENOENT && !found)
        printf("hpmstat: argument=list reason=unknown: no event or metric of this machine has '%s' "
               "in its name or description\n",
               word);
    else if (err != -ENOENT)
        printf("hpmstat: argument=list reason=%s: %s\n", args_reason(err),
               err == -ENODEV
                   ? "this machine has no performance counters that are known, or hpm.pmu=none"
                   : strerror(-err));
    return err == -ENOENT && found ? 0 : 1;
}
