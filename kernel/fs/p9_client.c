/* See p9_client.h. */
#include "kernel/fs/p9_client.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/virtio/virtio_9p.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"

#define MESSAGE_ORDER 3
#define MESSAGE_MIN   8192 /* smaller ones are not worth the code */
#define VERSION       "9P2000.L"
_Static_assert(P9_MESSAGE == PAGE_SIZE << MESSAGE_ORDER, "messages are blocks of frames");
_Static_assert(P9_IO_MAX + P9_DATA_AT <= P9_MESSAGE, "data and header");

/* ---- Slots ----------------------------------------------------------------------------------- */

static struct p9_slot *find_slot_locked(struct p9_client *c)
{
    for (unsigned i = 0; i < P9_SLOTS; i++)
        if (c->slot[i].state == P9_FREE)
            return &c->slot[i];
    return NULL;
}

static uint16_t tag_of(const struct p9_client *c, const struct p9_slot *s)
{
    return s->type == P9_VERSION ? P9_NO_TAG : (uint16_t)(s - c->slot);
}

static int send_locked(struct p9_client *c, struct p9_slot *s, uint32_t bytes,
                       enum p9_slot_state state)
{
    int err = c->failed ? -EIO
                        : share_device_send(c->device, s->message_at, bytes, s->reply_at,
                                            c->message_max, s);

    s->state = err ? s->state : state;
    return err ? -EIO : 0;
}

static void put_unknown_locked(struct p9_client *c, struct p9_fid *f)
{
    f->known = false;
    list_push_back(&c->unknown, &f->link);
    c->fids--;
}

/* Gives fids back, as long as there are slots for it. */
static void give_back_locked(struct p9_client *c)
{
    struct p9_slot *s = NULL;
    struct p9_out o;

    while (!list_empty(&c->unused) && (c->failed || (s = find_slot_locked(c)))) {
        struct p9_fid *f = container_of(list_pop_front(&c->unused), struct p9_fid, link);
        if (c->failed) {
            put_unknown_locked(c, f);
            continue;
        }
        s->type = P9_CLUNK;
        s->unused = f;
        s->makes = NULL;
        p9_begin(&o, s->message, P9_MESSAGE, P9_CLUNK, tag_of(c, s));
        p9_put(&o, f->number, 4);
        if (send_locked(c, s, p9_complete(&o), P9_LEFT))
            put_unknown_locked(c, f);
    }
}

static void free_slot_locked(struct p9_client *c, struct p9_slot *s)
{
    s->state = P9_FREE;
    give_back_locked(c);
    if (find_slot_locked(c))
        wait_wake(&c->room, 1);
}

/* The last reference to a fid is gone. */
static void drop_locked(struct p9_client *c, struct p9_fid *f)
{
    if (f->known)
        list_push_back(&c->unused, &f->link);
    else
        put_unknown_locked(c, f);
}

/* Ends a request that no thread waits for. */
static void finish_left_locked(struct p9_client *c, struct p9_slot *s)
{
    struct p9_fid *made = s->makes;
    struct p9_in in;

    if (s->type == P9_CLUNK)
        put_unknown_locked(c, s->unused);
    if (made) {
        made->known = !s->err && !p9_reply(&in, s->reply, s->bytes, s->type, tag_of(c, s));
        if (!__atomic_sub_fetch(&made->refs, 1, __ATOMIC_ACQ_REL))
            drop_locked(c, made);
    }
    free_slot_locked(c, s);
}

static void finish_locked(struct p9_client *c, struct p9_slot *s, int err, uint32_t bytes)
{
    s->err = err;
    s->bytes = bytes;
    if (s->state == P9_SENT) {
        s->state = P9_ANSWERED;
        wait_wake(&s->done, 1);
    } else if (s->state == P9_LEFT) {
        finish_left_locked(c, s);
    }
}

