/* Lists what can be counted on this machine, a line each. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "apps/tools/hpmstat/hpmstat.h"

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

static void print_counters(const struct sys_hpm_listed *l)
{
    const char *between = "counters ";

    for (unsigned c = 0; c < 32; c++)
        if (l->counters >> c & 1) {
            printf("%s%u", between, c);
            between = ",";
        }
    if (l->fixed)
        printf("%sone of its own", l->counters ? " or " : "");
}

static void print_listed(const struct sys_hpm_listed *l)
{
    printf("  %-40s ", l->text);
    if (l->kind == SYS_LISTED_METRIC) {
        printf("%s: %s\n", l->unit, l->about);
        return;
    }
    if (l->kind == SYS_LISTED_GENERIC)
        printf("%s: %s; ", l->about, l->means);
    print_counters(l);
    printf("\n");
}

int list_print(const char *word)
{
    static const char *const heading[] = {[SYS_LISTED_GENERIC] =
                                              "events that have one name everywhere",
                                          [SYS_LISTED_METRIC] = "metrics",
                                          [SYS_LISTED_VENDOR] = "events of this processor"};
    struct sys_hpm_listed l;
    uint32_t cursor = 0, kind = SYS_LISTED_VENDOR + 1, found = 0;
    int err;

    while (!(err = hpm_list(&cursor, &l))) {
        if (!has_word(l.text, word) && !has_word(l.about, word) && !has_word(l.means, word))
            continue;
        if (l.kind != kind)
            printf("hpmstat: %s\n", heading[l.kind]);
        kind = l.kind;
        print_listed(&l);
        found++;
    }
    if (err == -ENOENT && !found)
        printf("hpmstat: list=%s: no event or metric of this machine has that in its name or "
               "description\n",
               word);
    else if (err != -ENOENT)
        printf("hpmstat: list: %s\n",
               err == -ENODEV
                   ? "this machine has no performance counters that are known, or hpm.pmu=none"
                   : strerror(-err));
    return err == -ENOENT && found ? 0 : 1;
}
