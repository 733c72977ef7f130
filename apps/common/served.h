/*
 * A program that is a server and its users: two processes, of which the server starts the users
 * with its own arguments, or one of the two, the other being started elsewhere.
 */
#pragma once
#include "apps/common/args.h"
#include "apps/common/connection.h"

enum role { ROLE_BOTH, ROLE_SERVER, ROLE_USERS };

struct served {
    const char *program;
    unsigned role;         /* enum role */
    unsigned over;         /* index into address_names */
    uint64_t port;         /* where the server listens */
    struct address served; /* set by served_begin() */
    int users;             /* their process, 0: not started here */
};

/* The arguments of all such programs, for the end of a table. */
#define SERVED_ARGS(s)                                                                     \
    {"over", ARGS_CHOICE, &(s).over, 0, 0, address_names, "connections: TCP, or AF_UNIX"}, \
        {"port", ARGS_NUMBER, &(s).port, 1, UINT16_MAX, NULL, "where the server listens"}, \
    {                                                                                      \
        "role", ARGS_CHOICE, &(s).role, 0, 0, served_roles,                                \
            "which part this is; both: the users are a process of their own"               \
    }
extern const char *const served_roles[];

/* Sets the address by the arguments, which have been read. */
void served_begin(struct served *s);
/* Of the server: listens for `backlog` users, and starts these if they are its to start. Returns
 * the socket. Ends the program with a message if either fails. */
int served_listen(struct served *s, unsigned backlog, int argc, char **argv);
/* Of the server: waits for the users' process to end. `broken`: the law that does not hold, NULL:
 * all do. Returns the exit status. */
int served_end(const struct served *s, const char *broken);
