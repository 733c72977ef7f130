/* See smbios.h. */
#include "kernel/firmware/smbios.h"

#define TABLE_MAX MIB

/* Entry points (5.2): their anchors, and the offsets of their fields. */
static const struct entry_kind {
    char anchor[6];
    uint8_t anchor_size, length, size_min; /* length: offset of the entry point's length, a byte */
    uint8_t table_size, table_size_bytes, table, table_bytes;
} kinds[] = {
    {"_SM3_", 5, 6, 24, 12, 4, 16, 8},
    {"_SM_", 4, 5, 31, 22, 2, 24, 4},
};

enum { FIRMWARE = 0, SYSTEM = 1, BOARD = 2, END = 127 };
enum { TYPE, LENGTH, HEADER = 4 };

/* The strings to read: type of structure, offset of the string's number, and destination. */
static const struct wanted {
    uint8_t type, at;
    uint16_t to;
} wanted[] = {
    {FIRMWARE, 4, offsetof(struct smbios, firmware_vendor)},
    {FIRMWARE, 5, offsetof(struct smbios, firmware_version)},
    {FIRMWARE, 8, offsetof(struct smbios, firmware_date)},
    {SYSTEM, 4, offsetof(struct smbios, vendor)},
    {SYSTEM, 5, offsetof(struct smbios, product)},
    {SYSTEM, 6, offsetof(struct smbios, version)},
    {BOARD, 4, offsetof(struct smbios, board_vendor)},
    {BOARD, 5, offsetof(struct smbios, board)},
};

struct table {
    const uint8_t *data;
    uint64_t size;
};

static bool checksum_right(const uint8_t *p, unsigned size)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < size; i++)
        sum = (uint8_t)(sum + p[i]);
    return !sum;
}

static int open_table(const struct acpi_memory *memory, paddr_t entry, const struct entry_kind *k,
                      struct table *out)
{
    const uint8_t *p = memory->map(memory->ctx, entry, k->size_min);

    if (!p || memcmp(p, k->anchor, k->anchor_size))
        return -EINVAL;
    unsigned length = p[k->length];
    if (length < k->size_min)
        return -EINVAL;
    p = memory->map(memory->ctx, entry, length);
    if (!p || !checksum_right(p, length))
        return -EINVAL;
    out->size = acpi_number(p + k->table_size, k->table_size_bytes);
    paddr_t at = acpi_number(p + k->table, k->table_bytes);
    if (!at || out->size < HEADER || out->size > TABLE_MAX)
        return -EINVAL;
    out->data = memory->map(memory->ctx, at, out->size);
    return out->data ? 0 : -EINVAL;
}

/* Returns the offset behind the strings, which end with an empty one; 0 if the table ends
 * before. */
static uint64_t strings_end(const struct table *t, uint64_t at)
{
    for (; at + 1 < t->size; at++) {
        if (!t->data[at] && !t->data[at + 1])
            return at + 2;
    }
    return 0;
}

/* Copies string `n`, counted from 1, of those in [at, end). */
static void copy_string(const struct table *t, uint64_t at, uint64_t end, unsigned n, char *to)
{
    size_t length = 0;

    for (; n > 1 && at < end; at++)
        n -= !t->data[at];
    for (; n && at < end && t->data[at] && length + 1 < SMBIOS_TEXT_MAX; at++)
        to[length++] = t->data[at] >= ' ' && t->data[at] <= '~' ? (char)t->data[at] : '?';
    while (length && to[length - 1] == ' ')
        length--;
    to[length] = '\0';
}

/* Reads the strings of a structure; the first structure of each type counts. */
static void take_structure(const struct table *t, uint64_t at, uint64_t end, struct smbios *out)
{
    const uint8_t *s = t->data + at;

    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        char *to = (char *)out + wanted[i].to;
        if (wanted[i].type == s[TYPE] && wanted[i].at < s[LENGTH] && !to[0])
            copy_string(t, at + s[LENGTH], end, s[wanted[i].at], to);
    }
}

int smbios_read(const struct acpi_memory *memory, paddr_t entry, struct smbios *out)
{
    struct table t;
    int err = -EINVAL;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; err && entry && i < ARRAY_SIZE(kinds); i++)
        err = open_table(memory, entry, &kinds[i], &t);
    if (err)
        return err;
    for (uint64_t at = 0; at + HEADER <= t.size && t.data[at + TYPE] != END;) {
        uint64_t length = t.data[at + LENGTH];
        if (length < HEADER || at + length > t.size)
            break;
        uint64_t end = strings_end(&t, at + length);
        if (!end)
            break;
        take_structure(&t, at, end, out);
        at = end;
    }
    return 0;
}
