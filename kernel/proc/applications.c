/* Names of the bundled applications; see process.h. */
#include "kernel/proc/bundle.h"
#include "kernel/proc/internal.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"

_Static_assert(PROCESS_APPLICATION_MAX == BUNDLE_NAME_MAX, "the bundle's names");

extern const char bundle_start[], bundle_end[];

bool process_is_program(const char *file)
{
    while (*file && *file != '/')
        file++;
    return !*file;
}

bool process_next_application(uint64_t *cursor, char name[PROCESS_APPLICATION_MAX + 1])
{
    struct bundle_file file;
    const char *why;

    while (bundle_next(bundle_start, bundle_end - bundle_start, cursor, &file, &why) == 0)
        if (process_is_program(file.name)) {
            memcpy(name, file.name, sizeof(file.name));
            return true;
        }
    return false;
}

void process_list_applications(void)
{
    char name[PROCESS_APPLICATION_MAX + 1];
    uint64_t cursor = 0;

    kprintf("applications:");
    while (process_next_application(&cursor, name))
        kprintf(" %s", name);
    kprintf("\n");
}

/* Finds the application with the nearest name. Returns false if none is near. */
static bool find_nearest(const char *name, char nearest[PROCESS_APPLICATION_MAX + 1])
{
    struct nearest near = {.text = name, .n = text_length(name)};
    char other[PROCESS_APPLICATION_MAX + 1];
    uint64_t cursor = 0;

    while (process_next_application(&cursor, other)) {
        nearest_consider(&near, other);
        if (near.best == other) /* the next one overwrites it */
            near.best = memcpy(nearest, other, sizeof(other));
    }
    return near.best;
}

void process_say_unknown(const char *name)
{
    char nearest[PROCESS_APPLICATION_MAX + 1];
    bool near = find_nearest(name, nearest);

    kprintf("process: event=refused app=%s reason=unknown%s%s: no such application; ", name,
            near ? " nearest=" : "", near ? nearest : "");
    process_list_applications();
}

bool process_has_application(const char *name)
{
    struct bundle_file file;
    const char *why;

    return process_is_program(name) &&
           !bundle_find(bundle_start, bundle_end - bundle_start, name, &file, &why);
}
