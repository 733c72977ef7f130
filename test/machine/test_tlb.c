/* The TLB: which entries each flush removes and keeps, and long random runs against a list of
 * entries with times of use. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "test/machine/tlb.h"

static struct tlb tlb_of(uint32_t sets, uint32_t ways)
{
    struct tlb t;
    assert_int_equal(tlb_init(&t, (struct geometry){sets, ways}), 0);
    return t;
}

static void assert_frame(struct tlb *t, vaddr_t va, uint16_t space, paddr_t pa)
{
    const struct tlb_entry *e = tlb_lookup(t, va, space);
    assert_non_null(e);
    assert_int_equal(tlb_frame(e), pa);
}

static void it_misses_once_per_page_up_to_its_size_and_always_beyond(void **state)
{
    (void)state;
    struct tlb t = tlb_of(8, 16);
    for (unsigned pages = 128; pages <= 136; pages += 8) {
        unsigned misses = 0;
        tlb_flush_all(&t);
        for (unsigned i = 0; i < 10 * pages; i++) {
            vaddr_t va = (i % pages) * PAGE_SIZE;
            if (tlb_lookup(&t, va + i, 1))
                continue;
            misses++;
            tlb_insert(&t, va, 1, false, va, false);
        }
        /* One page more than each set holds, walked in order: LRU never hits. */
        assert_int_equal(misses, pages == 128 ? pages : 10 * pages);
    }
    tlb_free(&t);
}

static void address_spaces_do_not_see_each_other_but_see_global_pages(void **state)
{
    (void)state;
    struct tlb t = tlb_of(2, 4);
    tlb_insert(&t, 0x1000, 1, false, 0xa000, false);
    assert_null(tlb_lookup(&t, 0x1fff, 2));
    tlb_insert(&t, 0x1000, 2, false, 0xb000, true);
    tlb_insert(&t, 0xffffffff80001000, 1, true, 0xc000, false);
    assert_frame(&t, 0x1abc, 1, 0xa000);
    assert_frame(&t, 0x1abc, 2, 0xb000);
    assert_true(tlb_is_io(tlb_lookup(&t, 0x1000, 2)));
    assert_false(tlb_is_io(tlb_lookup(&t, 0x1000, 1)));
    assert_frame(&t, 0xffffffff80001000, 65535, 0xc000);
    assert_null(tlb_check(&t));
    tlb_free(&t);
}

static void the_two_halves_of_the_address_space_are_apart(void **state)
{
    (void)state;
    struct tlb t = tlb_of(1, 8);
    static const vaddr_t pages[] = {0x1000, 0xffff800000001000, 0xffffffff80001000,
                                    0x00ff000000001000};
    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++)
        tlb_insert(&t, pages[i], 0, false, (i + 1) * PAGE_SIZE, false);
    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++)
        assert_frame(&t, pages[i], 0, (i + 1) * PAGE_SIZE);
    tlb_free(&t);
}

/* Returns a TLB with two pages in two spaces and a global one. */
static struct tlb filled(void)
{
    struct tlb t = tlb_of(4, 4);
    tlb_insert(&t, 0x1000, 1, false, 0x11000, false);
    tlb_insert(&t, 0x1000, 2, false, 0x12000, false);
    tlb_insert(&t, 0x2000, 1, false, 0x21000, false);
    tlb_insert(&t, 0x2000, 2, false, 0x22000, false);
    tlb_insert(&t, 0x5000, 1, true, 0x50000, false);
    return t;
}

/* Returns which of the five entries are there, as bits in the order above. */
static unsigned present(struct tlb *t)
{
    assert_null(tlb_check(t));
    static const struct {
        vaddr_t va;
        uint16_t space;
    } asked[] = {{0x1000, 1}, {0x1000, 2}, {0x2000, 1}, {0x2000, 2}, {0x5000, 9}};
    unsigned found = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(asked); i++)
        found |= (unsigned)(tlb_lookup(t, asked[i].va, asked[i].space) != NULL) << i;
    return found;
}

static void each_flush_takes_what_it_says(void **state)
{
    (void)state;
    struct tlb t = filled();
    assert_int_equal(present(&t), 0x1f);
    tlb_flush_all(&t);
    assert_int_equal(present(&t), 0);
    tlb_free(&t);

    t = filled();
    tlb_flush_nonglobal(&t);
    assert_int_equal(present(&t), 0x10);
    tlb_free(&t);

    t = filled();
    tlb_flush_space(&t, 2);
    assert_int_equal(present(&t), 0x15);
    tlb_free(&t);

    t = filled();
    tlb_flush_page(&t, 0x2fff, 1);
    assert_int_equal(present(&t), 0x1b);
    tlb_flush_page(&t, 0x5000, 3);
    assert_int_equal(present(&t), 0x0b);
    tlb_free(&t);

    t = filled();
    tlb_flush_page_all(&t, 0x1000);
    assert_int_equal(present(&t), 0x1c);
    tlb_flush_page_all(&t, 0x5000);
    assert_int_equal(present(&t), 0x0c);
    tlb_free(&t);
}

