/*
 * Rules by .eh_frame (hpm/policy/eh_frame.h) against libdw, at addresses of files that others
 * compiled: glibc of both machines and its loaders. Then files that are cut off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include "hpm/policy/eh_frame.h"

/* Those that are there are tested; the first two are of the compilers that build Vigil. */
static const char *const files[] = {
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/aarch64-linux-gnu/lib/libc.so.6",
    "/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
    "/lib64/ld-linux-x86-64.so.2",
    "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
    "/usr/bin/gzip",
    "/usr/bin/gdb",
};

static uint8_t *bytes;
static size_t size;
static struct eh_place place;
static struct eh_frames frames;
static struct eh_state work;
/* Code that returns to another register than all others: glibc's descriptors of thread-local
 * storage on AArch64. */
static unsigned refused;

static void read_file(const char *path)
{
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    size = (size_t)ftell(in);
    rewind(in);
    bytes = malloc(size);
    assert_int_equal(fread(bytes, 1, size, in), size);
    fclose(in);
}

static void open_file(const char *path)
{
    read_file(path);
    assert_int_equal(eh_place_find(bytes, EH_HEAD_BYTES, &place), 0);
    assert_true(place.at + place.bytes <= size);
    assert_int_equal(
        eh_frames_open(bytes + place.at, place.bytes, place.address, place.machine, &frames), 0);
}

/* ---- The oracle ------------------------------------------------------------------------------ */

struct numbers {
    int by_from[RULE_CFA], link;
};
static const struct numbers x86 = {{7, 6, 3, 10}, 16}, arm = {{31, 29, -1, -1}, 30};

static int from_of(const struct numbers *n, int64_t number)
{
    for (int i = 0; i < RULE_CFA; i++)
        if (n->by_from[i] == number)
            return i;
    return RULE_LOST;
}

/* A location that libdw gives: bregN, the CFA plus a number, and a word that is stored. */
static struct rule_word word_of(const struct numbers *n, const Dwarf_Op *op, size_t count,
                                bool *stored)
{
    struct rule_word w = {RULE_LOST, 0};

    *stored = count == 2 && op[1].atom == DW_OP_deref;
    if ((count == 1 || *stored) && op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        w = (struct rule_word){(uint8_t)from_of(n, op->atom - DW_OP_breg0), (int32_t)op->number};
    else if ((count == 1 || *stored) && op->atom == DW_OP_bregx)
        w = (struct rule_word){(uint8_t)from_of(n, (int64_t)op->number), (int32_t)op->number2};
    else if (count >= 1 && op->atom == DW_OP_call_frame_cfa)
        w = (struct rule_word){
            RULE_CFA, count == 2 && op[1].atom == DW_OP_plus_uconst ? (int32_t)op[1].number : 0};
    return w;
}

static struct rule_word caller_of(const struct numbers *n, Dwarf_Frame *frame, int number,
                                  bool *ends)
{
    Dwarf_Op work[3], *ops;
    size_t count;
    bool stored;

    *ends = false;
    if (dwarf_frame_register(frame, number, work, &ops, &count))
        return (struct rule_word){RULE_LOST, 0};
    if (!count) {
        *ends = ops == work;
        return (struct rule_word){ops == work ? RULE_LOST : RULE_SAME, 0};
    }
    return word_of(n, ops, count, &stored);
}

static void same_word(const struct rule_word *is, const struct rule_word *wanted)
{
    assert_int_equal(is->from, wanted->from);
    if (is->from != RULE_LOST)
        assert_int_equal(is->at, wanted->at);
}

/* Compares the rule of an address. Returns whether there was one. */
static bool compare(Dwarf_CFI *cfi, const struct numbers *n, uint64_t at)
{
    struct frame_rule rule;
    Dwarf_Frame *frame;
    Dwarf_Op *ops;
    size_t count;
    bool ends, stored, unused;

    if (dwarf_cfi_addrframe(cfi, at, &frame)) {
        assert_false(eh_rule_at(&frames, at, &work, &rule));
        return false;
    }
    struct rule_word link = caller_of(n, frame, n->link, &ends), cfa = {RULE_LOST, 0};
    if (!dwarf_frame_cfa(frame, &ops, &count))
        cfa = word_of(n, ops, count, &stored);
    bool is = eh_rule_at(&frames, at, &work, &rule);
    if (ends) {
        assert_true(is && rule.ends);
    } else if (cfa.from < RULE_CFA && !is) {
        refused++;
    } else if (cfa.from < RULE_CFA) {
        assert_false(rule.ends);
        same_word(&rule.cfa, &cfa);
        assert_int_equal(rule.stored, stored);
        same_word(&rule.link, &link);
        struct rule_word fp = caller_of(n, frame, n->by_from[RULE_FP], &unused);
        same_word(&rule.fp, &fp);
        if (n == &x86) {
            /* libdw takes RBX that nothing is said of for one that calls change. */
            struct rule_word kept = caller_of(n, frame, n->by_from[RULE_KEPT], &unused);
            same_word(&rule.kept, unused ? &(struct rule_word){RULE_SAME, 0} : &kept);
        }
    } else if (is) { /* a linkage table's expression, which the rule solves */
        assert_true(n == &x86 && count > 4 && rule.cfa.from == RULE_SP);
        assert_int_equal(rule.cfa.at, (at & 15) >= 11 ? 16 : 8);
    }
    free(frame);
    return is;
}

static uint64_t draw(void)
{
    static uint64_t x = 0x9e3779b97f4a7c15;

    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

/* Addresses of the segment of code, and some around it. */
static void code_of(Elf *elf, uint64_t *start, uint64_t *end)
{
    GElf_Phdr segment;

    for (size_t i = 0; gelf_getphdr(elf, (int)i, &segment); i++)
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X) {
            *start = segment.p_vaddr - 64;
            *end = segment.p_vaddr + segment.p_memsz + 64;
        }
}

static void compare_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    uint64_t start = 0, end = 0;
    unsigned described = 0;

    refused = 0;

    assert_non_null(cfi);
    open_file(path);
    code_of(elf, &start, &end);
    for (unsigned i = 0; i < 20000; i++)
        described +=
            compare(cfi, place.machine == EM_X86_64 ? &x86 : &arm, start + draw() % (end - start));
    print_message("# %s: %u of 20000 addresses are described\n", path, described);
    assert_true(refused * 100 <= described);
    assert_true(described > 8000); /* some have what is no code in that segment */
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(fd);
    free(bytes);
}

