/*
 * Types of POSIX threads, in place of newlib's. newlib numbers its objects; these are the objects
 * themselves, a few 32-bit words that futex calls wait on, and need no table.
 */
#ifndef _SYS__PTHREADTYPES_H_
#define _SYS__PTHREADTYPES_H_

#include <sys/sched.h>
#include <stdint.h>

typedef struct pthread *pthread_t;
typedef uint32_t pthread_key_t;

typedef struct {
    uint32_t state; /* mutex.c */
    uint16_t type, depth;
    uint32_t owner; /* thread id; only in recursive and error-checking mutexes */
    uint32_t turn;  /* thread id that the mutex is to be handed to, or 0 */
} pthread_mutex_t;

typedef struct {
    uint32_t sequence; /* counts signals */
    uint32_t waiters;
    uint32_t clock;
} pthread_cond_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t readers;
    uint32_t writers_waiting;
    uint32_t writing;
} pthread_rwlock_t;

typedef struct {
    uint32_t needed, arrived, round;
    uint32_t inside; /* threads that may still read it */
} pthread_barrier_t;

typedef struct {
    uint32_t state; /* 0: not run; 1: running; 2: done */
} pthread_once_t;

typedef struct {
    uint32_t lock;
} pthread_spinlock_t;

typedef struct {
    uint32_t type;
} pthread_mutexattr_t;
typedef struct {
    uint32_t clock;
} pthread_condattr_t;
typedef struct {
    uint32_t unused;
} pthread_rwlockattr_t;
typedef struct {
    uint32_t unused;
} pthread_barrierattr_t;

#define CPU_SETSIZE 64
typedef struct {
    uint64_t bits;
} cpu_set_t;

typedef struct {
    uint64_t stack_size, guard_size;
    uint32_t detached;
    uint32_t affinity_set;
    cpu_set_t affinity;
} pthread_attr_t;

#endif
