/* See messages.h. One lock guards all queues. Threads that wait look again after each change of
 * their queue. */
#include "kernel/proc/messages.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include <linux/ipc.h>

struct queue {
    struct ipc ipc;
    struct list messages;
    uint64_t count, bytes, room;
    uint32_t sent_by, received_by;
    int64_t sent, received;
    struct wait_queue changed;
};

static struct spinlock lock = SPINLOCK(LOCK_FILE, "message queues");
static struct queue queues[IPC_ENTRIES];
static struct ipc_table table = {queues, sizeof(*queues), 0};

static struct queue *queue_of(uint64_t id)
{
    return (struct queue *)ipc_of(&table, id);
}

static struct message *message_of(struct list *it)
{
    return container_of(it, struct message, in_queue);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static int64_t make_queue(uint32_t key, uint32_t flags)
{
    struct queue *q = (struct queue *)ipc_enter(&table, key, flags);

    if (!q)
        return -ENOSPC;
    q->count = q->bytes = 0;
    q->room = MESSAGE_ROOM;
    q->sent_by = q->received_by = 0;
    q->sent = q->received = 0;
    if (!q->messages.next) { /* else threads may still leave it */
        list_init(&q->messages);
        wait_init(&q->changed);
    }
    return q->ipc.id;
}

int64_t messages_get(uint32_t key, uint32_t flags)
{
    struct ipc *found;
    bool irq = spin_lock(&lock);
    int64_t result = ipc_find(&table, key, flags, &found);

    result = result == 1 ? make_queue(key, flags) : result ? result : found->id;
    spin_unlock(&lock, irq);
    return result;
}

int messages_remove(uint64_t id)
{
    struct list gone;
    bool irq = spin_lock(&lock);
    struct queue *q = queue_of(id);

    list_init(&gone);
    if (q) {
        while (!list_empty(&q->messages))
            list_push_back(&gone, list_pop_front(&q->messages));
        q->ipc.used = false;
        wait_wake(&q->changed, ~0u);
    }
    spin_unlock(&lock, irq);
    while (!list_empty(&gone))
        kfree(message_of(list_pop_front(&gone)));
    return q ? 0 : -EINVAL;
}

/* Waits for a change of the queue. Returns 0 or an error. Lock held. */
static int wait_for_change(struct queue *q, uint64_t id, bool *irq)
{
    int err = wait_sleep_interruptible(&q->changed, &lock, irq, UINT64_MAX);

    return queue_of(id) != q ? -EIDRM : err ? -EINTR : 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool has_room(const struct queue *q, const struct message *m)
{
    return q->bytes + m->bytes <= q->room && q->count + 1 <= q->room;
}

int messages_send(uint32_t pid, uint64_t id, struct message *m, bool now)
{
    bool irq = spin_lock(&lock);
    struct queue *q = queue_of(id);
    int err = q ? 0 : -EINVAL;

    while (!err && !has_room(q, m))
        err = now ? -EAGAIN : wait_for_change(q, id, &irq);
    if (!err) {
        list_push_back(&q->messages, &m->in_queue);
        q->count++;
        q->bytes += m->bytes;
        q->sent_by = pid;
        q->sent = ipc_now();
        wait_wake(&q->changed, ~0u);
    }
    spin_unlock(&lock, irq);
    return err;
}

/* Returns the message that the wish is for, or NULL. Lock held. */
static struct message *find_message(const struct queue *q, const struct message_wish *wish)
{
    struct message *best = NULL;
    int64_t place = 0;

    list_for_each (it, &q->messages) {
        struct message *m = message_of(it);
        if (wish->copy ? place++ == wish->type
                       : !wish->type || (wish->type > 0 && (m->type == wish->type) != wish->except))
            return m;
        if (!wish->copy && wish->type < 0 && m->type <= -wish->type &&
            (!best || m->type < best->type))
            best = m;
    }
    return best;
}

/* Takes a message out. Lock held. */
static void take(struct queue *q, struct message *m, uint32_t pid)
{
    list_remove(&m->in_queue);
    q->count--;
    q->bytes -= m->bytes;
    q->received_by = pid;
    q->received = ipc_now();
    wait_wake(&q->changed, ~0u);
}

/* Copies a message to *out, which has room for MESSAGE_MAX bytes. */
static void copy_message(struct message *to, const struct message *m)
{
    to->type = m->type;
    to->bytes = m->bytes;
    memcpy(to->data, m->data, m->bytes);
}

int messages_receive(uint32_t pid, uint64_t id, const struct message_wish *wish,
                     struct message **out)
{
    struct message *copy = wish->copy ? kmalloc(sizeof(*copy) + MESSAGE_MAX) : NULL, *m = NULL;

    if (wish->copy && !copy)
        return -ENOMEM;
    bool irq = spin_lock(&lock);
    struct queue *q = queue_of(id);
    int err = q ? 0 : -EINVAL;
    while (!err && !(m = find_message(q, wish)))
        err = wish->now ? -ENOMSG : wait_for_change(q, id, &irq);
    if (!err && m->bytes > wish->room && !wish->cuts)
        err = -E2BIG;
    if (!err && copy)
        copy_message(copy, m);
    else if (!err)
        take(q, m, pid);
    spin_unlock(&lock, irq);
    if (err)
        kfree(copy);
    else
        *out = copy ? copy : m;
    return err;
}

/* ---- What msgctl does ------------------------------------------------------------------------ */

int64_t messages_state(uint64_t id, bool place, struct queue_state *out)
{
    bool irq = spin_lock(&lock);
    const struct queue *q =
        place ? id < IPC_ENTRIES && queues[id].ipc.used ? &queues[id] : NULL : queue_of(id);

    if (q)
        *out = (struct queue_state){.ipc = q->ipc,
                                    .messages = q->count,
                                    .bytes = q->bytes,
                                    .room = q->room,
                                    .sent_by = q->sent_by,
                                    .received_by = q->received_by,
                                    .sent = q->sent,
                                    .received = q->received};
    spin_unlock(&lock, irq);
    return q ? out->ipc.id : -EINVAL;
}

int messages_set(uint64_t id, uint32_t uid, uint32_t gid, uint32_t mode, uint64_t room)
{
    bool irq = spin_lock(&lock);
    struct queue *q = queue_of(id);

    if (q) {
        q->ipc.uid = uid;
        q->ipc.gid = gid;
        q->ipc.mode = mode & 0777;
        q->ipc.changed = ipc_now();
        q->room = room;
        wait_wake(&q->changed, ~0u);
    }
    spin_unlock(&lock, irq);
    return q ? 0 : -EINVAL;
}

int messages_count(unsigned *used, uint64_t *messages, uint64_t *bytes)
{
    bool irq = spin_lock(&lock);
    int last = ipc_count(&table, used);

    *messages = *bytes = 0;
    for (unsigned i = 0; i < IPC_ENTRIES; i++) {
        *messages += queues[i].ipc.used ? queues[i].count : 0;
        *bytes += queues[i].ipc.used ? queues[i].bytes : 0;
    }
    spin_unlock(&lock, irq);
    return last;
}
