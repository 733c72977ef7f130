/* Where mappings come to lie, what they replace, how they grow, move and are counted; each test in
 * a space of its own, with enough memory or with little. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/in_child.h"
#include "test/host/double/mm_double.h"
#include "test/host/double/path_double.h"
#include "mm/pool/args.h"
#include "mm/space.h"
#include "mm/track/track.h"

#define TIB (1024 * GIB)

static struct space *space;
static void (*now)(void);

static void live(void *arg)
{
    (void)arg;
    now();
    space_check(space);
    thread_leave_space();
    space_destroy(space);
}

/* Runs `now` in a thread and a space of its own; from == 1: with little memory. */
static void play(uint64_t from)
{
    path_double_boot();
    swap_wanted = from ? SWAP_RAM : SWAP_NONE;
    mem_process = from ? MIB : MEMORY_UNLIMITED;
    mm_argument("mem.tracker", 5);
    mm_double_boot(from + 1);
    track_init(false);
    paging_start();
    INSIST(!space_create(NULL, NULL, &space));
    space_set_pid(space, 1);
    unsigned heap = mm_heap_used;
    fiber_start(live, NULL, space_number(space));
    fibers_run();
    INSIST(!mm_frames_used && mm_heap_used <= heap);
}

static void run(void (*test)(void))
{
    now = test;
    assert_int_equal(in_child(play, 0, 60), 0);
    assert_int_equal(in_child(play, 1, 60), 0);
}

static vaddr_t at(unsigned page)
{
    return MM_BASE + page * PAGE_SIZE;
}

/* Maps n pages. Returns the address, or an error. */
static int64_t map(vaddr_t va, uint64_t n, unsigned prot, unsigned flags)
{
    struct mapping m = {.va = va, .len = n * PAGE_SIZE, .prot = prot, .flags = flags, .name = "x"};
    vaddr_t out;
    int err = space_mmap(space, &m, &out);

    return err ? err : (int64_t)out;
}

static void store(void *frame, void *word)
{
    memcpy(frame, word, sizeof(uint64_t));
}

static void load(void *frame, void *word)
{
    memcpy(word, frame, sizeof(uint64_t));
}

static int put(vaddr_t va, uint64_t word)
{
    return mm_access(space, va, FAULT_WRITE, store, &word);
}

static uint64_t get(vaddr_t va)
{
    uint64_t word = 0;

    INSIST(!mm_access(space, va, FAULT_READ, load, &word));
    return word;
}

#define RW (PROT_R | PROT_W)

/* ---- Places ---------------------------------------------------------------------------------- */

static void choose_places(void)
{
    int64_t a = map(0, 4, RW, 0), b = map(0, 2, RW, 0), c = map(0, 1, RW, MAPPING_APART);

    INSIST(a == (int64_t)(MMAP_TOP - 4 * PAGE_SIZE) && b == a - 2 * (int64_t)PAGE_SIZE);
    INSIST(c == b - 2 * (int64_t)PAGE_SIZE);
    INSIST(space->regions.count == 2); /* a and b are one */
    INSIST(map(at(10), 2, RW, 0) == (int64_t)at(10));
    int64_t elsewhere = map(at(11), 2, RW, 0); /* the hint is taken */
    INSIST(elsewhere == c - 2 * (int64_t)PAGE_SIZE);
    INSIST(map(at(11), 1, RW, MAPPING_NOREPLACE) == -EEXIST);
    INSIST(map(at(12), 1, RW, MAPPING_NOREPLACE) == (int64_t)at(12));
    INSIST(map(USER_MAX - PAGE_SIZE, 2, RW, MAPPING_FIXED) == -EINVAL);
    INSIST(map(USER_MAX - PAGE_SIZE, 2, RW, 0) > 0); /* a hint that does not fit */
    INSIST(map(0, 0, RW, 0) == -EINVAL && map(at(0) + 1, 1, RW, 0) == -EINVAL);
    struct mapping low = {.len = 5 * PAGE_SIZE, .prot = RW, .name = "x", .below = 0x80000000};
    vaddr_t out;
    INSIST(!space_mmap(space, &low, &out) && out == 0x80000000 - 5 * PAGE_SIZE);
}

static void replace_the_middle(void)
{
    INSIST(map(at(0), 8, RW, MAPPING_FIXED) == (int64_t)at(0));
    for (unsigned i = 0; i < 8; i++)
        INSIST(!put(at(i), 100 + i));
    INSIST(map(at(2), 3, PROT_R, MAPPING_FIXED) == (int64_t)at(2));
    INSIST(space->regions.count == 3 && space->mapped_pages == 8);
    for (unsigned i = 0; i < 8; i++)
        INSIST(get(at(i)) == (i >= 2 && i < 5 ? 0 : 100 + i));
    INSIST(put(at(3), 1) == -EFAULT);
    INSIST(map(at(2), 3, RW, MAPPING_FIXED) == (int64_t)at(2));
    INSIST(space->regions.count == 1);
    INSIST(!space_unmap(space, at(1), 6 * PAGE_SIZE));
    INSIST(space->mapped_pages == 2 && put(at(1), 1) == -EFAULT && get(at(7)) == 107);
}