/* Takes replies. Interrupts off. */
static void take_replies(void *arg)
{
    struct p9_client *c = arg;
    uint32_t bytes;
    void *slot;
    bool irq = spin_lock(&c->lock);
    int err = c->failed ? -EAGAIN : 0;

    while (!err && !(err = share_device_take(c->device, &slot, &bytes)))
        finish_locked(c, slot, 0, bytes);
    if (err == -EIO) { /* its lines say why; nothing is answered any more */
        c->failed = true;
        for (unsigned i = 0; i < P9_SLOTS; i++)
            finish_locked(c, &c->slot[i], -EIO, 0);
        wait_wake(&c->room, UINT32_MAX);
    }
    spin_unlock(&c->lock, irq);
}

/* ---- Requests -------------------------------------------------------------------------------- */

int p9_call_begin(struct p9_client *c, enum p9_type type, struct p9_call *call)
{
    struct p9_slot *s = NULL;
    int err = 0;

    may_wait("request to the host");
    bool irq = spin_lock(&c->lock);
    while (!c->failed && !err && !(s = find_slot_locked(c)))
        err = wait_sleep(&c->room, &c->lock, &irq, UINT64_MAX);
    if (c->failed)
        err = -EIO;
    if (!err) {
        s->state = P9_FILLED;
        s->type = type;
        s->makes = s->unused = NULL;
    }
    spin_unlock(&c->lock, irq);
    if (err)
        return err;
    *call = (struct p9_call){.client = c, .slot = s};
    p9_begin(&call->out, s->message, c->message_max, type, tag_of(c, s));
    return 0;
}

int p9_call_send(struct p9_call *call, struct p9_fid *makes)
{
    struct p9_client *c = call->client;
    struct p9_slot *s = call->slot;
    uint32_t bytes = p9_complete(&call->out);

    if (!bytes)
        return -ENAMETOOLONG;
    bool irq = spin_lock(&c->lock);
    s->makes = makes;
    int err = send_locked(c, s, bytes, P9_SENT);
    while (!err && s->state == P9_SENT)
        err = wait_sleep(&s->done, &c->lock, &irq, UINT64_MAX);
    if (s->state == P9_SENT) { /* the process ends */
        s->state = P9_LEFT;
        if (makes) /* the slot has this reference now */
            p9_fid_get(makes);
        call->slot = NULL;
    } else if (!err || s->state == P9_ANSWERED) {
        err = s->err;
        bytes = s->bytes;
    }
    spin_unlock(&c->lock, irq);
    if (!err)
        err = p9_reply(&call->in, s->reply, bytes, s->type, tag_of(c, s));
    if (!err && makes) /* only this thread has it */
        makes->known = true;
    return err;
}

int p9_call_end(struct p9_call *call, int err)
{
    struct p9_client *c = call->client;

    if (err == -EPROTO)
        kprintf("share: event=refused tag=%s reason=reply request=%u: the host's reply breaks the "
                "rules of 9P2000.L\n",
                c->tag, call->slot ? call->slot->type : 0);
    if (call->slot) {
        bool irq = spin_lock(&c->lock);
        free_slot_locked(c, call->slot);
        spin_unlock(&c->lock, irq);
    }
    return err == -EPROTO ? -EIO : err;
}

/* ---- Fids ------------------------------------------------------------------------------------ */

struct p9_fid *p9_fid_make(struct p9_client *c)
{
    struct p9_fid *f = NULL;
    bool irq = spin_lock(&c->lock);

    if (!list_empty(&c->unknown))
        f = container_of(list_pop_front(&c->unknown), struct p9_fid, link);
    c->fids += f != NULL;
    spin_unlock(&c->lock, irq);
    if (!f) {
        f = kmalloc(sizeof(*f));
        if (!f)
            return NULL;
        list_init(&f->link);
        irq = spin_lock(&c->lock);
        f->number = c->last_fid++;
        c->fids++;
        spin_unlock(&c->lock, irq);
    }
    f->refs = 1;
    return f;
}

