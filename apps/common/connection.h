/*
 * Connections of a server and its users on one machine: TCP at 127.0.0.1, or AF_UNIX. Numbers go
 * over them in the machine's byte order.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Where a server listens. */
struct address {
    bool local;    /* AF_UNIX, at a name that is in no folder */
    uint16_t port; /* of TCP; part of that name */
};

/* Names of the two, the local one first. */
extern const char *const address_names[];

/* Makes a socket where users connect. Returns it, or -1 with errno. */
int address_listen(const struct address *a, unsigned backlog);
/* Waits for a connection. Returns it, or -1 with errno. */
int address_accept(const struct address *a, int listening);
/* Connects. Returns a descriptor, or -1 with errno. */
int address_connect(const struct address *a);

/* Send and receive all of n bytes. Return false at the end of the connection, or if it fails. */
bool send_all(int fd, const void *from, uint32_t n);
bool receive_all(int fd, void *to, uint32_t n);