static void reserve_terabytes(void)
{
    int64_t none = map(0, 8 * TIB >> PAGE_SHIFT, 0, 0);

    INSIST(none > 0 && space->mapped_pages == 0);
    INSIST(map(0, 128 * GIB >> PAGE_SHIFT, RW, 0) == -ENOMEM);
    INSIST(map(0, 128 * GIB >> PAGE_SHIFT, RW, MAPPING_UNCOUNTED) > 0);
    INSIST(space_protect(space, (vaddr_t)none, 65 * GIB, RW) == -ENOMEM);
    INSIST(!space_protect(space, (vaddr_t)none, GIB, RW));
    INSIST(space->mapped_pages == GIB >> PAGE_SHIFT);
    INSIST(!space_protect(space, (vaddr_t)none, GIB, 0));
    INSIST(space->mapped_pages == 0 && space->regions.count == 2);
    INSIST(!space_unmap(space, (vaddr_t)none, 8 * TIB));
}

static void map_as_many_as_may_be(void)
{
    vaddr_t cut = (vaddr_t)map(0, 3, RW, MAPPING_APART);
    vaddr_t whole = (vaddr_t)map(0, 3, RW, MAPPING_APART);
    int64_t last = 0, next;

    while ((next = map(0, 1, RW, MAPPING_APART)) > 0)
        last = next;
    INSIST(next == -ENOMEM && last && space->regions.count == REGIONS_MAX - 2);
    INSIST(!space_protect(space, cut + PAGE_SIZE, PAGE_SIZE, PROT_R));
    INSIST(space->regions.count == REGIONS_MAX);
    INSIST(space_protect(space, whole, PAGE_SIZE, PROT_R) == -ENOMEM);
    INSIST(space_unmap(space, whole + PAGE_SIZE, PAGE_SIZE) == -ENOMEM); /* one more */
    INSIST(!space_unmap(space, whole + PAGE_SIZE, 2 * PAGE_SIZE));
    INSIST(!space_advise(space, whole, PAGE_SIZE, ADVICE_DONTNEED));
    INSIST(!space_unmap(space, (vaddr_t)last, USER_MAX - (vaddr_t)last));
    INSIST(space->regions.count == 0 && space->mapped_pages == 0);
}

/* ---- Growing --------------------------------------------------------------------------------- */

static void move_the_break(void)
{
    vaddr_t start = at(5) + 24;

    INSIST(space_brk(space, 0) == 0); /* there is none */
    space_set_brk(space, start);
    INSIST(space_brk(space, 0) == start && space_brk(space, start - 1) == start);
    INSIST(space_brk(space, at(9) + 1) == at(9) + 1);
    INSIST(!put(at(6), 1) && !put(at(9), 2) && put(at(10), 1) == -EFAULT);
    INSIST(put(at(5), 1) == -EFAULT); /* the image's last page */
    INSIST(space_brk(space, at(30)) == at(30) && space->regions.count == 1);
    INSIST(get(at(9)) == 2);
    INSIST(space_brk(space, at(8)) == at(8) && put(at(9), 1) == -EFAULT);
    INSIST(space_brk(space, at(10)) == at(10) && get(at(9)) == 0 && get(at(6)) == 1);
    INSIST(map(at(12), 1, RW, MAPPING_FIXED) > 0);
    INSIST(space_brk(space, at(13)) == at(10)); /* taken */
    INSIST(space_brk(space, at(12)) == at(12));
    INSIST(space_brk(space, UINT64_MAX) == at(12));
}

