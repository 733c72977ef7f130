/* See machine_name.h. */
#include "kernel/proc/machine_name.h"
#include "kernel/core/lock.h"

static struct spinlock lock = SPINLOCK(LOCK_FILE, "names of the machine");
static char names[][MACHINE_NAME_BYTES] = {"vigil", "(none)"}; /* lock */

void machine_name_get(enum machine_name which, char *to)
{
    bool irq = spin_lock(&lock);

    memcpy(to, names[which], MACHINE_NAME_BYTES);
    spin_unlock(&lock, irq);
}

void machine_name_set(enum machine_name which, const char *from)
{
    bool irq = spin_lock(&lock);

    memcpy(names[which], from, MACHINE_NAME_BYTES);
    spin_unlock(&lock, irq);
}
