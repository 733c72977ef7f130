/* The chat's rooms, without connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "apps/workloads/chat/chat.h"

enum { ROOMS = 3, USERS = 5, SAYS = 400 };

static struct house house;

/* What a user hears: orders without a gap, texts as they were said. */
static void *hear(void *argument)
{
    struct session *s = argument;
    struct message *m[7];
    uint32_t order = 0;
    unsigned n;

    while ((n = session_take(s, m, 1 + s->user)) != 0)
        for (unsigned i = 0; i < n; i++) {
            if (m[i]->wire.order != ++order || m[i]->wire.room != s->room->number ||
                text_sum(m[i]->text, m[i]->wire.bytes) != m[i]->wire.sum)
                abort();
            message_put(s->room->store, m[i]);
        }
    return NULL;
}

static void *speak(void *argument)
{
    struct session *s = argument;
    char text[TEXT_MAX];

    for (unsigned i = 0; i < SAYS; i++)
        room_say(s, text, text_make(s->user * SAYS + i, text));
    return NULL;
}

static void each(void *(*run)(void *), pthread_t *threads)
{
    for (unsigned i = 0; i < ROOMS * USERS; i++)
        pthread_create(&threads[i], NULL, run, &house.session[i]);
}

static void wait_all(pthread_t *threads)
{
    for (unsigned i = 0; i < ROOMS * USERS; i++)
        pthread_join(threads[i], NULL);
}

static void members_hear_all_of_their_room_in_one_order(void **state)
{
    (void)state;
    for (unsigned layout = LAYOUT_ROOM; layout <= LAYOUT_MIXED; layout++) {
        pthread_t speaking[ROOMS * USERS], hearing[ROOMS * USERS];
        uint32_t order;
        house_init(&house, ROOMS, USERS, (enum layout)layout);
        for (unsigned i = 0; i < ROOMS * USERS; i++)
            room_join(&house.session[i], &order);
        each(hear, hearing);
        each(speak, speaking);
        wait_all(speaking);
        for (unsigned i = 0; i < ROOMS * USERS; i++)
            room_leave(&house.session[i]);
        wait_all(hearing);
        assert_null(house_check(&house));
        assert_int_equal(house.room[1]->order, USERS * SAYS);
        assert_int_equal(house.room[1]->delivered, USERS * USERS * SAYS);
        house_free(&house);
    }
}

static void what_was_said_before_a_member_joined_is_not_heard(void **state)
{
    uint32_t order;

    (void)state;
    house_init(&house, 1, 2, LAYOUT_ROOM);
    room_join(&house.session[0], &order);
    assert_int_equal(order, 0);
    room_say(&house.session[0], "ka ", 3);
    room_join(&house.session[1], &order);
    assert_int_equal(order, 1);
    room_say(&house.session[0], "lo ", 3);
    assert_int_equal(house.session[0].waiting, 2);
    assert_int_equal(house.session[1].waiting, 1);
    assert_int_equal(house.session[1].queue[0]->wire.order, 2);
    assert_string_equal(house_check(&house), "queue");
    house_free(&house);
}

/* Each layout has its own sharing. */
static void rooms_share_nothing_or_their_words(void **state)
{
    (void)state;
    house_init(&house, 2, 2, LAYOUT_ROOM);
    assert_ptr_not_equal(house.room[0]->dictionary, house.room[1]->dictionary);
    assert_ptr_not_equal(house.room[0]->store, house.room[1]->store);
    house_free(&house);
    house_init(&house, 2, 2, LAYOUT_MIXED);
    assert_ptr_equal(house.room[0]->dictionary, house.room[1]->dictionary);
    assert_int_equal(house.session[2].tally - house.session[0].tally, 1);
    house_free(&house);
}

static void words_are_counted_by_their_first_letters(void **state)
{
    struct dictionary *d = calloc(1, sizeof *d);
    static const char text[] = " ka lo  ka kalominepurax kalominepuray ";
    unsigned same = 0;

    (void)state;
    dictionary_init(d);
    assert_int_equal(dictionary_count(d, text, sizeof text - 1), 5);
    for (unsigned i = 0; i < WORDS; i++)
        same += d->word[i].count == 2;
    assert_int_equal(same, 2);
    free(d);
}

static void texts_fit_and_differ(void **state)
{
    char text[TEXT_MAX + 1], other[TEXT_MAX];

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        text[TEXT_MAX] = '!';
        unsigned n = text_make(i, text);
        assert_in_range(n, 12, TEXT_MAX);
        assert_int_equal(text[TEXT_MAX], '!');
        assert_int_equal(text_make(i, other), n);
        assert_memory_equal(text, other, n);
    }
}

static void a_broken_law_is_named(void **state)
{
    uint32_t order;

    (void)state;
    house_init(&house, 1, 1, LAYOUT_ROOM);
    assert_null(house_check(&house));
    room_join(&house.session[0], &order);
    assert_string_equal(house_check(&house), "members");
    house.room[0]->delivered++;
    assert_string_equal(house_check(&house), "heard");
    house.room[0]->order++;
    assert_string_equal(house_check(&house), "said");
    house_free(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_hear_all_of_their_room_in_one_order),
        cmocka_unit_test(what_was_said_before_a_member_joined_is_not_heard),
        cmocka_unit_test(rooms_share_nothing_or_their_words),
        cmocka_unit_test(words_are_counted_by_their_first_letters),
        cmocka_unit_test(texts_fit_and_differ),
        cmocka_unit_test(a_broken_law_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