static void grow_a_stack(void)
{
    const unsigned top = 4000, below = 100;

    INSIST(map(at(top - 4), 4, RW, MAPPING_FIXED | MAPPING_GROWS) > 0);
    INSIST(map(at(below - 1), 1, PROT_R, MAPPING_FIXED) > 0);
    INSIST(!put(at(top - 20), 7) && space->mapped_pages == 21);
    INSIST(!put(at(top - 2048), 7) && put(at(top - 2049), 7) == -EFAULT);
    INSIST(space->mapped_pages == 2049 && get(at(top - 20)) == 7);
    INSIST(space_unmap(space, at(top - 2048), 2044 * PAGE_SIZE) == 0);
    /* a gap of 256 pages stays below it */
    INSIST(map(at(top - 600), 1, PROT_R, MAPPING_FIXED) > 0);
    INSIST(!put(at(top - 600 + 257), 7) && put(at(top - 600 + 256), 7) == -EFAULT);
    INSIST(map(at(top - 600 + 100), 1, RW, 0) != (int64_t)at(top - 600 + 100));
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void map_a_file(void)
{
    static uint64_t file[3 * PAGE_SIZE / 8];
    struct mapping m = {.va = at(1),
                        .len = 5 * PAGE_SIZE,
                        .prot = RW,
                        .flags = MAPPING_FIXED,
                        .kind = REGION_FILE,
                        .name = "file",
                        .source = page_source_memory(file, 2 * PAGE_SIZE + 8),
                        .source_page = 1};
    vaddr_t out;

    for (unsigned i = 0; i < ARRAY_SIZE(file); i++)
        file[i] = i + 1;
    INSIST(!space_mmap(space, &m, &out));
    INSIST(get(at(1)) == PAGE_SIZE / 8 + 1 && get(at(2)) == 2 * PAGE_SIZE / 8 + 1);
    INSIST(put(at(3), 1) == -ENXIO && put(at(5), 1) == -ENXIO && put(at(6), 1) == -EFAULT);
    INSIST(!put(at(1), 5) && get(at(1)) == 5 && file[PAGE_SIZE / 8] == PAGE_SIZE / 8 + 1);
    INSIST(!space_advise(space, at(1), 2 * PAGE_SIZE, ADVICE_DONTNEED));
    INSIST(get(at(1)) == PAGE_SIZE / 8 + 1); /* the file's again */
    INSIST(!space_protect(space, at(2), PAGE_SIZE, PROT_R));
    INSIST(get(at(2)) == 2 * PAGE_SIZE / 8 + 1 && put(at(2), 1) == -EFAULT);
}

/* ---- Rights ---------------------------------------------------------------------------------- */

static void ask_for_writable_code(void)
{
    INSIST(map(0, 1, RW | PROT_X, 0) == -EACCES);
    space_set_bundled(space, false);
    INSIST(map(at(0), 1, RW | PROT_X, MAPPING_FIXED) > 0 && !put(at(0), 3));
    space_set_bundled(space, true);
    INSIST(space_protect(space, at(0), PAGE_SIZE, PROT_W | PROT_X) == -EACCES);
    INSIST(map(0, 1, PROT_USER, 0) == -EINVAL);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

static int64_t remap(vaddr_t va, unsigned old, unsigned n, unsigned flags, vaddr_t to)
{
    vaddr_t out;
    int err = space_remap(space, va, old * PAGE_SIZE, n * PAGE_SIZE, flags, to, &out);

    return err ? err : (int64_t)out;
}

static void move_and_resize(void)
{
    INSIST(map(at(0), 4, RW, MAPPING_FIXED) > 0);
    for (unsigned i = 0; i < 4; i++)
        INSIST(!put(at(i), 10 + i));
    INSIST(remap(at(0), 4, 6, 0, 0) == (int64_t)at(0) && !put(at(5), 15));
    INSIST(remap(at(0), 6, 5, 0, 0) == (int64_t)at(0) && put(at(5), 15) == -EFAULT);
    INSIST(remap(at(0), 6, 7, 0, 0) == -EFAULT); /* not all mapped */
    INSIST(map(at(5), 1, PROT_R, MAPPING_FIXED) > 0);
    INSIST(remap(at(0), 5, 9, 0, 0) == -ENOMEM); /* in the way */
    int64_t moved = remap(at(0), 5, 9, REMAP_MAYMOVE, 0);
    INSIST(moved > 0 && put(at(0), 1) == -EFAULT);
    for (unsigned i = 0; i < 4; i++)
        INSIST(get((vaddr_t)moved + i * PAGE_SIZE) == 10 + i);
    INSIST(!put((vaddr_t)moved + 8 * PAGE_SIZE, 18) && space->mapped_pages == 10);
    /* in place of what is there, a part only */
    INSIST(remap((vaddr_t)moved + PAGE_SIZE, 2, 2, REMAP_MAYMOVE | REMAP_FIXED, at(5)) ==
           (int64_t)at(5));
    INSIST(get(at(5)) == 11 && get(at(6)) == 12 && put((vaddr_t)moved + PAGE_SIZE, 1) == -EFAULT);
    INSIST(remap(at(5), 2, 2, REMAP_MAYMOVE | REMAP_FIXED, at(6)) == -EINVAL); /* they overlap */
    INSIST(remap(at(5), 2, 2, REMAP_FIXED, at(9)) == -EINVAL);
    INSIST(remap(at(5), 2, 0, 0, 0) == -EINVAL && remap(at(5), 0, 2, 0, 0) == -EINVAL);
    /* the old mapping stays, empty */
    int64_t twin = remap(at(5), 2, 2, REMAP_MAYMOVE | REMAP_DONTUNMAP, 0);
    INSIST(twin > 0 && get((vaddr_t)twin) == 11 && get(at(5)) == 0);
    /* as one that shrinks when it moves */
    INSIST(remap((vaddr_t)twin, 2, 1, REMAP_MAYMOVE | REMAP_FIXED, at(20)) == (int64_t)at(20));
    INSIST(get(at(20)) == 11 && put(at(21), 1) == -EFAULT &&
           put((vaddr_t)twin + PAGE_SIZE, 1) == -EFAULT);
}

/* ---- Locking, what is there ------------------------------------------------------------------ */

static void lock_and_look(void)
{
    uint8_t is[8];

    INSIST(map(at(0), 400, RW, MAPPING_FIXED) > 0);
    INSIST(!space_lock(space, at(1), 2 * PAGE_SIZE, true) && space->locked_pages == 2);
    INSIST(!put(at(1), 1) && !put(at(2), 2));
    INSIST(!space_lock(space, at(0), 4 * PAGE_SIZE, true) && space->locked_pages == 4);
    for (unsigned i = 4; i < 400; i++) /* with a pool, more than fits */
        INSIST(!put(at(i), i));
    INSIST(!space_resident(space, at(0), 4 * PAGE_SIZE, is));
    INSIST(!is[0] && is[1] && is[2] && !is[3]);
    INSIST(space_advise(space, at(0), PAGE_SIZE, ADVICE_DONTNEED) == -EINVAL);
    INSIST(space_resident(space, at(398), 4 * PAGE_SIZE, is) == -ENOMEM);
    INSIST(space_lock(space, at(399), 2 * PAGE_SIZE, true) == -ENOMEM); /* a hole */
    INSIST(map(at(1000), 3000, RW, MAPPING_FIXED) > 0);
    INSIST(space_lock(space, at(1000), 3000 * PAGE_SIZE, true) == -ENOMEM); /* too much */
    INSIST(!space_unmap(space, at(2), 998 * PAGE_SIZE) && space->locked_pages == 2);
    INSIST(!space_unlock_all(space) && space->locked_pages == 0);
    INSIST(space_lock_all(space, true, false) == -ENOMEM);
    INSIST(!space_unmap(space, at(1000), 3000 * PAGE_SIZE) && !space_lock_all(space, true, true));
    INSIST(space->locked_pages == 2 && map(at(50), 3, RW, MAPPING_FIXED) > 0);
    INSIST(space->locked_pages == 5 && map(at(1000), 3000, RW, MAPPING_FIXED) == -EAGAIN);
    INSIST(!space_populate(space, at(50), 3 * PAGE_SIZE, FAULT_WRITE));
    INSIST(!space_resident(space, at(50), 3 * PAGE_SIZE, is) && is[0] && is[1] && is[2]);
    INSIST(space_populate(space, at(50), 4 * PAGE_SIZE, FAULT_WRITE) == -EFAULT);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

#define RUNS(name, what)           \
    static void name(void **state) \
    {                              \
        (void)state;               \
        run(what);                 \
    }
RUNS(mappings_lie_high_and_hints_are_followed, choose_places)
RUNS(a_fixed_mapping_replaces_what_is_there, replace_the_middle)
RUNS(reservations_do_not_count, reserve_terabytes)
RUNS(there_are_as_many_regions_as_on_linux, map_as_many_as_may_be)
RUNS(the_break_moves_and_stops_at_mappings, move_the_break)
RUNS(a_stack_grows_by_faults_and_keeps_its_distance, grow_a_stack)
RUNS(a_file_is_copied_page_by_page_and_has_an_end, map_a_file)
RUNS(memory_is_writable_and_executable_by_choice, ask_for_writable_code)
RUNS(mappings_move_with_their_contents, move_and_resize)
RUNS(locked_pages_stay, lock_and_look)

int main(void)
{
    in_child_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_lie_high_and_hints_are_followed),
        cmocka_unit_test(a_fixed_mapping_replaces_what_is_there),
        cmocka_unit_test(reservations_do_not_count),
        cmocka_unit_test(there_are_as_many_regions_as_on_linux),
        cmocka_unit_test(the_break_moves_and_stops_at_mappings),
        cmocka_unit_test(a_stack_grows_by_faults_and_keeps_its_distance),
        cmocka_unit_test(a_file_is_copied_page_by_page_and_has_an_end),
        cmocka_unit_test(memory_is_writable_and_executable_by_choice),
        cmocka_unit_test(mappings_move_with_their_contents),
        cmocka_unit_test(locked_pages_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
