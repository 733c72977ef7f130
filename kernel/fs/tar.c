/* See tar.h. */
#include "kernel/fs/tar.h"
#include "kernel/lib/text.h"

#define BLOCK 512

/* A header fills one block. In GNU tar's own format `prefix` holds other things. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], chksum[8], typeflag,
        linkname[100];
    char magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* What headers in front of an entry's own say of it. */
struct extended {
    struct tar_text path, target;
    bool has_size, has_time;
    uint64_t size;
    int64_t time;
};

/* An archive that is being read. */
struct reader {
    const uint8_t *archive;
    uint64_t size, at; /* at: of the next header */
    const char *why;
};

/* ---- Fields ---------------------------------------------------------------------------------- */

static int refuse(struct reader *r, const char *why)
{
    r->why = why;
    return -EINVAL;
}

/* Parses octal digits up to a space or NUL. Returns false if there are none, or others. */
static bool parse_octal(const char *field, size_t n, uint64_t *out)
{
    size_t i = 0;

    *out = 0;
    while (i < n && field[i] == ' ')
        i++;
    size_t first = i;
    for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
        *out = *out * 8 + (uint64_t)(field[i] - '0');
    return i > first && (i == n || field[i] == ' ' || field[i] == '\0');
}

/* Parses a number as GNU tar writes one that octal digits have no room for: big-endian, of two's
 * complement, behind a first bit that is set. */
static bool parse_binary(const char *field, size_t n, int64_t *out)
{
    const uint8_t *p = (const uint8_t *)field;
    bool negative = p[0] & 0x40;
    uint64_t v = negative ? (uint64_t)-1 : 0;

    for (size_t i = 0; i < n; i++) {
        uint8_t byte = i ? p[i] : negative ? p[0] : p[0] & 0x7f;
        bool lost = i + 8 < n && byte != (negative ? 0xff : 0);
        if (lost)
            return false;
        v = v << 8 | byte;
    }
    *out = (int64_t)v;
    return negative == (*out < 0);
}

static bool parse_number(const char *field, size_t n, int64_t *out)
{
    uint64_t v;

    if ((uint8_t)field[0] & 0x80)
        return parse_binary(field, n, out);
    bool right = parse_octal(field, n, &v);
    *out = (int64_t)v; /* 12 digits have 36 bits */
    return right;
}

/* An empty field is 0, as some archivers write for what they do not use. */
static bool parse_u32(const char *field, size_t n, uint32_t *out)
{
    int64_t v = 0;
    bool right = !field[0] || parse_number(field, n, &v);

    *out = (uint32_t)v;
    return right && v >= 0 && v <= UINT32_MAX;
}

static struct tar_text text_in(const char *s, size_t room)
{
    size_t n = 0;

    while (n < room && s[n])
        n++;
    return (struct tar_text){s, n};
}

static bool is_zero(const struct header *h)
{
    const uint8_t *p = (const uint8_t *)h;

    for (unsigned i = 0; i < sizeof(*h); i++)
        if (p[i])
            return false;
    return true;
}

/* The checksum is the sum of all bytes, with its own bytes taken as spaces. */
static bool checksum_right(const struct header *h)
{
    const uint8_t *p = (const uint8_t *)h;
    const unsigned first = offsetof(struct header, chksum), last = first + sizeof(h->chksum);
    uint64_t stated, sum = 0;

    for (unsigned i = 0; i < sizeof(*h); i++)
        sum += i >= first && i < last ? ' ' : p[i];
    return parse_octal(h->chksum, sizeof(h->chksum), &stated) && stated == sum;
}

/* ---- Extended headers ------------------------------------------------------------------------ */

/* Parses decimal digits from s[*i] on. */
static bool parse_decimal(const char *s, size_t n, size_t *i, uint64_t *out)
{
    size_t first = *i;

    for (*out = 0; *i < n && s[*i] >= '0' && s[*i] <= '9'; ++*i)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(s[*i] - '0'), out))
            return false;
    return *i > first;
}

