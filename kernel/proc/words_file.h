/* Commands whose words are in a file, as a boot loader takes few: "@/PATH" instead of them. */
#pragma once
#include "kernel/lib/base.h"

/* Returns the words of a command, a list ended by NULL: argv itself or, if its only word is
 * "@/PATH", those of that file, each with a NUL behind it; words_file_free() takes the list back.
 * Returns NULL with a line on the console if the file is not there, was written by a program, has
 * no word, or does not end with a NUL; or without memory. Thread context, no lock held. */
const char *const *words_file_take(const char *const *argv);
/* Frees what words_file_take(argv) returned; NULL: nothing. */
void words_file_free(const char *const *words, const char *const *argv);