void p9_fid_put(struct p9_client *c, struct p9_fid *f)
{
    if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
        return;
    bool irq = spin_lock(&c->lock);
    drop_locked(c, f);
    give_back_locked(c);
    spin_unlock(&c->lock, irq);
}

static bool is_giving_back_locked(const struct p9_client *c)
{
    bool is = !list_empty(&c->unused);

    for (unsigned i = 0; i < P9_SLOTS; i++)
        is |= c->slot[i].state == P9_LEFT;
    return is;
}

void p9_wait_given_back(struct p9_client *c)
{
    bool irq = spin_lock(&c->lock);

    while (!c->failed && is_giving_back_locked(c))
        wait_sleep_through(&c->room, &c->lock, &irq);
    spin_unlock(&c->lock, irq);
}

uint32_t p9_fids(struct p9_client *c)
{
    bool irq = spin_lock(&c->lock);
    uint32_t fids = c->fids;

    spin_unlock(&c->lock, irq);
    return fids;
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static int agree_on_version(struct p9_client *c)
{
    struct p9_call call;
    uint32_t most = 0;
    int err = p9_call_begin(c, P9_VERSION, &call);

    if (err)
        return err;
    p9_put(&call.out, P9_MESSAGE, 4);
    p9_put_text(&call.out, VERSION, sizeof(VERSION) - 1);
    err = p9_call_send(&call, NULL) ?: p9_get_version(&call.in, &most);
    if (!err && (most < MESSAGE_MIN || most > P9_MESSAGE))
        err = -EPROTO;
    err = p9_call_end(&call, err);
    if (!err)
        c->message_max = most;
    return err;
}

static int attach(struct p9_client *c, struct p9_fid *root, struct p9_qid *qid)
{
    struct p9_call call;
    int err = p9_call_begin(c, P9_ATTACH, &call);

    if (err)
        return err;
    p9_put(&call.out, root->number, 4);
    p9_put(&call.out, P9_NO_FID, 4);
    p9_put_text(&call.out, "root", 4);
    p9_put_text(&call.out, "", 0);
    p9_put(&call.out, 0, 4); /* user */
    err = p9_call_send(&call, root) ?: p9_get_qid(&call.in, qid);
    if (!err && !(qid->type & P9_QID_FOLDER))
        err = -EPROTO;
    return p9_call_end(&call, err);
}

static int make_slots(struct p9_client *c)
{
    for (unsigned i = 0; i < P9_SLOTS; i++) {
        struct p9_slot *s = &c->slot[i];
        wait_init(&s->done);
        if (frame_alloc(MESSAGE_ORDER, &s->message_at) || frame_alloc(MESSAGE_ORDER, &s->reply_at))
            return -ENOMEM; /* at boot: the run ends */
        s->message = phys_to_virt(s->message_at);
        s->reply = phys_to_virt(s->reply_at);
    }
    return 0;
}

int p9_connect(struct p9_client *c, const char *tag, struct p9_fid **root, struct p9_qid *qid)
{
    *c = (struct p9_client){.tag = tag, .message_max = P9_MESSAGE};
    spin_init(&c->lock, LOCK_SHARE, "folder of the host");
    wait_init(&c->room);
    list_init(&c->unused);
    list_init(&c->unknown);
    int err = make_slots(c)
                  ?: share_device_open(tag, this_cpu(), take_replies, c, &c->device)
                  ?: agree_on_version(c);
    if (err)
        return err;
    *root = p9_fid_make(c);
    return *root ? attach(c, *root, qid) : -ENOMEM;
}

static void free_fids(struct list *fids)
{
    struct list *l;

    while ((l = list_pop_front(fids)))
        kfree(container_of(l, struct p9_fid, link));
}

void p9_disconnect_for_test(struct p9_client *c)
{
    free_fids(&c->unknown);
    free_fids(&c->unused);
    for (unsigned i = 0; i < P9_SLOTS; i++)
        if (c->slot[i].state == P9_LEFT && c->slot[i].type == P9_CLUNK)
            kfree(c->slot[i].unused);
}
