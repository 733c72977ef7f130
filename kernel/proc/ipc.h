/*
 * What System V's semaphores and message queues have in common: they are entries of a table, known
 * by number and key to all processes (msgget(2), semget(2)). The table's owner guards it.
 */
#pragma once
#include "kernel/lib/base.h"

#define IPC_ENTRIES 1024 /* of a table */

struct ipc {
    bool used;
    int id; /* its place in the table, plus a multiple of IPC_ENTRIES */
    uint32_t key, mode, uid, gid, maker_uid, maker_gid;
    int64_t changed; /* seconds since 1970 */
};

struct ipc_table {
    void *entries;     /* IPC_ENTRIES structures that begin with a struct ipc */
    size_t entry_size; /* bytes of one */
    int generation;    /* of the entry made last */
};

/* Returns the entry at a place, used or not. */
struct ipc *ipc_at(const struct ipc_table *t, uint64_t place);
/* Returns the entry of a number, or NULL. */
struct ipc *ipc_of(const struct ipc_table *t, uint64_t id);
/* Finds the entry of a key as `flags` say. Returns 0; 1: one is to be made; -ENOENT; -EEXIST. */
int ipc_find(const struct ipc_table *t, uint32_t key, uint32_t flags, struct ipc **out);
/* Takes a free entry, whose other members are the caller's. Returns NULL: there is none. */
struct ipc *ipc_enter(struct ipc_table *t, uint32_t key, uint32_t flags);
/* Stores the number of entries in use. Returns the last one's place, or 0. */
int ipc_count(const struct ipc_table *t, unsigned *used);
int64_t ipc_now(void); /* seconds since 1970 */
