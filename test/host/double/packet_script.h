/*
 * Scripts of packets for one connection of lwIP, in virtual time: an array of lines, each a segment
 * that arrives, a segment that must be sent, an act of the program, what the program must hear, or
 * time. Sequence numbers are relative: `seq` of what arrives and `ack` of what is sent to the
 * peer's first number, the others to lwIP's.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum line_op {
    LINE_END,
    LINE_IN,
    LINE_OUT,
    LINE_QUIET,
    LINE_PASS,
    LINE_ACT,
    LINE_HEARS,
    LINE_STATE
};
enum act {
    LISTEN_1,
    CONNECT_NOW,
    WRITE_BYTES,
    READ_BYTES,
    CLOSE_NOW,
    SHUT_NOW,
    ABORT_NOW,
    KEEP_ALIVE,
    FLOOD,       /* SYNs arrive, each from a port of its own; answers are not looked at */
    FORGET_SENT, /* what was sent is not looked at */
    OTHER_ONE,   /* numbers are relative to those of the other one of two connections */
    BEGIN_AGAIN, /* numbers count from new ones: the peer's are that much later */
};
enum heard { NOTHING, ACCEPTS, CONNECTS, GETS, GETS_END, FAILS };

struct line {
    enum line_op op;
    const char *flags; /* of S, A, F, R; OUT does not look at P */
    int64_t seq, ack;
    unsigned bytes; /* of data; ms; argument of an act; bytes heard of, or number of an error */
    int window;     /* IN: as on the wire; OUT: the same, -1: any */
    int what;       /* an act, what is heard, a state */
    int at;         /* line of the source */
};

/* A segment arrives: flags, seq, ack, bytes, window. */
#define IN(f, s, a, n, w)                   \
    {                                       \
        LINE_IN, f, s, a, n, w, 0, __LINE__ \
    }
/* A segment must have been sent, and not yet been seen by the script. */
#define OUT(f, s, a, n)                       \
    {                                         \
        LINE_OUT, f, s, a, n, -1, 0, __LINE__ \
    }
#define OUT_WINDOW(f, s, a, w)               \
    {                                        \
        LINE_OUT, f, s, a, 0, w, 0, __LINE__ \
    }
#define QUIET                      \
    {                              \
        LINE_QUIET, .at = __LINE__ \
    } /* none must have */
#define PASS(ms)                               \
    {                                          \
        LINE_PASS, .bytes = ms, .at = __LINE__ \
    }
#define ACT(w, n)                                       \
    {                                                   \
        LINE_ACT, .what = w, .bytes = n, .at = __LINE__ \
    }
/* The program must have heard this, and not yet have said so. */
#define HEARS(w, n)                                       \
    {                                                     \
        LINE_HEARS, .what = w, .bytes = n, .at = __LINE__ \
    }
#define IS(s)                                 \
    {                                         \
        LINE_STATE, .what = s, .at = __LINE__ \
    } /* GONE: it is freed */
#define GONE (-1)

/* Runs a script. Returns NULL, or what went wrong. */
const char *packet_script(const struct line *lines, uint32_t peer_first);
