/* See virtq.h. */
#include "virtq.h"

enum { DESCRIPTOR_NEXT = 1, DESCRIPTOR_WRITE = 2, DESCRIPTOR_INDIRECT = 4 }; /* 2.7.5 */
#define USED_NO_NOTIFY         1                                             /* 2.7.10 */
#define AVAILABLE_NO_INTERRUPT 1                                             /* 2.7.7 */

int virtq_init(struct virtq *q, void *memory, unsigned size)
{
    char *at = memory;

    if (!is_pow2(size) || size > VIRTQ_SIZE_MAX)
        return -EINVAL;
    memset(memory, 0, VIRTQ_BYTES);
    memset(q, 0, sizeof(*q));
    q->descriptors = memory;
    q->available = (struct virtq_available *)(at + VIRTQ_AVAILABLE);
    q->used = (struct virtq_used *)(at + VIRTQ_USED);
    q->size = q->free = (uint16_t)size;
    for (unsigned i = 0; i < size; i++)
        q->request[i].next = (uint16_t)(i + 1);
    return 0;
}

static int check_buffers(const struct virtq *q, const struct virtq_buffer *buffers, unsigned n,
                         unsigned descriptors)
{
    if (q->broken)
        return -EIO;
    if (!n || n > q->size)
        return -EINVAL;
    for (unsigned i = 0; i < n; i++)
        if (!buffers[i].bytes || (i && buffers[i - 1].device_writes && !buffers[i].device_writes))
            return -EINVAL;
    return descriptors > q->free ? -ENOSPC : 0;
}

static struct virtq_descriptor describe(const struct virtq_buffer *b, bool last, uint16_t next)
{
    return (struct virtq_descriptor){
        .address = b->at,
        .bytes = b->bytes,
        .flags =
            (uint16_t)((last ? 0 : DESCRIPTOR_NEXT) | (b->device_writes ? DESCRIPTOR_WRITE : 0)),
        .next = last ? 0 : next,
    };
}

/* Makes a request of `n` buffers available. Its descriptors are those from the first free one to
 * the one before `at`, which becomes the first free one; `descriptors` is their number. */
static void make_available(struct virtq *q, const struct virtq_buffer *buffers, unsigned n,
                           unsigned descriptors, uint16_t at, void *token)
{
    uint16_t head = q->first_free;
    uint32_t writable = 0;

    for (unsigned i = 0; i < n; i++)
        writable += buffers[i].device_writes ? buffers[i].bytes : 0;
    q->first_free = at;
    q->free = (uint16_t)(q->free - descriptors);
    q->in_flight++;
    q->request[head].token = token;
    q->request[head].writable = writable;
    q->request[head].descriptors = (uint16_t)descriptors;
    q->available->ring[q->index++ % q->size] = head;
    __atomic_store_n(&q->available->index, q->index, __ATOMIC_RELEASE);
}

int virtq_add(struct virtq *q, const struct virtq_buffer *buffers, unsigned n, void *token)
{
    int err = check_buffers(q, buffers, n, n);
    uint16_t at = q->first_free;

    if (err)
        return err;
    for (unsigned i = 0; i < n; i++) {
        uint16_t next = q->request[at].next;
        q->descriptors[at] = describe(&buffers[i], i + 1 == n, next);
        at = next;
    }
    make_available(q, buffers, n, n, at, token);
    return 0;
}

int virtq_add_indirect(struct virtq *q, struct virtq_descriptor *table, paddr_t table_at,
                       const struct virtq_buffer *buffers, unsigned n, void *token)
{
    int err = check_buffers(q, buffers, n, 1);
    uint16_t head = q->first_free;

    if (err)
        return err;
    for (unsigned i = 0; i < n; i++)
        table[i] = describe(&buffers[i], i + 1 == n, (uint16_t)(i + 1));
    q->descriptors[head] = (struct virtq_descriptor){
        .address = table_at, .bytes = (uint32_t)(n * sizeof(*table)), .flags = DESCRIPTOR_INDIRECT};
    make_available(q, buffers, n, 1, q->request[head].next, token);
    return 0;
}

bool virtq_must_notify(const struct virtq *q)
{
    /* the index is stored before the flag is loaded (2.7.21) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return !(__atomic_load_n(&q->used->flags, __ATOMIC_RELAXED) & USED_NO_NOTIFY);
}

static void give_back(struct virtq *q, uint16_t head)
{
    uint16_t last = head;

    for (unsigned i = 1; i < q->request[head].descriptors; i++)
        last = q->request[last].next;
    q->request[last].next = q->first_free;
    q->first_free = head;
    q->free = (uint16_t)(q->free + q->request[head].descriptors);
    q->request[head].descriptors = 0;
    q->in_flight--;
}

int virtq_take(struct virtq *q, void **token, uint32_t *written)
{
    uint16_t done = (uint16_t)(__atomic_load_n(&q->used->index, __ATOMIC_ACQUIRE) - q->seen);

    if (q->broken)
        return -EIO;
    if (!done)
        return -EAGAIN;
    const volatile struct virtq_used_element *element = &q->used->ring[q->seen % q->size];
    uint32_t id = element->id, bytes = element->bytes;
    if (done > q->in_flight || id >= q->size || !q->request[id].descriptors ||
        bytes > q->request[id].writable) {
        q->broken = true;
        return -EIO;
    }
    q->seen++;
    *token = q->request[id].token;
    *written = bytes;
    give_back(q, (uint16_t)id);
    return 0;
}

bool virtq_interrupts(struct virtq *q, bool wanted)
{
    __atomic_store_n(&q->available->flags, wanted ? 0 : AVAILABLE_NO_INTERRUPT, __ATOMIC_RELAXED);
    /* the flag is stored before the index is loaded (2.7.7.1) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(&q->used->index, __ATOMIC_RELAXED) !=
           __atomic_load_n(&q->seen, __ATOMIC_RELAXED);
}

void *virtq_abandon(struct virtq *q)
{
    q->broken = true;
    for (unsigned i = 0; i < q->size; i++)
        if (q->request[i].descriptors) {
            q->request[i].descriptors = 0;
            q->in_flight--;
            return q->request[i].token;
        }
    return NULL;
}
