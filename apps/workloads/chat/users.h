/* A user of the chat, which is one thread's. */
#pragma once
#include "apps/workloads/chat/chat.h"

struct user {
    alignas(ARENA_LINE) unsigned room;
    unsigned number; /* in the room */
    int fd;
    uint32_t order; /* of the last message heard */
    uint32_t said;
    uint64_t heard;
    const char *broken; /* the first law that does not hold, one word; NULL: none */
};

/* Connects and joins the room. Ends the program with a message if that fails. */
void user_join(struct user *u, const struct address *a);
/* Says a text that follows from `random`, and returns when it has been heard. */
void user_speak(struct user *u, uint64_t random);
/* Says nothing more, and hears the rest: a user that stayed without hearing would hold up its room
 * once its connection is full. */
void user_part(struct user *u);
