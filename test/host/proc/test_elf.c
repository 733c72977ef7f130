/* A good program is planned as its headers say. A program with any one thing wrong is refused, by
 * name. */
#include "test/host/double/expect_panic.h"
#include <elf.h>
#include "kernel/proc/elf.h"

#define CODE_VA 0x400000
#define DATA_VA 0x402010

static struct program {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    uint8_t contents[8192];
} program;
static uint64_t size, readable; /* readable: bytes of it that can be read */
static struct elf_plan plan;
static const char *why;
static struct elf_limits limits = {EM_X86_64, 0x10000, 0x100000000000, GIB, false};

static int good_program(void **state)
{
    (void)state;
    memset(&program, 0, sizeof(program));
    size = readable = sizeof(program);
    program.header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_entry = CODE_VA + 0x100,
        .e_phoff = offsetof(struct program, segments),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 3,
    };
    program.segments[0] =
        (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, CODE_VA, 0, 0x1800, 0x1800, PAGE_SIZE};
    program.segments[1] =
        (Elf64_Phdr){PT_LOAD, PF_R | PF_W, 0x1010, DATA_VA, 0, 0x100, 0x5000, PAGE_SIZE};
    program.segments[2] = (Elf64_Phdr){.p_type = PT_NOTE};
    return 0;
}

static bool read_bytes(const void *of, uint64_t at, void *to, size_t n)
{
    assert_true(at <= size && n <= size - at);
    if (at + n > readable)
        return false;
    memcpy(to, (const uint8_t *)of + at, n);
    return true;
}

static int check(void)
{
    return elf_plan(&(struct elf_file){.size = size, .read_bytes = read_bytes, .of = &program},
                    &limits, &plan, &why);
}

static void a_good_program_is_planned_as_its_headers_say(void **state)
{
    (void)state;
    assert_int_equal(check(), 0);
    assert_int_equal(plan.entry, CODE_VA + 0x100);
    assert_int_equal(plan.count, 2);
    assert_int_equal(plan.segments[1].va, DATA_VA);
    assert_int_equal(plan.segments[1].file_offset, 0x1010);
    assert_int_equal(plan.segments[1].file_size, 0x100);
    assert_int_equal(plan.segments[1].memory_size, 0x5000);
    assert_int_equal(plan.segments[1].flags, ELF_R | ELF_W);
}

#define REFUSED(change, words)               \
    do {                                     \
        good_program(NULL);                  \
        change;                              \
        assert_int_equal(check(), -ENOEXEC); \
        assert_string_equal(why, words);     \
    } while (0)

static void each_wrong_header_field_is_refused_by_name(void **state)
{
    (void)state;
    Elf64_Ehdr *h = &program.header;
    REFUSED(size = 63, "shorter than an ELF header");
    REFUSED(size = 0, "shorter than an ELF header");
    REFUSED(h->e_ident[1] = 'e', "not an ELF file");
    REFUSED(h->e_ident[EI_CLASS] = ELFCLASS32, "not a 64-bit ELF file");
    REFUSED(h->e_ident[EI_DATA] = ELFDATA2MSB, "not little-endian");
    REFUSED(h->e_ident[EI_VERSION] = 2, "unknown ELF version");
    REFUSED(h->e_version = 0, "unknown ELF version");
    REFUSED(h->e_machine = EM_AARCH64, "for another machine");
    REFUSED(h->e_type = ET_REL, "not an executable");
    REFUSED(h->e_ehsize = 52, "ELF header of a wrong size");
    REFUSED(h->e_phentsize = 32, "program headers of a wrong size");
    REFUSED(h->e_phnum = 0, "no program headers");
    REFUSED(h->e_phnum = 65535, "too many program headers");
    REFUSED(h->e_phoff = size - 8, "program headers beyond the end of the file");
    REFUSED(h->e_phoff = UINT64_MAX - 8, "program headers beyond the end of the file");
    REFUSED(h->e_entry = DATA_VA, "entry point outside the code");
    REFUSED(h->e_entry = CODE_VA + 0x1800, "entry point outside the code");
    REFUSED(h->e_entry = 0, "entry point outside the code");
}

static void each_wrong_segment_is_refused_by_name(void **state)
{
    (void)state;
    Elf64_Phdr *data = &program.segments[1];
    REFUSED(data->p_offset = UINT64_MAX - 0xfef, "segment beyond the end of the file");
    REFUSED(data->p_offset = size - 0x10, "segment beyond the end of the file");
    REFUSED(data->p_filesz = UINT64_MAX, "segment beyond the end of the file");
    REFUSED(data->p_memsz = 0xff, "segment larger in the file than in memory");
    REFUSED(data->p_memsz = GIB + 1, "segment too large");
    REFUSED(data->p_vaddr = 0x1010, "segment outside user space");
    REFUSED(data->p_vaddr = 0xffffffff80001010, "segment outside user space");
    REFUSED(data->p_vaddr = 0x100000000000 - 0xff0, "segment outside user space");
    REFUSED(data->p_flags = PF_R | PF_W | PF_X, "segment both writable and executable");
    REFUSED(data->p_flags = 0, "segment without any access");
    REFUSED(data->p_flags = PF_R | 0x100000, "segment with unknown flags");
    REFUSED(data->p_align = 3, "segment badly aligned");
    REFUSED(data->p_vaddr += 8, "segment badly aligned");
    REFUSED(data->p_vaddr = CODE_VA + 0x1010, "segments overlap or are out of order");
    REFUSED(data->p_vaddr = CODE_VA - 0x10000 + 0x10, "segments overlap or are out of order");
    REFUSED(program.segments[0].p_type = data->p_type = PT_NULL, "nothing to load");
}

