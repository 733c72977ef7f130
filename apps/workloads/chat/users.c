/* The users: a thread each, which says something, and hears what is said until it has heard that.
 * It checks that all of the room's messages come, in order, as they were said. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "apps/workloads/chat/users.h"

/* Receives a message. Returns false at the end, or after a broken law. */
static bool hear(struct user *u, struct wire *wire)
{
    char text[TEXT_MAX];

    if (u->broken || !receive_all(u->fd, wire, sizeof *wire))
        return false;
    if (wire->bytes > TEXT_MAX || !receive_all(u->fd, text, wire->bytes))
        u->broken = "length";
    else if (wire->room != u->room)
        u->broken = "room";
    else if (wire->order != ++u->order)
        u->broken = "order";
    else if (text_sum(text, wire->bytes) != wire->sum)
        u->broken = "sum";
    u->heard += !u->broken;
    return !u->broken;
}

void user_join(struct user *u, const struct address *a)
{
    struct wire wire = {.room = (uint16_t)u->room, .user = (uint16_t)u->number};

    u->fd = address_connect(a);
    if (u->fd < 0 || !send_all(u->fd, &wire, sizeof wire) ||
        !receive_all(u->fd, &wire, sizeof wire)) {
        fprintf(stderr, "chat: event=no_server: user %u of room %u cannot join: %s\n", u->number,
                u->room, strerror(errno));
        exit(1);
    }
    u->order = wire.order;
}

void user_speak(struct user *u, uint64_t random)
{
    struct {
        struct wire wire;
        char text[TEXT_MAX];
    } out = {.wire = {.order = ++u->said, .user = (uint16_t)u->number}};
    struct wire heard;

    out.wire.bytes = text_make(random, out.text);
    out.wire.sum = text_sum(out.text, out.wire.bytes);
    if (!send_all(u->fd, &out, (uint32_t)(sizeof out.wire + out.wire.bytes)) && !u->broken)
        u->broken = "connection";
    do {
        if (!hear(u, &heard)) {
            if (!u->broken)
                u->broken = "connection";
            return;
        }
    } while (heard.user != u->number);
    if (heard.sum != out.wire.sum)
        u->broken = "echo";
}

void user_part(struct user *u)
{
    struct wire wire;

    shutdown(u->fd, SHUT_WR);
    while (hear(u, &wire))
        ;
    close(u->fd);
}
