/* See bundle.h. */
#include "kernel/proc/bundle.h"

#define BLOCK 512

/* A header fills one block. */
struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], chksum[8], typeflag,
        linkname[100];
    char magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a ustar header is one block");

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

static bool is_zero(const struct ustar *h)
{
    const uint8_t *p = (const uint8_t *)h;

    for (unsigned i = 0; i < sizeof(*h); i++)
        if (p[i])
            return false;
    return true;
}

/* The checksum is the sum of all bytes, with its own bytes taken as spaces. */
static bool checksum_right(const struct ustar *h)
{
    const uint8_t *p = (const uint8_t *)h;
    const unsigned first = offsetof(struct ustar, chksum), last = first + sizeof(h->chksum);
    uint64_t stated, sum = 0;

    for (unsigned i = 0; i < sizeof(*h); i++)
        sum += i >= first && i < last ? ' ' : p[i];
    return parse_octal(h->chksum, sizeof(h->chksum), &stated) && stated == sum;
}

static const char *check_header(const struct ustar *h, uint64_t room, uint64_t *size)
{
    if (memcmp(h->magic, "ustar", sizeof("ustar") - 1) != 0)
        return "not a ustar archive";
    if (!checksum_right(h))
        return "wrong checksum in a header";
    if (!parse_octal(h->size, sizeof(h->size), size))
        return "malformed size in a header";
    if (*size > room)
        return "file beyond the end of the archive";
    if (h->prefix[0])
        return "file in a folder";
    return NULL;
}

int bundle_next(const void *archive, uint64_t size, uint64_t *cursor, struct bundle_file *out,
                const char **why)
{
    while (size >= BLOCK && *cursor <= size - BLOCK) {
        const uint8_t *at = (const uint8_t *)archive + *cursor;
        struct ustar h;
        memcpy(&h, at, sizeof(h));
        if (is_zero(&h))
            return -ENOENT;
        *why = check_header(&h, size - *cursor - BLOCK, &out->size);
        if (*why)
            return -EINVAL;
        *cursor += BLOCK + ALIGN_UP(out->size, (uint64_t)BLOCK);
        if (h.typeflag != '0' && h.typeflag != '\0')
            continue;
        memcpy(out->name, h.name, sizeof(h.name));
        out->name[sizeof(h.name)] = '\0';
        out->data = at + BLOCK;
        return 0;
    }
    return -ENOENT;
}

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

int bundle_find(const void *archive, uint64_t size, const char *name, struct bundle_file *out,
                const char **why)
{
    uint64_t cursor = 0;
    int err;

    do
        err = bundle_next(archive, size, &cursor, out, why);
    while (!err && !same(out->name, name));
    return err;
}
