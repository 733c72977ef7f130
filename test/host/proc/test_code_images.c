/* Copies of what files say of their frames (kernel/proc/code_images.h): which of them processes
 * get, how long they stay, and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <elf.h>
#include "kernel/proc/internal.h"
#include "mm/object.h"
#include "test/host/double/fs_kernel.h"

#define FILES     64
#define CODE_AT   0x400000u /* of file 0; the next ones follow, one in 1 MB */
#define DESCRIBED 0x1000u

/* A file, in place of an object. */
struct described {
    uint64_t bytes; /* of its description */
    unsigned refs, reads;
} files[FILES];
static unsigned mapped;                                      /* files of every process */
static struct process process[3];                            /* pids 1, 2, ... */
static unsigned processes;                                   /* that are entered */
static void (*at_read)(void), (*at_look)(uint32_t, vaddr_t); /* what others do meanwhile */

/* ---- The kernel ------------------------------------------------------------------------------ */

struct object *object_get(struct object *o)
{
    ((struct described *)o)->refs++;
    return o;
}

void object_put(struct object *o)
{
    if (o)
        ((struct described *)o)->refs--;
}

static void write_head(const struct described *f, uint8_t *to)
{
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                    .e_machine = EM_X86_64,
                    .e_phoff = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 3};
    Elf64_Phdr p[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x1000, .p_memsz = 0x1000},
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = DESCRIBED, .p_filesz = f->bytes},
        {.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = DESCRIBED, .p_vaddr = DESCRIBED}};

    memcpy(to, &h, sizeof h);
    memcpy(to + sizeof h, p, sizeof p);
}

int64_t object_read(struct object *o, uint64_t at, void *to, size_t n)
{
    static const uint8_t table[] = {1, 0x1b, 0x03, 0x3b};
    struct described *f = (struct described *)o;
    void (*meanwhile)(void) = at_read;

    memset(to, 0, n);
    if (!at) {
        write_head(f, to);
        return (int64_t)n;
    }
    f->reads++;
    at_read = NULL;
    if (meanwhile)
        meanwhile();
    memcpy(to, table, sizeof table);
    return (int64_t)n;
}

bool space_next_region(UNUSED struct space *s, vaddr_t from, struct region_stats *out)
{
    unsigned i = from < CODE_AT ? 0 : (unsigned)((from - CODE_AT) / MIB + (from % MIB >= 0x1000));

    *out = (struct region_stats){
        .start = CODE_AT + i * MIB, .end = CODE_AT + i * MIB + 0x1000, .prot = PROT_R | PROT_X};
    return i < mapped;
}

struct object *space_object_of(UNUSED struct space *s, vaddr_t va)
{
    return object_get((struct object *)&files[(va - CODE_AT) / MIB]);
}

struct process *process_look(uint32_t pid)
{
    return pid <= processes ? &process[pid - 1] : NULL;
}

void process_look_end(struct process *p)
{
    void (*meanwhile)(uint32_t, vaddr_t) = at_look;

    at_look = NULL;
    if (meanwhile)
        meanwhile(p->pid, 0);
}

struct process *process_after(uint32_t pid)
{
    return pid < processes ? &process[pid] : NULL;
}

