/* System V's semaphores: semget(2). Thread context, no lock held; no user memory is touched. */
#pragma once
#include "kernel/proc/ipc.h"
#include <linux/sem.h>

#define SEM_SET_MAX 32000 /* semaphores of a set */
#define SEM_OPS_MAX 500   /* operations of a call */
#define SEM_VALUE   32767 /* largest value */

struct process;

/* What semctl(2) tells of a set. */
struct sem_state {
    struct ipc ipc;
    uint64_t count;
    int64_t used; /* seconds since 1970: the last operation; 0: none */
};

/* Finds a set, or makes one of n semaphores. Returns its number or an error as semget(2). */
int64_t semaphores_get(uint32_t key, uint64_t n, uint32_t flags);
/* Does all operations at once, or waits until they can be, up to deadline_ns. Returns 0 or an error
 * as semtimedop(2). */
int semaphores_operate(struct process *p, uint64_t id, const struct sembuf *ops, unsigned n,
                       uint64_t deadline_ns);
/* Takes back what p's operations with SEM_UNDO have done, at its end. */
void semaphores_undo(struct process *p);

/* Parts of semctl(2). They return -EINVAL: there is no such set, or semaphore. */
int semaphores_remove(uint64_t id);
/* `place`: id is a place of the table. Returns the set's number. */
int64_t semaphores_state(uint64_t id, bool place, struct sem_state *out);
int semaphores_set_owner(uint64_t id, uint32_t uid, uint32_t gid, uint32_t mode);
/* Returns one of a semaphore's numbers: command GETVAL, GETPID, GETNCNT, GETZCNT. */
int64_t semaphores_number(uint64_t id, uint64_t semaphore, uint32_t command);
/* Sets `n` values from `first` on. Returns 0, -EINVAL, -ERANGE. */
int semaphores_set(struct process *p, uint64_t id, uint64_t first, const uint16_t *values,
                   uint64_t n);
/* Stores all values, of which there are n. */
int semaphores_values(uint64_t id, uint16_t *out, uint64_t n);
/* Stores how many sets and semaphores there are. Returns the last set's place. */
int semaphores_count(unsigned *sets, uint64_t *semaphores);
