/*
 * Messages of 9P2000.L, the protocol of folders that the host shares (Linux,
 * include/net/9p/9p.h): writes requests, and reads replies, of which every length, type and name is
 * checked. A reply that breaks the rules gives -EPROTO. Pure: the host fuzzes it.
 */
#pragma once
#include "kernel/lib/base.h"

#define P9_NO_FID     UINT32_MAX
#define P9_NO_TAG     0xffff           /* of the first message */
#define P9_HEADER     7                /* bytes: size, type, tag */
#define P9_DATA_AT    (P9_HEADER + 16) /* bytes in front of the data of a write, the most */
#define P9_NAME_MAX   255
#define P9_TARGET_MAX 4095

/* Types of requests; a reply's is one more. */
enum p9_type {
    P9_ERROR = 6, /* a reply only: 7 */
    P9_STATFS = 8,
    P9_OPEN = 12,
    P9_CREATE = 14,
    P9_SYMLINK = 16,
    P9_READLINK = 22,
    P9_GETATTR = 24,
    P9_SETATTR = 26,
    P9_READDIR = 40,
    P9_FSYNC = 50,
    P9_LINK = 70,
    P9_MKDIR = 72,
    P9_RENAMEAT = 74,
    P9_UNLINKAT = 76,
    P9_VERSION = 100,
    P9_ATTACH = 104,
    P9_WALK = 110,
    P9_READ = 116,
    P9_WRITE = 118,
    P9_CLUNK = 120,
};

/* ---- Requests -------------------------------------------------------------------------------- */

struct p9_out {
    uint8_t *start, *at, *end;
    bool full; /* something did not fit */
};
void p9_begin(struct p9_out *o, void *buffer, size_t room, enum p9_type type, uint16_t tag);
void p9_put(struct p9_out *o, uint64_t value, unsigned bytes); /* little-endian; 1, 2, 4 or 8 */
void p9_put_text(struct p9_out *o, const char *s, size_t n);
void p9_put_data(struct p9_out *o, const void *from, size_t n);
/* Completes the message. Returns its length; 0: it did not fit. */
uint32_t p9_complete(struct p9_out *o);

/* ---- Replies --------------------------------------------------------------------------------- */

struct p9_in {
    const uint8_t *at;
    size_t left;
    bool bad; /* something was missing; what is read then is 0 */
};
/* Begins to read a reply, of which the device wrote `bytes`. Returns 0; the error that the server
 * answers; or -EPROTO. */
int p9_reply(struct p9_in *in, const void *buffer, size_t bytes, enum p9_type request,
             uint16_t tag);
uint64_t p9_get(struct p9_in *in, unsigned bytes);
/* Returns where a text of *n bytes lies. */
const char *p9_get_text(struct p9_in *in, size_t *n);
/* Returns 0, or -EPROTO if something was missing or is left over. */
int p9_end(const struct p9_in *in);

enum { P9_QID_FOLDER = 0x80, P9_QID_LINK = 0x02 };
struct p9_qid {
    uint8_t type;
    uint32_t version;
    uint64_t path;
};
struct p9_time {
    uint64_t s, ns;
};
struct p9_attributes {
    struct p9_qid qid;
    uint32_t mode, uid, gid;
    uint64_t links, device, size, blocks;
    struct p9_time accessed, modified, changed;
};
struct p9_usage {
    uint32_t type, block_bytes, name_max;
    uint64_t blocks, free, available, files, files_free;
};
struct p9_entry {
    struct p9_qid qid;
    uint64_t cursor; /* behind it */
    uint32_t type;   /* bits of S_IFMT */
    const char *name;
    size_t n;
};
/* Each reads the whole reply. Return 0 or -EPROTO. */
int p9_get_version(struct p9_in *in, uint32_t *message_max);
int p9_get_qid(struct p9_in *in, struct p9_qid *out);
int p9_get_open(struct p9_in *in, struct p9_qid *out);
/* `names`: those asked for; `found`: of them; the last one's is in `out`. */
int p9_get_walk(struct p9_in *in, unsigned names, unsigned *found, struct p9_qid *out);
int p9_get_attributes(struct p9_in *in, struct p9_attributes *out);
int p9_get_usage(struct p9_in *in, struct p9_usage *out);
int p9_get_target(struct p9_in *in, const char **s, size_t *n); /* of a link: no NUL, not empty */
int p9_get_count(struct p9_in *in, uint32_t asked, uint32_t *out); /* bytes written */
/* Bytes read, at most `asked`: *data, or of a folder its entries. */
int p9_get_data(struct p9_in *in, uint32_t asked, const void **data, uint32_t *n);
/* Takes an entry off those that were read. Returns 0; -ENOENT: there are no more; -EPROTO. */
int p9_next_entry(struct p9_in *entries, struct p9_entry *out);
/* Returns whether it can be the name of an entry. */
bool p9_name_is_good(const char *name, size_t n);
