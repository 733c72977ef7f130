/* A session of counts, for the files that serve its calls. sessions_gate. */
#pragma once
#include "kernel/proc/session.h"
#include "hpm/log.h"

struct count_session {
    struct session base;
    struct hpm_session *hpm;
    struct hpm_log *log; /* NULL: none */
    uint64_t log_bytes;  /* of kernel memory that its owner is charged for */
    struct last *last;
    unsigned lasts;
};

/* Return the session of this number that `owner` has; at this position. NULL: there is none. */
struct count_session *count_session_find(const struct process *owner, uint32_t number);
struct count_session *count_session_find_at(const struct process *owner, uint32_t number,
                                            const struct session_position *at);
