/* Linux's system calls of System V's message queues (messages.h). */
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/messages.h"
#include "kernel/proc/syscall/syscall.h"
#include <asm/msgbuf.h>
#include <linux/ipc.h>
#include <linux/msg.h>

int64_t sys_msgget(const struct call *c)
{
    return messages_get((uint32_t)c->a[0], (uint32_t)c->a[1]);
}

int64_t sys_msgsnd(const struct call *c)
{
    uint64_t bytes = c->a[2];
    int64_t type;

    if (arch_copy_from_user(&type, c->a[1], sizeof(type)))
        return -EFAULT;
    if (type < 1 || bytes > MESSAGE_MAX || (int)c->a[0] < 0)
        return -EINVAL;
    struct message *m = kmalloc(sizeof(*m) + bytes);
    if (!m)
        return -ENOMEM;
    m->type = type;
    m->bytes = bytes;
    int err = arch_copy_from_user(m->data, c->a[1] + sizeof(type), bytes)
                  ? -EFAULT
                  : messages_send(c->p->pid, c->a[0], m, c->a[3] & IPC_NOWAIT);
    if (err)
        kfree(m);
    return err;
}

/* Stores a message as msgrcv(2) does. Returns the bytes of its text. */
static int64_t put_message(const struct call *c, const struct message *m)
{
    uint64_t bytes = MIN(m->bytes, c->a[2]);

    return arch_copy_to_user(c->a[1], &m->type, sizeof(m->type)) ||
                   arch_copy_to_user(c->a[1] + sizeof(m->type), m->data, bytes)
               ? -EFAULT
               : (int64_t)bytes;
}

int64_t sys_msgrcv(const struct call *c)
{
    uint32_t flags = (uint32_t)c->a[4];
    struct message_wish wish = {.type = (int64_t)c->a[3],
                                .room = c->a[2],
                                .except = flags & MSG_EXCEPT,
                                .copy = flags & MSG_COPY,
                                .cuts = flags & MSG_NOERROR,
                                .now = flags & IPC_NOWAIT};
    struct message *m;

    if ((int)c->a[0] < 0 || (int64_t)c->a[2] < 0 ||
        (wish.copy && (wish.except || !wish.now || wish.type < 0)))
        return -EINVAL;
    wish.type = !wish.copy && wish.type == INT64_MIN ? -INT64_MAX : wish.type;
    int err = messages_receive(c->p->pid, c->a[0], &wish, &m);
    if (err)
        return err;
    int64_t result = put_message(c, m);
    kfree(m);
    return result;
}

/* ---- msgctl ---------------------------------------------------------------------------------- */

static int64_t put_state(const struct call *c, bool place)
{
    struct queue_state s;
    int64_t id = messages_state((uint32_t)c->a[0], place, &s);

    if (id < 0)
        return id;
    struct msqid64_ds out = {.msg_perm = {.key = (__kernel_key_t)s.ipc.key,
                                          .uid = s.ipc.uid,
                                          .gid = s.ipc.gid,
                                          .cuid = s.ipc.maker_uid,
                                          .cgid = s.ipc.maker_gid,
                                          .mode = (__kernel_mode_t)s.ipc.mode},
                             .msg_stime = s.sent,
                             .msg_rtime = s.received,
                             .msg_ctime = s.ipc.changed,
                             .msg_cbytes = s.bytes,
                             .msg_qnum = s.messages,
                             .msg_qbytes = s.room,
                             .msg_lspid = (__kernel_pid_t)s.sent_by,
                             .msg_lrpid = (__kernel_pid_t)s.received_by};
    return arch_copy_to_user(c->a[2], &out, sizeof(out)) ? -EFAULT : place ? id : 0;
}

static int64_t put_info(const struct call *c, uint32_t command)
{
    uint64_t messages, bytes;
    unsigned used;
    int last = messages_count(&used, &messages, &bytes);
    struct msginfo info = {.msgpool = IPC_ENTRIES * MESSAGE_ROOM / KIB,
                           .msgmap = MESSAGE_ROOM,
                           .msgmax = MESSAGE_MAX,
                           .msgmnb = MESSAGE_ROOM,
                           .msgmni = IPC_ENTRIES,
                           .msgssz = 16,
                           .msgtql = MESSAGE_ROOM,
                           .msgseg = UINT16_MAX};

    if (command == MSG_INFO) {
        info.msgpool = (int)used;
        info.msgmap = (int)messages;
        info.msgtql = (int)bytes;
    }
    return arch_copy_to_user(c->a[2], &info, sizeof(info)) ? -EFAULT : last;
}

static int64_t set_state(const struct call *c)
{
    struct msqid64_ds in;

    if (arch_copy_from_user(&in, c->a[2], sizeof(in)))
        return -EFAULT;
    return messages_set(c->a[0], in.msg_perm.uid, in.msg_perm.gid, in.msg_perm.mode, in.msg_qbytes);
}

int64_t sys_msgctl(const struct call *c)
{
    uint32_t command = (uint32_t)c->a[1] & ~(uint32_t)IPC_64;

    if ((int)c->a[0] < 0)
        return -EINVAL;
    switch (command) {
    case IPC_INFO:
    case MSG_INFO:
        return put_info(c, command);
    case IPC_STAT:
        return put_state(c, false);
    case MSG_STAT:
    case MSG_STAT_ANY:
        return put_state(c, true);
    case IPC_SET:
        return set_state(c);
    case IPC_RMID:
        return messages_remove(c->a[0]);
    default:
        return -EINVAL;
    }
}
