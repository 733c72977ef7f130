/* System calls of memory: contents of disks, and figures. */
#include "kernel/dev/block/block.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/figures.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"

static int user_prot(uint64_t bits, unsigned *prot)
{
    if (bits & ~(uint64_t)(SYS_PROT_READ | SYS_PROT_WRITE | SYS_PROT_EXEC))
        return -EINVAL;
    *prot = (bits & SYS_PROT_READ ? PROT_R : 0) | (bits & SYS_PROT_WRITE ? PROT_W : 0) |
            (bits & SYS_PROT_EXEC ? PROT_X : 0);
    return 0;
}

int64_t vigil_mmap_disk(const struct call *c)
{
    char name[BLOCK_NAME_MAX];
    uint64_t mapped;
    unsigned prot;
    vaddr_t va;
    int err = user_prot(c->a[3], &prot);

    if (!err)
        err = user_copy_string(name, sizeof(name), c->a[0]);
    struct block_device *d = err ? NULL : block_find(name);
    if (!err && !d)
        err = -ENOENT;
    if (!err && !IS_ALIGNED(c->a[1], PAGE_SIZE))
        err = -EINVAL;
    if (!err)
        err = space_map_disk(c->p->space, d, c->a[1] / PAGE_SIZE, c->a[2], prot, &va, &mapped);
    if (!err && c->a[4] &&
        (err = user_put_struct(c->a[4], sizeof(mapped), &mapped, sizeof(mapped))))
        space_unmap(c->p->space, va, mapped);
    return err ? err : (int64_t)va;
}

static int64_t memory_regions(struct process *reader, uint32_t pid, vaddr_t at, size_t room)
{
    struct sys_memory_region region;
    struct sys_memory exists;
    vaddr_t from = 0;
    int64_t n = 0;

    if (pid == SYS_MEMORY_FILES || process_memory_for(reader, pid, &exists))
        return -ESRCH;
    for (; process_next_region(pid, from, &region); n++, from = region.start + region.bytes) {
        if ((size_t)n < room &&
            arch_copy_to_user(at + (uint64_t)n * sizeof(region), &region, sizeof(region)))
            return -EFAULT;
        sched_point();
    }
    return n;
}

int64_t vigil_memory(const struct call *c)
{
    struct sys_memory memory;

    if (c->a[0] > UINT32_MAX)
        return -ESRCH;
    int err = process_memory_for(c->p, c->a[0] ? (uint32_t)c->a[0] : c->p->pid, &memory);
    return err ? err : user_put_struct(c->a[1], c->a[2], &memory, sizeof(memory));
}

int64_t vigil_regions(const struct call *c)
{
    if (c->a[0] > UINT32_MAX)
        return -ESRCH;
    return memory_regions(c->p, c->a[0] ? (uint32_t)c->a[0] : c->p->pid, c->a[1],
                          (size_t)(c->a[2] / sizeof(struct sys_memory_region)));
}

int64_t vigil_curve(const struct call *c)
{
    struct sys_curve curve;

    if (c->a[0] > UINT32_MAX)
        return -ESRCH;
    int err = process_curve_for(c->p, c->a[0] ? (uint32_t)c->a[0] : c->p->pid, &curve);
    return err ? err : user_put_struct(c->a[1], c->a[2], &curve, sizeof(curve));
}