static void a_page_mapped_anew_replaces_its_old_translation(void **state)
{
    (void)state;
    struct tlb t = tlb_of(1, 4);
    tlb_insert(&t, 0x1000, 1, false, 0xa000, false);
    tlb_insert(&t, 0x1000, 1, true, 0xb000, false);
    assert_frame(&t, 0x1000, 1, 0xb000);
    tlb_insert(&t, 0x1000, 1, false, 0xc000, false);
    assert_frame(&t, 0x1000, 1, 0xc000);
    assert_null(tlb_lookup(&t, 0x1000, 2));
    tlb_free(&t);
}

struct listed {
    bool used, global;
    uint64_t page, frame, when;
    unsigned space;
};
#define LISTED 64

static struct listed *list_find(struct listed *list, uint64_t page, unsigned space)
{
    for (unsigned i = 0; i < LISTED; i++)
        if (list[i].used && list[i].page == page && (list[i].global || list[i].space == space))
            return &list[i];
    return NULL;
}

static void list_enter(struct listed *list, struct listed e, unsigned sets, unsigned ways)
{
    struct listed *oldest = NULL, *room = NULL;
    unsigned members = 0;
    for (unsigned i = 0; i < LISTED; i++) {
        struct listed *l = &list[i];
        if (l->used && l->page % sets == e.page % sets) {
            members++;
            oldest = !oldest || l->when < oldest->when ? l : oldest;
        }
        room = l->used ? room : l;
    }
    *(members == ways ? oldest : room) = e;
}

static void list_flush(struct listed *list, unsigned kind, uint64_t page, unsigned space)
{
    for (unsigned i = 0; i < LISTED; i++) {
        struct listed *l = &list[i];
        bool of_space = !l->global && l->space == space;
        bool gone[] = {true, !l->global, of_space, l->page == page && (l->global || of_space),
                       l->page == page};
        if (gone[kind])
            l->used = false;
    }
}

static void flush(struct tlb *t, unsigned kind, vaddr_t va, uint16_t space)
{
    switch (kind) {
    case 0:
        return tlb_flush_all(t);
    case 1:
        return tlb_flush_nonglobal(t);
    case 2:
        return tlb_flush_space(t, space);
    case 3:
        return tlb_flush_page(t, va, space);
    default:
        return tlb_flush_page_all(t, va);
    }
}

static void random_use_agrees_with_a_list(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    unsigned hits = 0, misses = 0;
    struct listed list[LISTED] = {0};
    struct tlb t = tlb_of(4, 6);

    for (unsigned step = 1; step < 300000; step++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint64_t page = x % 48;
        uint16_t space = x >> 8 & 3;
        vaddr_t va = page * PAGE_SIZE + (x >> 16) % PAGE_SIZE;
        if (x >> 32 & 31) {
            struct listed *want = list_find(list, page, space);
            const struct tlb_entry *got = tlb_lookup(&t, va, space);
            assert_true(!want == !got);
            if (want) {
                assert_int_equal(tlb_frame(got), want->frame);
                want->when = step;
                hits++;
            } else {
                /* A page is global in all spaces or in none, as real TLBs demand. */
                struct listed e = {true, page % 5 == 0, page, step * PAGE_SIZE, step, space};
                list_enter(list, e, 4, 6);
                tlb_insert(&t, va, space, e.global, e.frame, false);
                misses++;
            }
        } else {
            unsigned kind = x >> 40 & 31 ? 2 + (x >> 45) % 3 : x >> 45 & 1;
            flush(&t, kind, va, space);
            list_flush(list, kind, page, space);
        }
        assert_null(tlb_check(&t));
    }
    assert_true(hits > 50000 && misses > 50000);
    tlb_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_misses_once_per_page_up_to_its_size_and_always_beyond),
        cmocka_unit_test(address_spaces_do_not_see_each_other_but_see_global_pages),
        cmocka_unit_test(the_two_halves_of_the_address_space_are_apart),
        cmocka_unit_test(each_flush_takes_what_it_says),
        cmocka_unit_test(a_page_mapped_anew_replaces_its_old_translation),
        cmocka_unit_test(random_use_agrees_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
