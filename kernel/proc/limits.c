/* See limits.h. */
#include "kernel/proc/limits.h"
#include "kernel/proc/internal.h"

#define UNLIMITED ((uint64_t)RLIM64_INFINITY)

/* As Debian's Linux has them for a user's first process; numbers of processes and of signals are
 * Vigil's own. */
static const struct rlimit64 defaults[RLIM_NLIMITS] = {
    [RLIMIT_CPU] = {UNLIMITED, UNLIMITED},
    [RLIMIT_FSIZE] = {UNLIMITED, UNLIMITED},
    [RLIMIT_DATA] = {UNLIMITED, UNLIMITED},
    [RLIMIT_STACK] = {8 * MIB, UNLIMITED},
    [RLIMIT_CORE] = {0, UNLIMITED},
    [RLIMIT_RSS] = {UNLIMITED, UNLIMITED},
    [RLIMIT_NPROC] = {4096, 4096},
    [RLIMIT_NOFILE] = {1024, LIMIT_FILES_MAX},
    [RLIMIT_MEMLOCK] = {8 * MIB, 8 * MIB},
    [RLIMIT_AS] = {UNLIMITED, UNLIMITED},
    [RLIMIT_LOCKS] = {UNLIMITED, UNLIMITED},
    [RLIMIT_SIGPENDING] = {4096, 4096},
    [RLIMIT_MSGQUEUE] = {819200, 819200},
    [RLIMIT_NICE] = {0, 0},
    [RLIMIT_RTPRIO] = {0, 0},
    [RLIMIT_RTTIME] = {UNLIMITED, UNLIMITED},
};

void limits_init(struct process *p, struct process *parent)
{
    if (parent) {
        bool irq = spin_lock(&parent->lock);
        memcpy(p->limits, parent->limits, sizeof(p->limits));
        spin_unlock(&parent->lock, irq);
    } else {
        memcpy(p->limits, defaults, sizeof(p->limits));
    }
    files_set_limit(p->files, p->limits[RLIMIT_NOFILE].rlim_cur);
}

uint64_t process_limit(struct process *p, unsigned resource)
{
    bool irq = spin_lock(&p->lock);
    uint64_t limit = p->limits[resource].rlim_cur;

    spin_unlock(&p->lock, irq);
    return limit;
}
