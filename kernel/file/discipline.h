/*
 * The line discipline of a terminal: what becomes of bytes that are typed and of text that programs
 * write, as settings say (termios(3)). Bytes typed wait until a program reads them: with ICANON
 * those of whole lines. Text, and the echo of what is typed, waits for the other end, which shows
 * it.
 *
 * Pure: the caller provides memory and serializes. What settings other than those of a serial line
 * ask for is done, but PARMRK, IMAXBEL and the delays.
 */
#pragma once
#include "kernel/lib/base.h"
#include <asm/termbits.h>

#define DISCIPLINE_ROOM 16384 /* bytes of each ring, a power of two */
#define DISCIPLINE_LINE 4096  /* bytes of a line, with its end, that can be typed */

struct discipline_ring {
    char bytes[DISCIPLINE_ROOM];
    unsigned put, taken; /* bytes so far */
};

struct discipline {
    struct termios settings;
    bool plain;                   /* text is shown as it is: the other end ends lines */
    bool stopped;                 /* no text is taken: TCOOFF, or the character VSTOP was typed */
    bool literal;                 /* the next byte typed is one of the line: VLNEXT */
    bool begun;                   /* a part of a line was read */
    unsigned line, lines;         /* where in `typed` the line that is typed begins; lines there */
    unsigned column, line_column; /* of the next character shown; of that line's first */
    struct discipline_ring typed, shown;
    uint64_t ends[DISCIPLINE_ROOM / 64]; /* bit i: byte i of `typed` ends a line */
};

/* Sets what a new terminal has; the structure is zero. */
void discipline_init(struct discipline *d);
/* Changes the settings. */
void discipline_set(struct discipline *d, const struct termios *settings);

/* ---- Typing ---------------------------------------------------------------------------------- */
/* Takes a byte typed, and shows its echo. Returns the signal that it stands for, or 0. Bytes for
 * which there is no room are dropped, and echoes, too. */
int discipline_type(struct discipline *d, char c);
/* Returns the signal that a byte stands for, or 0. */
int discipline_signal(const struct discipline *d, char c);
/* Returns whether a byte can be typed without being dropped for want of room; one of a line that
 * is too long is dropped all the same. */
bool discipline_has_room(const struct discipline *d);

/* ---- Reading --------------------------------------------------------------------------------- */
/* Takes up to n bytes of what was typed; with ICANON of one line. Returns the number, 0 at the end
 * of file that was typed (VEOF), or -EAGAIN: there is nothing. */
int64_t discipline_read(struct discipline *d, char *to, size_t n);
/* Returns the number of bytes that can be read. An end of file is none. */
unsigned discipline_bytes(const struct discipline *d);
/* Returns whether discipline_read() returns anything; without ICANON `least` bytes. */
bool discipline_readable(const struct discipline *d, unsigned least);
void discipline_forget(struct discipline *d);    /* forgets what was typed */
void discipline_drop_line(struct discipline *d); /* forgets the rest of a line that was begun */

/* ---- Text ------------------------------------------------------------------------------------ */
/* Takes text that a program writes. Returns the number of bytes taken: fewer than n for want of
 * room, or while it is stopped. */
size_t discipline_write(struct discipline *d, const char *from, size_t n);
bool discipline_takes_text(const struct discipline *d); /* whether that is at least one */
void discipline_ask(struct discipline *d, char c);      /* a byte for the other end, as it is */
/* Takes up to n bytes to be shown. Returns the number. */
size_t discipline_show(struct discipline *d, char *to, size_t n);
unsigned discipline_shown(const struct discipline *d); /* the number of bytes to be shown */
