/*
 * Waiting for several files, inside this folder: what poll.c and epoll.c share.
 *
 * poll_lock guards it all: the links of every source, and what epolls hold. A source that has no
 * link does not take it.
 */
#pragma once
#include "kernel/file/file.h"
#include "sched/sched.h"

#define POLL_LOOK_NS (10 * NS_PER_MS) /* between looks at files that nothing tells of */

struct epoll_item;

/* A thread in poll_wait(). */
struct poller {
    struct wait_queue queue;
    bool told; /* a source has changed */
};

extern struct spinlock poll_lock;

/* Links to what a vnode tells its changes, if it does. poll_lock held. */
void poll_link_locked(struct poll_link *l, struct vnode *v);
/* Returns whether one epoll of several that wait for the file is enough. poll_lock held. */
bool epoll_shares(const struct epoll_item *item);
/* Notes that a file may have become ready for `mask`. Appends its epoll to `told`, whose own
 * pollers are to be told. Returns whether a thread was woken. poll_lock held. */
bool epoll_notice_locked(struct epoll_item *item, unsigned mask, struct list *told);
/* Returns the source of the epoll that epoll_notice_locked() has appended. */
struct poll_source *epoll_source_of(struct list *told);