static void rules_are_as_libdw_has_them(void **state)
{
    unsigned compared = 0;

    (void)state;
    elf_version(EV_CURRENT);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (!access(files[i], R_OK)) {
            compare_file(files[i]);
            compared++;
        }
    assert_true(compared >= 2);
}

static void code_is_where_its_segment_says(void **state)
{
    uint64_t address;
    GElf_Phdr segment;
    unsigned code = 0;

    (void)state;
    open_file(files[0]);
    Elf *elf = elf_memory((char *)bytes, size);
    for (size_t i = 0; gelf_getphdr(elf, (int)i, &segment); i++) {
        bool is = segment.p_type == PT_LOAD && segment.p_flags & PF_X;
        code += is;
        if (is)
            assert_true(eh_code_address(bytes, EH_HEAD_BYTES, segment.p_offset & ~(uint64_t)0xfff,
                                        &address) &&
                        address == (segment.p_vaddr & ~(uint64_t)0xfff));
    }
    assert_int_equal(code, 1);
    assert_false(eh_code_address(bytes, EH_HEAD_BYTES, size + 0x10000, &address));
    elf_end(elf);
    free(bytes);
}

/* Copies end where they may: reads beyond them are the sanitizer's to find. */
static void what_is_cut_off_is_not_read(void **state)
{
    struct frame_rule rule;
    struct eh_frames part;
    unsigned found = 0;

    (void)state;
    open_file(files[0]);
    for (unsigned i = 0; i < 300; i++) {
        size_t n = draw() % (place.bytes + 1);
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, bytes + place.at, n);
        if (!eh_frames_open(copy, n, place.address, place.machine, &part))
            for (unsigned k = 0; k < 50; k++)
                found += eh_rule_at(&part, place.address - draw() % 0x100000, &work, &rule);
        free(copy);
    }
    assert_true(found > 100);
    for (size_t n = 0; n < 700; n++) {
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, bytes, n);
        (void)eh_place_find(copy, n, &place);
        free(copy);
    }
    assert_int_equal(eh_place_find(bytes, 63, &place), -ENOENT);
    free(bytes);
}

static void bytes_that_are_changed_do_no_harm(void **state)
{
    struct frame_rule rule;
    struct eh_frames changed;

    (void)state;
    open_file(files[0]);
    uint8_t *copy = malloc(place.bytes);
    for (unsigned i = 0; i < 300; i++) {
        memcpy(copy, bytes + place.at, place.bytes);
        for (unsigned k = 0; k < 2000; k++)
            copy[4 + draw() % (place.bytes - 4)] = (uint8_t)draw();
        memcpy(copy + 8, bytes + place.at + 8, 4); /* the number of rows */
        assert_int_equal(eh_frames_open(copy, place.bytes, place.address, place.machine, &changed),
                         0);
        for (unsigned k = 0; k < 200; k++)
            (void)eh_rule_at(&changed, place.address - draw() % 0x100000, &work, &rule);
    }
    free(copy);
    free(bytes);
}

/* ---- Files that no linker makes -------------------------------------------------------------- */

#define MADE_AT 0x10000

/* Opens a table of one function of 0x100 bytes at MADE_AT + 0x8000, with the letters of its CIE and
 * its instructions. Entries are padded with NOPs. */
