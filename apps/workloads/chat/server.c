/* The server: two threads for each connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/hpm.h"
#include "apps/workloads/chat/chat.h"

enum { AT_ONCE = 16 }; /* messages that are written by one call */

static void *write_to_user(void *argument)
{
    struct session *s = argument;
    struct store *store = s->room->store;
    struct message *m[AT_ONCE];
    char out[AT_ONCE * (sizeof(struct wire) + TEXT_MAX)];
    bool good = true;
    unsigned n;

    hpm_group((int)s->room->number);
    while ((n = session_take(s, m, AT_ONCE)) != 0) {
        uint32_t bytes = 0;
        for (unsigned i = 0; i < n; i++) {
            memcpy(out + bytes, &m[i]->wire, sizeof m[i]->wire);
            bytes += sizeof m[i]->wire;
            memcpy(out + bytes, m[i]->text, m[i]->wire.bytes);
            bytes += m[i]->wire.bytes;
            message_put(store, m[i]);
        }
        good = good && send_all(s->fd, out, bytes); /* a user that is gone hears nothing */
    }
    return NULL;
}

static void *read_from_user(void *argument)
{
    struct session *s = argument;
    struct wire wire = {.room = (uint16_t)s->room->number, .user = (uint16_t)s->user};
    char text[TEXT_MAX];

    hpm_group((int)s->room->number);
    room_join(s, &wire.order);
    if (send_all(s->fd, &wire, sizeof wire)) {
        pthread_create(&s->writing, NULL, write_to_user, s);
        while (receive_all(s->fd, &wire, sizeof wire) && wire.bytes <= TEXT_MAX &&
               receive_all(s->fd, text, wire.bytes) && text_sum(text, wire.bytes) == wire.sum)
            room_say(s, text, wire.bytes);
        room_leave(s);
        pthread_join(s->writing, NULL);
    } else {
        room_leave(s);
    }
    close(s->fd);
    return NULL;
}

/* Returns the session that a new connection's first words ask for, or NULL: there is none such. */
static struct session *session_of(const struct house *h, int fd)
{
    struct wire wire;

    if (!receive_all(fd, &wire, sizeof wire) || wire.room >= h->rooms || wire.user >= h->users ||
        wire.bytes)
        return NULL;
    struct session *s = &h->session[wire.room * h->users + wire.user];
    return s->fd ? NULL : s;
}

void server_run(struct house *h, const struct address *a, int listening)
{
    unsigned count = h->rooms * h->users, served = 0;

    while (served < count) {
        int fd = address_accept(a, listening);
        struct session *s = fd >= 0 ? session_of(h, fd) : NULL;
        if (!s) {
            fprintf(stderr, "chat: event=refused: a connection that is no user's\n");
            exit(1);
        }
        s->fd = fd;
        if (pthread_create(&s->reading, NULL, read_from_user, s)) {
            fprintf(stderr, "chat: event=no_thread: no thread for user %u of %u\n", served, count);
            exit(1);
        }
        served++;
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(h->session[i].reading, NULL);
    close(listening);
}
