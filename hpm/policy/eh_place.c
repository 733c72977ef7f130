/* ELF files, as far as eh_frame.h asks of them (System V ABI, chapters 4 and 5), and the code that
 * linkers make. */
#include "hpm/policy/eh_frame.h"

enum { PT_LOAD = 1, PT_GNU_EH_FRAME = 0x6474e550, PF_X = 1 };

struct elf_header {
    uint8_t magic[4], bits, order, rest[10];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments_at, sections_at;
    uint32_t flags;
    uint16_t bytes, segment_bytes, segments, section_bytes, sections, names;
};
struct elf_segment {
    uint32_t type, flags;
    uint64_t at, address, physical, file_bytes, bytes, align;
};
_Static_assert(sizeof(struct elf_header) == 64 && sizeof(struct elf_segment) == 56,
               "as the ABI has them");

static bool read_header(const void *head, size_t n, struct elf_header *h)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1}; /* 64 bits, little-endian */

    if (n < sizeof(*h))
        return false;
    memcpy(h, head, sizeof(*h));
    return !memcmp(h, magic, sizeof(magic)) && h->segment_bytes == sizeof(struct elf_segment);
}

/* Finds the first segment of a type and with flags that has the byte of the file; NULL: any. */
static bool find_segment(const void *head, size_t n, uint32_t type, uint32_t flags,
                         const uint64_t *offset, struct elf_segment *out)
{
    struct elf_header h;

    if (!read_header(head, n, &h) || h.segments_at > n)
        return false;
    for (unsigned i = 0; i < h.segments && (i + 1) * sizeof(*out) <= n - h.segments_at; i++) {
        memcpy(out, (const uint8_t *)head + h.segments_at + i * sizeof(*out), sizeof(*out));
        if (out->type == type && (out->flags & flags) == flags &&
            (!offset || (*offset >= out->at && *offset - out->at < out->file_bytes)))
            return true;
    }
    return false;
}

int eh_place_find(const void *head, size_t n, struct eh_place *out)
{
    struct elf_segment s, whole;
    struct elf_header h;

    if (!read_header(head, n, &h) || !find_segment(head, n, PT_GNU_EH_FRAME, 0, NULL, &s) ||
        !find_segment(head, n, PT_LOAD, 0, &s.at, &whole))
        return -ENOENT;
    *out = (struct eh_place){.at = s.at,
                             .bytes = whole.file_bytes - (s.at - whole.at),
                             .address = s.address,
                             .machine = h.machine};
    return 0;
}

bool eh_code_address(const void *head, size_t n, uint64_t offset, uint64_t *address)
{
    struct elf_segment s;
    /* Mappings are of whole pages, and may begin before the segment. */
    uint64_t within = offset | (PAGE_SIZE - 1);

    if (!find_segment(head, n, PT_LOAD, PF_X, &offset, &s) &&
        !find_segment(head, n, PT_LOAD, PF_X, &within, &s))
        return false;
    *address = s.address - s.at + offset;
    return true;
}

/* The table begins with STP x16, x30, [sp, #-16]! and what its entries are: ADRP x16, page;
 * LDR x17, [x16, #n]; ADD x16, x16, #n; BR x17 (binutils, bfd/elfnn-aarch64.c; Arm DDI 0487,
 * C6.2). */
static const struct instruction {
    uint32_t is, mask;
} linkage[] = {{0xa9bf7bf0, UINT32_MAX},
               {0x90000010, 0x9f00001f},
               {0xf9400211, 0xffc003ff},
               {0x91000210, 0xffc003ff},
               {0xd61f0220, UINT32_MAX}};

static bool is_linkage(uint32_t code, unsigned i)
{
    return (code & linkage[i].mask) == linkage[i].is;
}

bool eh_linkage_rule(const uint32_t code[2 * EH_LINKAGE_AROUND + 1], struct frame_rule *out)
{
    const uint32_t *here = code + EH_LINKAGE_AROUND;
    unsigned i = 0;

    while (i < ARRAY_SIZE(linkage) && !is_linkage(*here, i))
        i++;
    for (unsigned k = i; k < ARRAY_SIZE(linkage); k++)
        if (!is_linkage(here[k - i], k))
            return false;
    if (i == ARRAY_SIZE(linkage))
        return false;
    bool pushed = i && is_linkage(*(here - i), 0);
    *out = (struct frame_rule){.cfa = {RULE_SP, pushed ? 16 : 0},
                               .link = {pushed ? RULE_CFA : RULE_SAME, pushed ? -8 : 0},
                               .fp = {RULE_SAME, 0},
                               .kept = {RULE_SAME, 0}};
    return true;
}
