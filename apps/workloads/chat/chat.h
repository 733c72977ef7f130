/*
 * A chat server and its users, after VolanoMark as [Azimi 2007, 3.4.2] ran it: rooms, users in
 * each, a connection a user and two threads a connection, of which one reads what the user says and
 * one writes what is said in the user's room.
 *
 * What is said goes to all of its room, the speaker included, in one order. Before that the server
 * counts its words in a dictionary, and it keeps it in the room's history. layout=room: a
 * dictionary and a store of messages for each room, so that only threads of one room share data.
 * layout=mixed: one of each for all rooms, and the users' counts side by side, so that all threads
 * share some.
 *
 * Locks, taken in this order, each letter naming the lock that guards a member; (-) is constant
 * while threads run:
 *   room       (r) order, history, members
 *   session    (s) what waits to be written
 *   store      (m) free messages
 *   dictionary (d) a stripe of it, alone
 */
#pragma once
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/connection.h"

enum {
    ROOMS_MAX = 16,
    USERS_MAX = 32, /* of a room */
    TEXT_MAX = 240, /* bytes of what is said at once */
    HISTORY = 64,   /* messages that a room keeps */
    QUEUE = 64,     /* messages that wait to be written to a user */
    WORD_MAX = 12,  /* bytes that count of a word */
    WORDS = 1024,   /* of a dictionary: a power of two */
    STRIPES = 16,   /* locks of a dictionary */
};

enum layout { LAYOUT_ROOM, LAYOUT_MIXED };

/* What goes over a connection, in the machine's byte order, before `bytes` of text. A user joins by
 * a first one without text, and gets it back with the room's order so far. */
struct wire {
    uint32_t order; /* of the room, from 1; from a user: its own count */
    uint32_t sum;   /* text_sum() */
    uint16_t room, user;
    uint32_t bytes;
};

struct message {
    alignas(ARENA_LINE) struct message *next; /* (m) */
    atomic_uint readers; /* sessions that have yet to write it, and the history */
    struct wire wire;    /* (-) once said */
    char text[TEXT_MAX];
};

/* Free messages. */
struct store {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    struct message *free; /* (m) */
    struct arena arena;   /* (m) */
    uint64_t made;        /* (m) messages in all */
};

struct dictionary {
    struct stripe {
        alignas(ARENA_LINE) pthread_mutex_t lock;
        uint64_t counted, lost; /* (d) words; those that found the dictionary full */
    } stripe[STRIPES];
    struct word {
        char text[WORD_MAX];
        uint32_t count; /* (d) 0: free */
    } word[WORDS];
};

/* What a user has said and heard. */
struct tally {
    uint64_t said;  /* by the session's reading thread */
    uint64_t heard; /* by its writing thread */
};

struct room;

/* A connection. */
struct session {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    struct message *queue[QUEUE]; /* (s) a ring */
    unsigned first, waiting;      /* (s) */
    bool left;                    /* (s) nothing more comes */
    struct room *room;            /* (-) */
    struct tally *tally;          /* (-) */
    unsigned user;                /* (-) */
    int fd;                       /* (-) */
    pthread_t reading, writing;
};

struct room {
    alignas(ARENA_LINE) pthread_mutex_t lock;
    unsigned number;                   /* (-) */
    struct session *member[USERS_MAX]; /* (r) */
    unsigned members;                  /* (r) */
    uint32_t order;                    /* (r) messages so far */
    uint64_t delivered;                /* (r) messages times their hearers */
    struct message *history[HISTORY];  /* (r) the newest */
    struct dictionary *dictionary;     /* (-) */
    struct store *store;               /* (-) */
};

/* Rooms, and what they share. */
struct house {
    struct room *room[ROOMS_MAX];
    struct session *session; /* array */
    unsigned rooms, users;
    struct arena arena;
};

/* ---- text.c ---------------------------------------------------------------------------------- */
uint32_t text_sum(const char *text, unsigned bytes);
/* Makes a text of words, which follow from `random`, with room for TEXT_MAX. Returns its bytes. */
unsigned text_make(uint64_t random, char *to);
void dictionary_init(struct dictionary *d);
/* Counts the words of a text. Returns how many these are. */
unsigned dictionary_count(struct dictionary *d, const char *text, unsigned bytes);

/* ---- room.c ---------------------------------------------------------------------------------- */
void house_init(struct house *h, unsigned rooms, unsigned users, enum layout layout);
void house_free(struct house *h);
/* Returns NULL, or the name of the first broken law. All sessions have ended. */
const char *house_check(const struct house *h);
/* Adds a session to its room, whose order so far is stored. */
void room_join(struct session *s, uint32_t *order);
void room_leave(struct session *s);
/* Says a text in the session's room: it waits to be written to all members, if need be until one of
 * them has space for it. */
void room_say(struct session *s, const char *text, unsigned bytes);
/* Waits for messages to write, and takes up to `max`. Returns their number; 0: the session has left
 * its room, and all is written. */
unsigned session_take(struct session *s, struct message **out, unsigned max);
/* Gives a message back that is written. */
void message_put(struct store *store, struct message *m);

/* ---- server.c -------------------------------------------------------------------------------- */
/* Serves users until all of the house's have come and gone. */
void server_run(struct house *h, const struct address *a, int listening);
