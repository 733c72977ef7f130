/* ELF files, as far as eh_frame.h asks of them (System V ABI, chapters 4 and 5), and the code that
 * linkers make. */
#include "hpm/policy/eh_frame.h"
#include "kernel/lib/elf64.h"

static bool read_header(const void *head, size_t n, struct elf64_header *h)
{
    if (n < sizeof(*h))
        return false;
    memcpy(h, head, sizeof(*h));
    return elf64_is(h);
}

/* Finds the first segment of a type and with flags that has the byte of the file; NULL: any. */
static bool find_segment(const void *head, size_t n, uint32_t type, uint32_t flags,
                         const uint64_t *offset, struct elf64_segment *out)
{
    struct elf64_header h;

    if (!read_header(head, n, &h) || h.phoff > n)
        return false;
    for (unsigned i = 0; i < h.phnum && (i + 1) * sizeof(*out) <= n - h.phoff; i++) {
        memcpy(out, (const uint8_t *)head + h.phoff + i * sizeof(*out), sizeof(*out));
        if (out->type == type && (out->flags & flags) == flags &&
            (!offset || (*offset >= out->offset && *offset - out->offset < out->filesz)))
            return true;
    }
    return false;
}

int eh_place_find(const void *head, size_t n, struct eh_place *out)
{
    struct elf64_segment s, whole;
    struct elf64_header h;

    if (!read_header(head, n, &h) || !find_segment(head, n, ELF_EH_FRAME, 0, NULL, &s) ||
        !find_segment(head, n, ELF_LOAD, 0, &s.offset, &whole))
        return -ENOENT;
    *out = (struct eh_place){.at = s.offset,
                             .bytes = whole.filesz - (s.offset - whole.offset),
                             .address = s.vaddr,
                             .machine = h.machine};
    return 0;
}

bool eh_code_address(const void *head, size_t n, uint64_t offset, uint64_t *address)
{
    struct elf64_segment s;
    /* Mappings are of whole pages, and may begin before the segment. */
    uint64_t within = offset | (PAGE_SIZE - 1);

    if (!find_segment(head, n, ELF_LOAD, ELF_X, &offset, &s) &&
        !find_segment(head, n, ELF_LOAD, ELF_X, &within, &s))
        return false;
    *address = s.vaddr - s.offset + offset;
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
