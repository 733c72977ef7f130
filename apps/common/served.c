/* See served.h. */
#include "apps/common/served.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"

enum { WORDS_MAX = 64 };

const char *const served_roles[] = {"both", "server", "users", NULL};

void served_begin(struct served *s)
{
    s->served = (struct address){.local = !s->over, .port = (uint16_t)s->port};
}

static int start_users(const struct served *s, int argc, char **argv)
{
    static char role[] = "role=users";
    char *words[WORDS_MAX];
    int pid = -E2BIG;

    if (argc < WORDS_MAX) {
        memcpy(words, argv, (size_t)argc * sizeof *words);
        words[argc] = role;
        pid = application_start(words, argc + 1);
    }
    if (pid < 0) {
        fprintf(stderr, "%s: event=no_users: they cannot be started: %s\n", s->program,
                args_reason(pid));
        exit(1);
    }
    return pid;
}

int served_listen(struct served *s, unsigned backlog, int argc, char **argv)
{
    int listening = address_listen(&s->served, backlog);

    if (listening < 0) {
        fprintf(stderr, "%s: event=no_socket over=%s port=%u: the server cannot listen: %s\n",
                s->program, address_names[s->over], s->served.port, strerror(errno));
        exit(1);
    }
    if (s->role == ROLE_BOTH)
        s->users = start_users(s, argc, argv);
    return listening;
}

int served_end(const struct served *s, const char *broken)
{
    int status = s->users ? application_wait(s->users) : 0;

    return broken ? 1 : status;
}