static void open_made(const char *letters, const uint8_t *ops, uint32_t n)
{
    static uint8_t made[4096];
    static const uint8_t rest[] = {1, 0x78, 16, 1, 0x1b}; /* steps 1, -8; the link; of R */
    uint32_t letter_bytes = (uint32_t)strlen(letters) + 1,
             common = 4 + 1 + letter_bytes + sizeof rest, at = EH_ROWS_AT + 8,
             function_at = at + 4 + common;
    const int32_t row[] = {0x8000, (int32_t)function_at};
    const uint32_t function[] = {4 + 8 + 1 + n, 4 + common + 4, 0x8000 - function_at - 8, 0x100};

    assert_true(function_at + sizeof function + 1 + n <= sizeof made);
    memset(made, 0, sizeof made);
    memcpy(made, (uint8_t[]){1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 1}, 9);
    memcpy(made + EH_ROWS_AT, row, sizeof row);
    memcpy(made + at, &common, 4);
    made[at + 8] = 1;
    memcpy(made + at + 9, letters, letter_bytes);
    memcpy(made + at + 9 + letter_bytes, rest, sizeof rest);
    memcpy(made + function_at, function, sizeof function);
    memcpy(made + function_at + sizeof function + 1, ops, n);
    assert_int_equal(eh_frames_open(made, sizeof made, MADE_AT, EM_X86_64, &frames), 0);
}

static bool rule_in_made(uint64_t offset, struct frame_rule *rule)
{
    return eh_rule_at(&frames, MADE_AT + 0x8000 + offset, &work, rule);
}

/* An interrupt interprets them: work for each instruction is bounded. */
static void numbers_and_letters_have_a_length(void **state)
{
    uint8_t ops[] = {DW_CFA_def_cfa, 7, 0x88, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
    uint8_t longer[] = {DW_CFA_def_cfa, 7,    0x88, 0x80, 0x80, 0x80, 0x80,
                        0x80,           0x80, 0x80, 0x80, 0x80, 0};
    struct frame_rule rule;

    (void)state;
    open_made("zR", ops, sizeof ops);
    assert_true(rule_in_made(0, &rule) && rule_in_made(0xff, &rule));
    assert_true(rule.cfa.from == RULE_SP && rule.cfa.at == 8);
    assert_false(rule_in_made(0x100, &rule));
    open_made("zR", longer, sizeof longer);
    assert_false(rule_in_made(0, &rule));
    open_made("zRBBBBB", ops, sizeof ops);
    assert_true(rule_in_made(0, &rule));
    open_made("zRBBBBBB", ops, sizeof ops);
    assert_false(rule_in_made(0, &rule));
}

static void code_has_a_caller_again(void **state)
{
    static const uint8_t ops[] = {DW_CFA_def_cfa,
                                  7,
                                  16,
                                  DW_CFA_remember_state,
                                  DW_CFA_undefined,
                                  16,
                                  DW_CFA_advance_loc | 1,
                                  DW_CFA_offset | 16,
                                  1,
                                  DW_CFA_undefined,
                                  16,
                                  DW_CFA_advance_loc | 1,
                                  DW_CFA_restore_state,
                                  DW_CFA_undefined,
                                  16,
                                  DW_CFA_advance_loc | 1,
                                  DW_CFA_restore | 16};
    static const bool ends[] = {true, true, true, false};
    struct frame_rule rule;

    (void)state;
    open_made("zR", ops, sizeof ops);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(rule_in_made(i, &rule));
        assert_int_equal(rule.ends, ends[i]);
    }
    static const uint8_t stored[] = {
        DW_CFA_def_cfa, 7, 16, DW_CFA_undefined, 16, DW_CFA_advance_loc | 1, DW_CFA_offset | 16, 1};
    open_made("zR", stored, sizeof stored);
    assert_true(rule_in_made(0, &rule) && rule.ends);
    assert_true(rule_in_made(1, &rule) && !rule.ends);
    assert_true(rule.link.from == RULE_CFA && rule.link.at == -8);
}

static void a_linkage_table_leaves_the_link_in_its_register(void **state)
{
    /* One entry, and the first, between other code. */
    const uint32_t code[] = {1,          2,          3,          4,          0xa9bf7bf0,
                             0xd0000bb0, 0xf947fe11, 0x913fe210, 0xd61f0220, 0xd503201f,
                             0xd503201f, 0xd503201f, 0xf0000bb0, 0xf9400211, 0x91000210,
                             0xd61f0220, 5,          6,          7,          8};
    struct frame_rule rule;

    (void)state;
    for (unsigned i = 4; i < sizeof code / sizeof code[0] - 4; i++) {
        bool is = (i <= 8 || i >= 12) && i < 16;
        assert_int_equal(eh_linkage_rule(&code[i - EH_LINKAGE_AROUND], &rule), is);
        if (is && i >= 5 && i <= 8)
            assert_true(rule.cfa.at == 16 && rule.link.from == RULE_CFA && rule.link.at == -8);
        else if (is)
            assert_true(rule.cfa.at == 0 && rule.link.from == RULE_SAME);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_as_libdw_has_them),
        cmocka_unit_test(code_is_where_its_segment_says),
        cmocka_unit_test(a_linkage_table_leaves_the_link_in_its_register),
        cmocka_unit_test(numbers_and_letters_have_a_length),
        cmocka_unit_test(code_has_a_caller_again),
        cmocka_unit_test(what_is_cut_off_is_not_read),
        cmocka_unit_test(bytes_that_are_changed_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