/* A time has a fraction, and may be negative. */
static bool parse_time(const char *s, size_t n, int64_t *out)
{
    size_t i = n && s[0] == '-';
    bool negative = i;
    uint64_t v, fraction;

    if (!parse_decimal(s, n, &i, &v) || v > INT64_MAX)
        return false;
    if (i < n && s[i] == '.') {
        i++;
        if (i < n && n - i <= 9 && !parse_decimal(s, n, &i, &fraction))
            return false;
        while (i < n && s[i] >= '0' && s[i] <= '9')
            i++;
    }
    *out = negative ? -(int64_t)v : (int64_t)v;
    return i == n;
}

static bool has_nul(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!s[i])
            return true;
    return false;
}

/* Takes one record of a pax header: a key and a value. */
static int take_record(struct reader *r, const char *key, size_t key_n, const char *value, size_t n,
                       struct extended *x)
{
    size_t i = 0;

    if (text_same("path", key, key_n) || text_same("linkpath", key, key_n)) {
        if (has_nul(value, n))
            return refuse(r, "a name with a NUL");
        *(key_n == 4 ? &x->path : &x->target) = (struct tar_text){value, n};
    } else if (text_same("size", key, key_n)) {
        x->has_size = n;
        if (n && (!parse_decimal(value, n, &i, &x->size) || i != n))
            return refuse(r, "malformed size in a pax header");
    } else if (text_same("mtime", key, key_n)) {
        x->has_time = n;
        if (n && !parse_time(value, n, &x->time))
            return refuse(r, "malformed time in a pax header");
    } else if (key_n > 10 && !memcmp(key, "GNU.sparse", 10)) {
        return refuse(r, "a sparse file");
    }
    return 0;
}

