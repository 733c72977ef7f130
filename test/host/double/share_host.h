/*
 * A host that shares a folder, for kernel/fs/p9*.c. It does what it is asked for at once; its reply
 * waits until a thread does, and then comes before or after others. It knows fids, and stops the
 * test at a request with a number that it does not know, or that is in use already.
 */
#pragma once
#include "kernel/fs/p9.h"

/* Of 1000 cases, the number in which the following happens. */
extern unsigned host_refuses; /* an error is answered */
extern unsigned host_kills;   /* the thread that waits is told that its process ends */

/* Bytes that are answered in place of a reply; NULL: none. */
extern const uint8_t *host_bytes;
extern size_t host_bytes_left;
extern unsigned host_fids;  /* that the host knows now */
extern unsigned host_lines; /* printed */

/* Forgets all, for the next run of a seed. */
void host_restart(uint64_t seed);
/* Answers all that waits, also for no thread. */
void host_finish(void);
/* Frees what mounts have of frames. */
void host_free_frames(void);
