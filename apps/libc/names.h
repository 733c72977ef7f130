/*
 * Names of functions for the linker. A program may use every name that C and POSIX do not keep for
 * themselves, and standard C leaves it POSIX's, too. So this library's own functions have reserved
 * names there, and POSIX's, but those of threads, give way to the program's; the library itself
 * calls neither by such a name.
 */
#pragma once

/* Behind the declaration of a function of Vigil's own: what it is called in an object file. */
#define VIGIL(name) __asm__("__vigil_" #name)

/* Before the definition of a function of POSIX, by whose name a program may have one of its own. */
#define POSIX __attribute__((weak))
/* Behind it: newlib's name for the same. */
#define ALSO_UNDERSCORED(name) \
    extern __typeof__(name) _##name __attribute__((alias(#name), copy(name)))