void process_put(UNUSED struct process *p)
{
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void begin(unsigned n, unsigned n_files, uint64_t bytes)
{
    memset(process, 0, sizeof process);
    memset(files, 0, sizeof files);
    for (unsigned i = 0; i < FILES; i++)
        files[i].bytes = bytes;
    for (uint32_t i = 0; i < ARRAY_SIZE(process); i++) {
        process[i].pid = i + 1;
        process[i].space = (struct space *)&process[i];
    }
    processes = n;
    mapped = n_files;
}

/* Nothing is left when chains are wanted no more and all have ended. */
static void end(void)
{
    code_images_let();
    for (unsigned i = 0; i < processes; i++)
        code_images_end(&process[i]);
    assert_int_equal(fs_allocated, 0);
    for (unsigned i = 0; i < FILES; i++)
        assert_int_equal(files[i].refs, 0);
}

static bool finds(const struct process *p, unsigned file)
{
    const struct chain_image *i = chain_image_at(&p->code.list, CODE_AT + file * MIB + 0x10);

    return i && i->bias == CODE_AT + file * MIB;
}

static void a_description_is_read_once_for_all(void **state)
{
    (void)state;
    begin(3, 2, 100);
    code_images_begin(&process[0]);
    assert_int_equal(files[0].reads, 0); /* not wanted */
    code_images_want();
    for (unsigned i = 0; i < 3; i++)
        assert_true(finds(&process[i], 0) && finds(&process[i], 1));
    assert_int_equal(files[0].reads, 1);
    assert_int_equal(files[1].reads, 1);
    mapped = 3;
    code_images_mapped(&process[1], CODE_AT + 2 * MIB);
    code_images_mapped(&process[1], CODE_AT + 2 * MIB);
    assert_int_equal(process[1].code.list.count, 3);
    assert_false(finds(&process[0], 2));
    end();
}

static void a_description_may_be_larger_than_a_block_of_frames(void **state)
{
    (void)state;
    begin(1, 1, 6 * MIB);
    code_images_want();
    assert_true(finds(&process[0], 0));
    assert_int_equal(process[0].code.list.image[0].frames->size, 6 * MIB);
    end();
}

static void no_more_than_32_mb_are_kept(void **state)
{
    (void)state;
    begin(1, 5, 8 * MIB);
    code_images_want();
    assert_int_equal(process[0].code.list.count, 4);
    assert_false(finds(&process[0], 4));
    /* What no process has makes room, and only as much as is needed. */
    processes = 0;
    code_images_end(&process[0]);
    processes = 2;
    mapped = 0;
    code_images_begin(&process[1]);
    mapped = 5;
    code_images_mapped(&process[1], CODE_AT + 4 * MIB);
    assert_true(finds(&process[1], 4));
    assert_int_equal(files[0].refs + files[1].refs + files[2].refs + files[3].refs, 3);
    end();
}

static void a_process_has_at_most_48(void **state)
{
    (void)state;
    begin(1, 50, 100);
    code_images_want();
    assert_int_equal(process[0].code.list.count, CHAIN_IMAGES_MAX);
    assert_true(finds(&process[0], 47) && !finds(&process[0], 48));
    end();
}

static void a_child_has_its_parents(void **state)
{
    (void)state;
    begin(1, 3, 100);
    code_images_want();
    processes = 2;
    code_images_copy(&process[1], &process[0]);
    assert_int_equal(process[1].code.list.count, 3);
    assert_int_equal(process[1].code.list.version, process[0].code.list.version);
    code_images_end(&process[0]); /* and keeps them */
    assert_true(finds(&process[1], 0) && finds(&process[1], 2));
    assert_int_equal(files[0].reads, 1);
    mapped = 4;
    code_images_mapped(&process[1], CODE_AT + 3 * MIB);
    assert_true(finds(&process[1], 3));
    end();
}

/* Chains are wanted while a process forks: its child is found before it has its parent's. */
static void a_child_may_have_been_found_before(void **state)
{
    (void)state;
    begin(2, 3, 100);
    code_images_want();
    code_images_copy(&process[1], &process[0]);
    assert_int_equal(process[1].code.list.count, 3);
    end();
}

static void map_the_same_and_end(void)
{
    unsigned was = mapped;

    mapped = 5;
    code_images_mapped(&process[1], CODE_AT + 4 * MIB);
    mapped = was;
    code_images_end(&process[1]);
}

/* Another process enters the file's copy while this one makes its own, and ends; it is not dropped
 * for want of room then. */
static void a_copy_that_is_taken_is_not_dropped(void **state)
{
    (void)state;
    begin(1, 3, 8 * MIB);
    code_images_want();
    processes = 2;
    mapped = 5;
    at_read = map_the_same_and_end;
    code_images_mapped(&process[0], CODE_AT + 4 * MIB);
    assert_null(at_read);
    assert_int_equal(files[4].reads, 2);
    assert_true(finds(&process[0], 4));
    assert_int_equal(process[0].code.list.image[3].frames->size, 8 * MIB);
    end();
}

static void begin_another_program(uint32_t pid, UNUSED vaddr_t unused)
{
    unsigned was = mapped;

    mapped = 0;
    code_images_begin(&process[pid - 1]);
    mapped = was;
}

/* A process begins with another program while its code before is being read. */
static void what_a_program_had_is_not_the_next_ones(void **state)
{
    (void)state;
    begin(1, 1, 100);
    at_look = begin_another_program;
    code_images_want();
    assert_null(at_look);
    assert_int_equal(process[0].code.list.count, 0);
    end();
}

static void without_memory_chains_are_cut(void **state)
{
    (void)state;
    begin(1, 2, 100);
    for (unsigned n = 0; n < 4; n++) {
        fs_allocations_left = n;
        code_images_want();
        fs_allocations_left = UINT64_MAX;
        assert_int_equal(process[0].code.list.count, n == 3);
        code_images_end(&process[0]);
        code_images_let();
    }
    code_images_want();
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_description_is_read_once_for_all),
        cmocka_unit_test(a_description_may_be_larger_than_a_block_of_frames),
        cmocka_unit_test(no_more_than_32_mb_are_kept),
        cmocka_unit_test(a_process_has_at_most_48),
        cmocka_unit_test(a_child_has_its_parents),
        cmocka_unit_test(a_child_may_have_been_found_before),
        cmocka_unit_test(a_copy_that_is_taken_is_not_dropped),
        cmocka_unit_test(what_a_program_had_is_not_the_next_ones),
        cmocka_unit_test(without_memory_chains_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
