/* The table of replacement policies. */
#include "mm/policy/replace/replace.h"

#define ENTRY(name) &replace_##name,
const struct replace_ops *const replace_policies[] = {REPLACE_POLICIES(ENTRY) NULL};

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct replace_ops *replace_find(const char *name)
{
    for (const struct replace_ops *const *p = replace_policies; *p; p++)
        if (same((*p)->name, name))
            return *p;
    return NULL;
}
