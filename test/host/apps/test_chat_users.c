/* The chat's users and its server, by connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/workloads/chat/users.h"

/* More than a connection and a session's queue hold. */
enum { SAYS = 3000, PATIENCE_S = 60 };

static struct house house;
static struct address at = {.local = true};
static int listening;

void hpm_group(int group)
{
    (void)group;
}

static void *serve(void *argument)
{
    server_run(argument, &at, listening);
    return NULL;
}

static void *part(void *argument)
{
    user_part(argument);
    return NULL;
}

/* It may part long before the others of its room, as where some wait long for a CPU. */
static void a_user_that_parts_holds_up_no_other(void **state)
{
    static struct user early = {.number = 0}, late = {.number = 1};
    pthread_t serving, parting;

    (void)state;
    at.port = (uint16_t)getpid();
    house_init(&house, 1, 2, LAYOUT_ROOM);
    listening = address_listen(&at, 2);
    assert_true(listening >= 0);
    pthread_create(&serving, NULL, serve, &house);
    user_join(&early, &at);
    user_join(&late, &at);
    pthread_create(&parting, NULL, part, &early);
    for (unsigned i = 0; i < SAYS; i++)
        user_speak(&late, i);
    user_part(&late);
    pthread_join(parting, NULL);
    pthread_join(serving, NULL);
    assert_null(early.broken);
    assert_null(late.broken);
    assert_int_equal(late.heard, SAYS);
    assert_null(house_check(&house));
    house_free(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_that_parts_holds_up_no_other),
    };

    alarm(PATIENCE_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
