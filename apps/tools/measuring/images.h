/* Names of what is at addresses of processes that run files of the file system, by these files'
 * symbols and their DWARF's lines: programs of Linux and their libraries. One thread at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct images_found {
    const char *name; /* NULL: unknown; stays as it is */
    uint64_t offset;  /* into what has the name */
    const char *file; /* NULL: unknown; as it is until the next question */
    uint32_t line;    /* of file, from 1; 0: unknown */
};
/* Finds the function or variable at an address, and its line. The files that a process has mapped
 * are read from /proc/PID/maps when an address is in none that is known, at most every IMAGES_EVERY
 * such questions; they stay known after its end. Returns whether anything is known. */
enum { IMAGES_EVERY = 64 };
bool images_find(uint32_t pid, uint64_t address, struct images_found *out);
/* Reads a file beforehand, as far as it can be read: a short program may else end meanwhile. */
void images_read(const char *path);
/* Reads which files a process has mapped now, as images_find() does. */
void images_read_maps(uint32_t pid);
/* Prints a line for each mapping of a file's code that was seen: CODE pid first-byte bytes
 * offset-in-the-file build-id path; build-id is - if it has none. */
void images_print_code(void);