/* Records are "LENGTH KEY=VALUE\n"; the length is of all of it, in decimal. */
static int take_records(struct reader *r, const char *s, uint64_t size, struct extended *x)
{
    int err = 0;

    for (uint64_t at = 0; at < size && s[at] && !err;) {
        size_t i = 0, room = (size_t)(size - at);
        uint64_t length;
        if (!parse_decimal(s + at, room, &i, &length) || i == room || s[at + i] != ' ' ||
            length > room || length < i + 4 || s[at + length - 1] != '\n')
            return refuse(r, "malformed record in a pax header");
        const char *key = s + at + i + 1;
        size_t n = (size_t)length - i - 2, key_n = 0;
        while (key_n < n && key[key_n] != '=')
            key_n++;
        if (!key_n || key_n == n)
            return refuse(r, "malformed record in a pax header");
        err = take_record(r, key, key_n, key + key_n + 1, n - key_n - 1, x);
        at += length;
    }
    return err;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Returns whether a header is no entry, but describes the next one or all. */
static bool describes_next(const struct header *h)
{
    return h->typeflag == 'x' || h->typeflag == 'g' || h->typeflag == 'L' || h->typeflag == 'K';
}

/* Reads the header at r->at, and leaves r->at behind what follows it. Returns 0, -ENOENT: the end,
 * or -EINVAL. */
static int read_header(struct reader *r, const struct extended *x, const struct header **out,
                       const char **data, uint64_t *size)
{
    int64_t stated;

    if (r->size < BLOCK || r->at > r->size - BLOCK)
        return -ENOENT;
    const struct header *h = (const void *)(r->archive + r->at);
    if (is_zero(h))
        return -ENOENT;
    if (memcmp(h->magic, "ustar", sizeof("ustar") - 1) != 0)
        return refuse(r, "not a ustar archive");
    if (!checksum_right(h))
        return refuse(r, "wrong checksum in a header");
    if (!parse_number(h->size, sizeof(h->size), &stated) || stated < 0)
        return refuse(r, "malformed size in a header");
    bool bare = h->typeflag >= '1' && h->typeflag <= '6'; /* no contents follow */
    *size = bare ? 0 : x->has_size && !describes_next(h) ? x->size : (uint64_t)stated;
    if (*size > r->size - r->at - BLOCK)
        return refuse(r, "file beyond the end of the archive");
    *out = h;
    *data = (const char *)h + BLOCK;
    r->at += BLOCK + *size;
    r->at += MIN((uint64_t) - *size % BLOCK, r->size - r->at);
    return 0;
}

static bool type_of(char flag, enum tar_type *out)
{
    static const enum tar_type types[] = {TAR_FILE,  TAR_HARD_LINK, TAR_LINK, TAR_CHAR,
                                          TAR_BLOCK, TAR_FOLDER,    TAR_FIFO, TAR_FILE};

    /* POSIX: types that are not known are files. */
    *out = flag >= '0' && flag <= '7' ? types[flag - '0'] : TAR_FILE;
    return flag != 'S' && flag != 'M' && flag != 'V' && flag != 'D' && flag != 'N';
}

static int fill_entry(struct reader *r, const struct header *h, const struct extended *x,
                      struct tar_entry *out)
{
    bool ustar = !h->magic[5]; /* GNU tar's own has a space there */
    int64_t mode = 0, time = 0;

    *out = (struct tar_entry){0};
    if (!type_of(h->typeflag, &out->type))
        return refuse(r, "a sparse file, volume or listing");
    out->name = text_in(h->name, sizeof(h->name));
    if (ustar)
        out->folder = text_in(h->prefix, sizeof(h->prefix));
    if (x->path.n) {
        out->name = x->path;
        out->folder.n = 0;
    }
    /* Older archivers mark folders by a slash alone. */
    if (out->type == TAR_FILE && !x->path.n && out->name.n && out->name.s[out->name.n - 1] == '/')
        out->type = TAR_FOLDER;
    out->target = x->target.n ? x->target : text_in(h->linkname, sizeof(h->linkname));
    if (!parse_number(h->mode, sizeof(h->mode), &mode))
        return refuse(r, "malformed mode in a header");
    if (!x->has_time && !parse_number(h->mtime, sizeof(h->mtime), &time))
        return refuse(r, "malformed time in a header");
    out->mode = (uint32_t)mode & 07777;
    out->time = x->has_time ? x->time : time;
    /* Owners that have no room are 0. */
    if (!parse_u32(h->uid, sizeof(h->uid), &out->uid) ||
        !parse_u32(h->gid, sizeof(h->gid), &out->gid))
        return refuse(r, "malformed owner in a header");
    bool device = out->type == TAR_CHAR || out->type == TAR_BLOCK;
    if (device && (!parse_u32(h->devmajor, sizeof(h->devmajor), &out->major) ||
                   !parse_u32(h->devminor, sizeof(h->devminor), &out->minor)))
        return refuse(r, "malformed device in a header");
    if (!out->name.n)
        return refuse(r, "an entry without a name");
    if ((out->type == TAR_LINK || out->type == TAR_HARD_LINK) && !out->target.n)
        return refuse(r, "a link that leads nowhere");
    return 0;
}

/* Takes a header that describes the next entry. Returns 0; -EINVAL; 1: it is an entry itself. */
static int take_extended(struct reader *r, const struct header *h, const char *data, uint64_t size,
                         struct extended *x)
{
    struct extended all = {0};

    switch (h->typeflag) {
    case 'L':
        x->path = text_in(data, size);
        return 0;
    case 'K':
        x->target = text_in(data, size);
        return 0;
    case 'x':
        return take_records(r, data, size, x);
    case 'g': /* of all entries: comments mostly */
        return take_records(r, data, size, &all);
    default:
        return 1;
    }
}

static int read_entry(struct reader *r, struct tar_entry *out)
{
    struct extended x = {0};
    const struct header *h;
    const char *data;
    uint64_t size;
    int err;

    do {
        err = read_header(r, &x, &h, &data, &size);
        if (!err)
            err = take_extended(r, h, data, size, &x);
    } while (!err);
    if (err != 1)
        return err;
    err = fill_entry(r, h, &x, out);
    out->data = data;
    out->size = out->type == TAR_FILE ? size : 0;
    return err;
}

int tar_next(const void *archive, uint64_t size, uint64_t *cursor, struct tar_entry *out,
             const char **why)
{
    struct reader r = {.archive = archive, .size = size, .at = *cursor};
    int err = read_entry(&r, out);

    *why = r.why;
    if (!err)
        *cursor = r.at;
    return err;
}
