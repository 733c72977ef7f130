/*
 * Linker names of the library's functions.
 *
 * Standard C and POSIX leave a program all names that they do not reserve, and standard C leaves it
 * POSIX's names as well. So the library's own functions have reserved names in object files, and
 * its POSIX functions, except those of threads, are weak: a program's function of the same name
 * replaces them. The library itself calls neither by such a name.
 */
#pragma once

/* Stands behind the declaration of one of Vigil's own functions: its name in an object file. */
#define VIGIL(name) __asm__("__vigil_" #name)

/* Stands before the definition of a POSIX function that a program may replace. */
#define POSIX __attribute__((weak))
/* Stands behind that definition: newlib's name for the same function. */
#define ALSO_UNDERSCORED(name) \
    extern __typeof__(name) _##name __attribute__((alias(#name), copy(name)))
