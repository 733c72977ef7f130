/* Where mapped contents come from: disks, and memory of the kernel that never changes. */
#include "kernel/dev/block/block.h"
#include "mm/space.h"

static int read_disk(const struct page_source *s, uint64_t page, unsigned n, paddr_t *frames)
{
    return block_transfer((struct block_device *)s->of, page, n, false, frames);
}

static struct block_device *same_disk(const struct page_source *s, uint64_t page, unsigned *n)
{
    struct block_device *d = (struct block_device *)s->of;

    *n = page < d->pages ? (unsigned)MIN((uint64_t)*n, d->pages - page) : 0;
    return d;
}

static int read_memory(const struct page_source *s, uint64_t page, unsigned n, paddr_t *frames)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t at = (page + i) << PAGE_SHIFT, left = at < s->bytes ? s->bytes - at : 0;
        uint8_t *frame = phys_to_virt(frames[i]);
        size_t part = (size_t)MIN(left, PAGE_SIZE);
        memcpy(frame, (const uint8_t *)s->of + at, part);
        memset(frame + part, 0, PAGE_SIZE - part);
    }
    return 0;
}

static const struct page_source_ops disk_ops = {.slow = true,
                                                .read_pages = read_disk,
                                                .disk = same_disk},
                                    memory_ops = {.read_pages = read_memory};

struct page_source page_source_memory(const void *data, uint64_t bytes)
{
    return (struct page_source){.ops = &memory_ops, .of = data, .bytes = bytes};
}

struct page_source page_source_disk(struct block_device *d)
{
    return (struct page_source){.ops = &disk_ops, .of = d, .bytes = d->pages * PAGE_SIZE};
}
