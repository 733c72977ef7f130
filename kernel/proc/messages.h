/* System V's message queues: msgget(2). Thread context, no lock held; no user memory is touched. */
#pragma once
#include "kernel/lib/list.h"
#include "kernel/proc/ipc.h"

#define MESSAGE_MAX  8192  /* bytes of a message */
#define MESSAGE_ROOM 16384 /* bytes that a queue holds at first */

struct message {
    struct list in_queue;
    int64_t type; /* 1 or more */
    uint64_t bytes;
    char data[];
};

/* What msgctl(2) tells of a queue. */
struct queue_state {
    struct ipc ipc;
    uint64_t messages, bytes, room;
    uint32_t sent_by, received_by; /* pids */
    int64_t sent, received;        /* seconds since 1970; 0: never */
};

/* What msgrcv(2) asks for. */
struct message_wish {
    int64_t type;
    uint64_t room;
    bool except, copy, cuts, now; /* MSG_EXCEPT, MSG_COPY, MSG_NOERROR, IPC_NOWAIT */
};

/* Finds a queue, or makes one. Returns its number or an error as msgget(2). */
int64_t messages_get(uint32_t key, uint32_t flags);
/* Puts a message of kmalloc()'s into a queue, which owns it then; `now`: does not wait. Returns 0
 * or an error as msgsnd(2). */
int messages_send(uint32_t pid, uint64_t id, struct message *m, bool now);
/* Takes a message, which is the caller's then. Returns 0 or an error as msgrcv(2). */
int messages_receive(uint32_t pid, uint64_t id, const struct message_wish *wish,
                     struct message **out);
/* Parts of msgctl(2). They return -EINVAL: there is no such queue. */
int messages_remove(uint64_t id);
/* `place`: id is a place of the table. Returns the queue's number. */
int64_t messages_state(uint64_t id, bool place, struct queue_state *out);
int messages_set(uint64_t id, uint32_t uid, uint32_t gid, uint32_t mode, uint64_t room);
/* Stores how many queues, messages and bytes there are. Returns the last queue's place. */
int messages_count(unsigned *queues, uint64_t *messages, uint64_t *bytes);