static void two_segments_may_share_a_page(void **state)
{
    (void)state;
    program.segments[0].p_filesz = program.segments[0].p_memsz = 0x1000;
    program.segments[1].p_offset = 0x1000;
    program.segments[1].p_vaddr = CODE_VA + 0x1000;
    assert_int_equal(check(), 0);
    program.segments[1].p_offset = 0x1f00;
    program.segments[1].p_vaddr = CODE_VA + 0x1f00;
    program.segments[0].p_filesz = program.segments[0].p_memsz = 0x1e00;
    assert_int_equal(check(), 0);
    assert_int_equal(plan.low, CODE_VA);
    assert_int_equal(plan.end, CODE_VA + 0x1f00 + 0x5000);
}

static void a_program_that_can_be_moved_has_offsets(void **state)
{
    (void)state;
    program.header.e_type = ET_DYN;
    program.header.e_entry = 0x100;
    program.segments[0].p_vaddr = 0;
    program.segments[0].p_align = 0x10000;
    program.segments[1].p_vaddr = 0x12010;
    program.segments[1].p_offset = 0x1010;
    assert_int_equal(check(), 0);
    assert_true(plan.relative);
    assert_int_equal(plan.alignment, 0x10000);
    assert_int_equal(plan.end, 0x12010 + 0x5000);
    assert_int_equal(plan.headers, offsetof(struct program, segments));
    assert_int_equal(plan.header_count, 3);
    program.segments[1].p_vaddr = GIB + 0x10;
    assert_int_equal(check(), -ENOEXEC);
}

static void an_interpreter_is_a_path_with_an_end(void **state)
{
    static const char path[] = "/lib/ld.so";

    (void)state;
    memcpy(program.contents, path, sizeof(path));
    program.segments[2] = (Elf64_Phdr){.p_type = PT_INTERP,
                                       .p_offset = offsetof(struct program, contents),
                                       .p_filesz = sizeof(path)};
    assert_int_equal(check(), 0);
    assert_string_equal(plan.interpreter, path);
    program.segments[2].p_filesz--;
    assert_int_equal(check(), -ENOEXEC);
    program.segments[2].p_filesz = 1;
    assert_int_equal(check(), -ENOEXEC);
    program.segments[2].p_filesz = sizeof(path) + 1;
    assert_int_equal(check(), -ENOEXEC);
    program.segments[2].p_offset = size - 4;
    assert_int_equal(check(), -ENOEXEC);
}

static void writable_code_is_a_choice(void **state)
{
    (void)state;
    limits.writes_code = true;
    program.segments[1].p_flags = PF_R | PF_W | PF_X;
    assert_int_equal(check(), 0);
    limits.writes_code = false;
}

static void a_program_that_cannot_be_read_is_not_called_broken(void **state)
{
    (void)state;
    assert_int_equal(check(), 0);
    for (readable = 0; readable < offsetof(struct program, segments[3]); readable += 8)
        assert_int_equal(check(), -EIO);
    assert_int_equal(check(), 0);
}

static void more_segments_than_a_plan_holds_are_refused(void **state)
{
    (void)state;
    Elf64_Phdr *table = (Elf64_Phdr *)program.contents;
    for (unsigned i = 0; i <= ELF_SEGMENTS_MAX; i++)
        table[i] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0,      CODE_VA + i * 0x10000,
                                0,       0x1000,      0x1000, PAGE_SIZE};
    program.header.e_phoff = offsetof(struct program, contents);
    program.header.e_phnum = ELF_SEGMENTS_MAX;
    assert_int_equal(check(), 0);
    program.header.e_phnum = ELF_SEGMENTS_MAX + 1;
    assert_int_equal(check(), -ENOEXEC);
    assert_string_equal(why, "too many segments");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_good_program_is_planned_as_its_headers_say, good_program),
        cmocka_unit_test(each_wrong_header_field_is_refused_by_name),
        cmocka_unit_test(each_wrong_segment_is_refused_by_name),
        cmocka_unit_test_setup(two_segments_may_share_a_page, good_program),
        cmocka_unit_test_setup(a_program_that_can_be_moved_has_offsets, good_program),
        cmocka_unit_test_setup(an_interpreter_is_a_path_with_an_end, good_program),
        cmocka_unit_test_setup(writable_code_is_a_choice, good_program),
        cmocka_unit_test_setup(a_program_that_cannot_be_read_is_not_called_broken, good_program),
        cmocka_unit_test_setup(more_segments_than_a_plan_holds_are_refused, good_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
