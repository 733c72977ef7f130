/* System calls of Linux: capget(2), capset(2). A process has all capabilities until it gives some
 * up, which it cannot take back, nor can its children. No call asks for them: there is one user. */
#include "kernel/proc/syscall/syscall.h"
#include <linux/capability.h>

enum { SETS = 3, WORDS_MAX = _LINUX_CAPABILITY_U32S_3 };

struct head {
    uint32_t version;
    int32_t pid;
};

/* Returns how many words a set has in this version, or 0: the kernel's own version is told. */
static unsigned words_of(uint32_t version)
{
    switch (version) {
    case _LINUX_CAPABILITY_VERSION_1:
        return _LINUX_CAPABILITY_U32S_1;
    case _LINUX_CAPABILITY_VERSION_2:
    case _LINUX_CAPABILITY_VERSION_3:
        return WORDS_MAX;
    default:
        return 0;
    }
}

static int take_head(const struct call *c, struct head *h, unsigned *words)
{
    const uint32_t version = _LINUX_CAPABILITY_VERSION_3;

    if (arch_copy_from_user(h, c->a[0], sizeof(*h)))
        return -EFAULT;
    *words = words_of(h->version);
    if (*words)
        return 0;
    if (arch_copy_to_user(c->a[0], &version, sizeof(version)))
        return -EFAULT;
    return c->a[1] ? -EINVAL : 0;
}

int64_t sys_capget(const struct call *c)
{
    struct __user_cap_data_struct data[WORDS_MAX];
    struct head h;
    unsigned words;
    int err = take_head(c, &h, &words);

    if (err || !words)
        return err;
    if (h.pid < 0)
        return -EINVAL;
    struct process *p = process_to_read(c->p, h.pid == (int32_t)c->p->pid ? 0 : (uint32_t)h.pid);
    if (!p)
        return -ESRCH;
    struct capabilities has = p->capabilities;
    process_put(p);
    uint64_t effective = CAPABILITIES_ALL & ~has.not_effective;
    uint64_t permitted = CAPABILITIES_ALL & ~has.not_permitted;
    for (unsigned i = 0; i < words; i++)
        data[i] = (struct __user_cap_data_struct){(uint32_t)(effective >> 32 * i),
                                                  (uint32_t)(permitted >> 32 * i),
                                                  (uint32_t)(has.inheritable >> 32 * i)};
    if (!c->a[1])
        return 0;
    return arch_copy_to_user(c->a[1], data, words * sizeof(data[0])) ? -EFAULT : 0;
}

int64_t sys_capset(const struct call *c)
{
    struct __user_cap_data_struct data[WORDS_MAX] = {0};
    struct head h;
    unsigned words;
    int err = take_head(c, &h, &words);

    if (err || !words)
        return err ?: -EINVAL;
    if (h.pid && h.pid != (int32_t)c->t->tid)
        return -EPERM;
    if (arch_copy_from_user(data, c->a[1], words * sizeof(data[0])))
        return -EFAULT;
    uint64_t effective = 0, permitted = 0, inheritable = 0;
    for (unsigned i = 0; i < words; i++) {
        effective |= (uint64_t)data[i].effective << 32 * i;
        permitted |= (uint64_t)data[i].permitted << 32 * i;
        inheritable |= (uint64_t)data[i].inheritable << 32 * i;
    }
    struct capabilities has = c->p->capabilities;
    struct capabilities new = {CAPABILITIES_ALL & ~effective, CAPABILITIES_ALL & ~permitted,
                               CAPABILITIES_ALL & inheritable};
    if (has.not_permitted & ~new.not_permitted || new.not_permitted & ~new.not_effective ||
        new.inheritable & has.not_permitted & ~has.inheritable)
        return -EPERM;
    c->p->capabilities = new;
    return 0;
}
