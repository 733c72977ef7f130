/*
 * What is typed on the console, before a program reads it: bytes of the serial port in a ring, from
 * which typed signals are taken at once, also those behind text that no program has read.
 *
 * The keyboard is looked at when a program reads or waits for input. Once a shell puts a job in
 * front, and from the start on a split console with a terminal, a thread does so every
 * KEYBOARD_LOOK_NS.
 *
 * On a split console (console.h) the other end says more than bytes, by CONSOLE_ESCAPE and a
 * letter: 'I': an interrupt for the group in front; 'W' and four bytes: rows and columns of the
 * window, the high byte first. A CONSOLE_ESCAPE that was typed is doubled.
 */
#pragma once
#include "kernel/lib/base.h"

#define KEYBOARD_LOOK_NS (10 * 1000 * 1000ull) /* between looks */

/* Who is told. All in thread context, no lock held. */
struct keyboard_user {
    /* Takes a byte that stands for a signal, and returns true; else returns false. */
    bool (*signal)(char c);
    void (*interrupt)(void);
    void (*window)(uint16_t rows, uint16_t columns);
};

/* Looks at the keyboard; if another thread does so, it returns at once. Thread context, no lock
 * held. */
void keyboard_look(const struct keyboard_user *user);
/* Has a thread look at the keyboard from now on. Thread context, no lock held. */
void keyboard_watch(const struct keyboard_user *user);
int keyboard_next(void);    /* takes the next byte; -1: none. Any context. */
void keyboard_forget(void); /* forgets what was not taken. Any context. */
